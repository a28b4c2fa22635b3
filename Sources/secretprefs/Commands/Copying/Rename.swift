internal import ArgumentParser

/// `secretprefs rename`.
struct Rename: WritingCommand {
  static let configuration = CommandConfiguration(
    commandName: "rename",
    abstract: "Renames a key.",
    usage: "secretprefs rename [<options>] <key> <new-key>",
    discussion: """
      \(CopyOptions.carried)

      EXAMPLE:
        secretprefs rename github github.deploy
      """)

  @OptionGroup var vault: VaultOptions
  @OptionGroup var unlock: UnlockOptions
  @OptionGroup var record: RecordOptions
  @OptionGroup var options: CopyOptions

  @Argument(help: ArgumentHelp("The key, and its new name.", valueName: "key"), completion: .keys)
  var keys: [String] = []

  func perform(_ messages: Messages) throws {
    guard keys.count == 2 else { throw Self.usageError("a key and its new name are required") }
    try CopyOperation(
      command: Self.self, isMove: true, key: keys[0], newKey: keys[1], takesReference: false, options: options
    ).perform(
      try unlock.complete(try vault.access()), record, isJSON: vault.json, messages)
  }
}
