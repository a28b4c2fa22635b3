internal import ArgumentParser

/// `secretprefs move`.
struct Move: WritingCommand {
  static let configuration = CommandConfiguration(
    commandName: "move",
    abstract: "Moves a key to a different service or access group.",
    usage: "secretprefs move [<options>] (--to-service <name> | --to-group <name>) <key> [<new-key>]",
    discussion: """
      \(CopyOptions.carried) Without <new-key> the key keeps its name; "secretprefs rename" renames it within its \
      service. A reference as <new-key> names all three.

      \(CopyOptions.groups) A move to another group makes the copy first, and removes the original when the copy is \
      durable. If it is interrupted in between, both exist; the same command then removes the original.

      EXAMPLE:
        secretprefs move database --service shop --to-service billing
        secretprefs move database --service shop --to-service billing shop.database
        secretprefs move database --group default --to-group ops
      """)

  @OptionGroup var vault: VaultOptions
  @OptionGroup var unlock: UnlockOptions
  @OptionGroup var record: RecordOptions

  @Option(help: ArgumentHelp("The new service.", valueName: "name"), completion: .services)
  var toService: String?

  @Option(
    help: ArgumentHelp("The access group to move the key to.", valueName: "name"), completion: .groups)
  var toGroup: String?

  @OptionGroup var options: CopyOptions

  @Argument(
    help: ArgumentHelp("The key, and its new name if that changes as well.", valueName: "key"), completion: .keys)
  var keys: [String] = []

  func perform(_ messages: Messages) throws {
    guard let key = keys.first, keys.count <= 2,
      (toService ?? toGroup) != nil || keys.count == 2 && SecretReference.isMeant(keys[1].utf8)
    else {
      throw Self.usageError("a key and --to-service or --to-group, or a reference as its new name, are required")
    }
    try CopyOperation(
      command: Self.self, isMove: true, key: key, newKey: keys.count > 1 ? keys[1] : nil, newService: toService,
      newGroup: toGroup, options: options
    ).perform(try unlock.complete(try vault.access()), record, isJSON: vault.json, messages)
  }
}
