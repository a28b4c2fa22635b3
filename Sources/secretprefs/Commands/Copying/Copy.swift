internal import ArgumentParser

/// `secretprefs copy`.
struct Copy: WritingCommand {
  static let configuration = CommandConfiguration(
    commandName: "copy",
    abstract: "Copies a key, also to a different service or access group.",
    usage: "secretprefs copy [<options>] <key> [<new-key>]",
    discussion: """
      \(CopyOptions.carried) Without <new-key> the key keeps its name, and --to-service or --to-group is required; a \
      reference as <new-key> names all three.

      \(CopyOptions.groups)

      EXAMPLE:
        secretprefs copy github github.next
        secretprefs copy database --service shop --to-service billing
        secretprefs copy database --to-group ops
        secretprefs copy secret://shop/database 'secret://shop/database?group=ops'
      """)

  @OptionGroup var vault: VaultOptions
  @OptionGroup var unlock: UnlockOptions
  @OptionGroup var record: RecordOptions

  @Option(
    help: ArgumentHelp("The service of the copy. Default: that of the key.", valueName: "name"), completion: .services)
  var toService: String?

  @Option(
    help: ArgumentHelp("The access group of the copy. Default: that of the key.", valueName: "name"),
    completion: .groups)
  var toGroup: String?

  @OptionGroup var options: CopyOptions

  @Argument(help: ArgumentHelp("The key, and the name of the copy.", valueName: "key"), completion: .keys)
  var keys: [String] = []

  func perform(_ messages: Messages) throws {
    guard let key = keys.first, keys.count == 2 || keys.count == 1 && (toService ?? toGroup) != nil else {
      throw Self.usageError("a key and the name of its copy, or a key and --to-service or --to-group, are required")
    }
    try CopyOperation(
      command: Self.self, isMove: false, key: key, newKey: keys.count > 1 ? keys[1] : nil, newService: toService,
      newGroup: toGroup, options: options
    ).perform(try unlock.complete(try vault.access()), record, isJSON: vault.json, messages)
  }
}
