internal import ArgumentParser

/// `secretprefs exit-codes`.
struct ExitCodes: ToolCommand {
  static let configuration = CommandConfiguration(
    commandName: "exit-codes",
    abstract: "Lists the exit codes.",
    usage: "secretprefs exit-codes [--json]",
    discussion: ExitStatus.table + """


      EXAMPLE:
        secretprefs exit-codes --json
      """)

  @Flag(help: "Write JSON, including the error codes for each exit code.")
  var json = false

  func perform(_ messages: Messages) throws {
    guard json else { return try Output.write(ExitStatus.table + "\n") }
    try Output.write(
      .array(
        ExitStatus.allCases.map { status in
          .object([
            ("exit", .unsigned(UInt64(status.rawValue))), ("meaning", .string(status.meaning)),
            ("codes", .array(status.codes.map { .string($0) })),
          ])
        }))
  }
}
