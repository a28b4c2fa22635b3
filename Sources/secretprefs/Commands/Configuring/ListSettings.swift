internal import ArgumentParser
internal import VaultCore

/// `secretprefs config list`.
struct ListSettings: ToolCommand {
  static let configuration = CommandConfiguration(
    commandName: "list",
    abstract: "Lists all settings, and where each value comes from.",
    usage: "secretprefs config list [--json]",
    discussion: """
      One setting per line: its name, its value, and in parentheses the variable, or the file with the line, or \
      "default".

      EXAMPLE:
        secretprefs config list
        secretprefs config list --json
      """)

  @Flag(help: .json)
  var json = false

  func perform(_ messages: Messages) throws {
    let settings = try Configuration.effective()
    guard json else { return try Output.write(Table(rows: settings.map(\.row)).text) }
    let untrusted = try Configuration.current().untrusted
    try Output.write(
      .object(
        [("settings", .array(settings.map(\.json)))] + (untrusted.map { [("untrusted", .string($0))] } ?? [])))
  }
}
