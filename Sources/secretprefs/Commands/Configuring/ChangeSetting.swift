internal import ArgumentParser
internal import VaultCore

/// `secretprefs config set`.
struct ChangeSetting: WritingCommand {
  static let configuration = CommandConfiguration(
    commandName: "set",
    abstract: "Sets a value in the file of the user, or of the project.",
    usage: "secretprefs config set [--project] [--json] <name> <value>",
    discussion: """
      Creates the file if there is none. Other lines and comments stay. With --project the file is the one that is \
      found from the working directory, which must be trusted and stays so, or a new one there.

      EXAMPLE:
        secretprefs config set unlock.idle 10m
        secretprefs config set --project vault secrets/shop.spv
      """)

  @OptionGroup var place: ConfigurationTarget

  @Argument(
    help: ArgumentHelp("The name of the setting, and its value.", valueName: "name"), completion: .settingsAndValues)
  var words: [String] = []

  func perform(_ messages: Messages) throws {
    guard words.count == 2 else { throw Self.usageError("a name and a value are required") }
    let setting = try ToolSetting(named: words[0])
    if let objection = setting.objection(to: words[1], inProject: place.project) {
      throw ToolError.usage("\(setting.name) \(objection)")
    }
    let path = try place.change(setting, to: words[1])
    Output.recordChange(by: Self.self)
    guard place.json else { return }
    try Output.write(
      .object([
        ("name", .string(setting.name)), ("value", .string(withoutPasswords(words[1]))), ("file", .string(path)),
      ]))
  }
}
