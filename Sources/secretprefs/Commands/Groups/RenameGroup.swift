internal import ArgumentParser
internal import VaultCore

/// `secretprefs groups rename`.
struct RenameGroup: WritingCommand {
  static let configuration = CommandConfiguration(
    commandName: "rename",
    abstract: "Renames an access group.",
    usage: "secretprefs groups rename [<options>] <name> <new name>",
    discussion: """
      Its records, key and slots do not change.

      EXAMPLE:
        secretprefs groups rename billing accounting
      """)

  @OptionGroup var vault: VaultOptions
  @OptionGroup var unlock: UnlockOptions

  @Argument(help: ArgumentHelp("The current and the new name.", valueName: "name"), completion: .groups)
  var names: [String] = []

  func perform(_ messages: Messages) throws {
    guard names.count == 2 else { throw Self.usageError("exactly two names are required") }
    let access = try unlock.complete(try vault.access())
    let (old, new) = (try Vault.Name(names[0]), try Vault.Name(names[1]))
    let vault = try access.open(messages)
    try vault.renameGroup(try vault.grantedGroup(old.text), to: new.text)
    vault.recordChange(by: Self.self, messages)
    guard self.vault.json else { return }
    try Output.write(.object([("group", .string(new.text)), ("formerly", .string(old.text))]))
  }
}
