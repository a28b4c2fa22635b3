internal import ArgumentParser

/// `secretprefs writing-commands`, for the fault sweeps of this package.
struct WritingCommands: ToolCommand {
  static let configuration = CommandConfiguration(
    commandName: "writing-commands",
    abstract: "Lists the commands that can change a file.",
    usage: "secretprefs writing-commands",
    discussion: """
      EXAMPLE:
        secretprefs writing-commands
      """,
    shouldDisplay: false)

  func perform(_ messages: Messages) throws {
    try Output.write(Self.list(of: Root.self).map { $0.dropFirst().joined(separator: " ") + "\n" }.joined())
  }

  private static func list(of command: any ParsableCommand.Type) -> [[String]] {
    let name = command.configuration.commandName ?? ""
    let own = command is any WritingCommand.Type ? [[name]] : []
    return own + command.configuration.subcommands.flatMap { list(of: $0) }.map { [name] + $0 }
  }
}
