internal import ArgumentParser
internal import Secrets
internal import VaultCore

/// `secretprefs settings`.
struct Settings: WritingCommand {
  static let configuration = CommandConfiguration(
    commandName: "settings",
    abstract: "Shows and changes the settings in a JSON file or property list.",
    usage: "secretprefs settings [<options>] <file>",
    discussion: """
      On a terminal, shows a screen: up and down select a setting, left and right or - and + change a number or a \
      choice, the space bar toggles a switch, Enter edits a value, r and then y reset it to its default, u restores \
      the value that was reset last, q or Escape leaves. Every change is stored at once, and changes by other programs \
      appear. Otherwise, or with --json, lists the settings.

      A change keeps every other byte of a JSON file or XML property list: comments, the order of names, null, and the \
      spellings of numbers. A JSON file with comments, which JSON does not have, is refused. Dates and URLs are \
      written as text in JSON, and as <date> and <string> in a property list.

      Without --descriptions, the settings are the values in the file. With --descriptions, a missing file is created \
      by the first change. Settings that are described as secret are stored in the vault that --vault names, never in \
      the file. Secrets are not shown.

      EXAMPLE:
        secretprefs settings shop.json
        secretprefs settings shop.json --descriptions shop-settings.json
        secretprefs settings shop.plist --json
      """)

  @Option(
    help: ArgumentHelp("A JSON file with the titles, types, bounds and defaults of the settings.", valueName: "file"),
    completion: .file())
  var descriptions: String?

  @Option(help: ArgumentHelp("The vault of the secrets among the settings.", valueName: "path"), completion: .file())
  var vault: String?

  @OptionGroup var storage: StorageOptions
  @OptionGroup var unlock: UnlockOptions
  @OptionGroup var record: RecordOptions

  @Flag(help: "List the settings as JSON, and write errors and warnings as JSON objects on standard error.")
  var json = false

  @Argument(help: ArgumentHelp("The settings file.", valueName: "file"), completion: .file())
  var files: [String] = []

  func perform(_ messages: Messages) throws {
    guard files.count < 2 else {
      throw ToolError.usage("exactly one file is required", hint: "\(Self.usage): \(Self.noCommands)")
    }
    let path = try Self.sole(files, "file")
    var secrets: SecretPreferences?
    if let vault {
      let access = try unlock.complete(try storage.access(vault))
      try access.checkOutput(path, as: Self.file, reading: [descriptions])
      let place = try record.place()
      let opened = try access.open(messages)
      let group = try place.group(in: opened)
      secrets = try SecretPreferences(service: place.service.text, accessGroup: group.name.text, in: opened)
    } else if storage.areGiven || unlock.areGiven || record.service != nil || record.group != nil {
      throw ToolError.usage("the options of a vault need --vault", hint: Self.usage)
    }
    let file = try SettingsFile(path, descriptions: descriptions, secrets: secrets)
    try OutputFile(path, as: Self.file).check(reading: [descriptions].compactMap(\.self), besides: [])
    if json { return try Output.write(SettingsListing.json(of: file.groups, unshown: file.unshown)) }
    if ScreenTerminal.isAvailable { return try SettingsSession.run(file) }
    try Output.write(SettingsListing.text(of: file.groups, unshown: file.unshown))
  }

  private static let file = "the settings file"
  private static let noCommands =
    "it lists the settings and, on a terminal, changes them; no command or name follows the file"
}
