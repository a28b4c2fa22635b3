internal import ArgumentParser
internal import Glibc

/// The tool: hardens the process, understands the arguments, runs one command, says how it ended.
@main
struct Main {
  // Nonisolated, so that nothing below belongs to the main actor and checks for it at run time.
  nonisolated static func main() {
    let status = run()
    // Everything that held a secret has been let go, and wiped, by now.
    PendingSignal.dieIfAny()
    exit(status.rawValue)
  }

  private nonisolated static func run() -> ExitStatus {
    let arguments = Arguments.read()
    let messages = Messages(isJSON: arguments.contains(option: "--json"))
    do {
      try ProcessHardening.apply()
      guard arguments.areText else { throw ToolError.usage("an argument is not valid UTF-8") }
      if let work = PlainCommand.understand(arguments) {
        try work.perform(messages)
      } else {
        try perform(arguments, messages)
      }
      return .success
    } catch { return messages.report(ToolError(thrown: error)) }
  }

  private nonisolated static func perform(_ arguments: Arguments, _ messages: Messages) throws {
    var understood: (any ToolCommand)?
    do {
      var command = try Root.parseAsRoot(arguments.words)
      understood = command as? any ToolCommand
      // What is neither a command nor the lack of one is help, which throws the text it is to print.
      if understood == nil, !(command is Root) { try command.run() }
    } catch {
      // The parser's own text repeats what it did not understand, and that may be a secret in the wrong place.
      guard arguments.askForText, Root.exitCode(for: error) == .success else {
        throw UsageRefusal.error(for: arguments)
      }
      return try Output.write(Root.fullMessage(for: error) + "\n")
    }
    guard let understood else { throw UsageRefusal.error(for: arguments) }
    try understood.perform(messages)
  }
}
