internal import ArgumentParser
internal import VaultCore

/// `secretprefs config unset`.
struct UnsetSetting: WritingCommand {
  static let configuration = CommandConfiguration(
    commandName: "unset",
    abstract: "Removes a setting from the file of the user, or of the project.",
    usage: "secretprefs config unset [--project] [--json] <name>",
    discussion: """
      Other lines and comments stay. The exit code is 1 if the file does not have the setting.

      EXAMPLE:
        secretprefs config unset unlock.idle
      """)

  @OptionGroup var place: ConfigurationTarget

  @Argument(help: ArgumentHelp("The name of the setting.", valueName: "name"), completion: .settings)
  var names: [String] = []

  func perform(_ messages: Messages) throws {
    let setting = try ToolSetting(named: try Self.sole(names, "name"))
    let path = try place.change(setting, to: nil)
    Output.recordChange(by: Self.self)
    guard place.json else { return }
    try Output.write(.object([("name", .string(setting.name)), ("file", .string(path))]))
  }
}
