internal import ArgumentParser

/// `secretprefs move`.
struct Move: WritingCommand {
  static let configuration = CommandConfiguration(
    commandName: "move",
    abstract: "Moves a key to a different service.",
    usage: "secretprefs move [<options>] --to-service <name> <key> [<new-key>]",
    discussion: """
      \(CopyOptions.carried) Without <new-key> the key keeps its name. It stays in its access group; "secretprefs \
      rename" renames it within its service.

      EXAMPLE:
        secretprefs move database --service shop --to-service billing
        secretprefs move database --service shop --to-service billing shop.database
      """)

  @OptionGroup var vault: VaultOptions
  @OptionGroup var unlock: UnlockOptions
  @OptionGroup var record: RecordOptions

  @Option(help: ArgumentHelp("The new service.", valueName: "name"), completion: .services)
  var toService: String?

  @OptionGroup var options: CopyOptions

  @Argument(
    help: ArgumentHelp("The key, and its new name if that changes as well.", valueName: "key"), completion: .keys)
  var keys: [String] = []

  func perform(_ messages: Messages) throws {
    guard let key = keys.first, keys.count <= 2, let toService else {
      throw Self.usageError("a key and --to-service are required")
    }
    try CopyRecord(
      command: Self.self, isMove: true, key: key, newKey: keys.count > 1 ? keys[1] : nil, newService: toService,
      options: options
    ).perform(try unlock.complete(try vault.access()), record, isJSON: vault.json, messages)
  }
}
