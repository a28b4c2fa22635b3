internal import ArgumentParser
internal import VaultCore

/// `secretprefs slots replace`.
struct ReplaceSlot: WritingCommand {
  static let configuration = CommandConfiguration(
    commandName: "replace",
    abstract: "Replaces the credential of an unlock slot.",
    usage: "secretprefs slots replace [<options>] <id>",
    discussion: """
      Prompts twice for a new passphrase, or writes a new raw key to a new file. The slot keeps its label and access, \
      and gets a new id, which is printed. Other slots and the keys of the vault do not change; the old credential no \
      longer opens the vault, but older copies of the file still do. If it leaked, remove the slot instead.

      A program that is running needs the new credential before its next start. To replace the key of a service that \
      must not fail meanwhile, add a second slot, let the service use it, and then remove the first.

      EXAMPLE:
        secretprefs slots replace 5f0c9a --new-key-file billing-2027.key
        secretprefs slots replace 5f0c9a --new-passphrase-fd 4 4< new.txt
      """)

  @OptionGroup var vault: VaultOptions
  @OptionGroup var unlock: UnlockOptions
  @OptionGroup var credential: NewCredentialOptions

  @Argument(help: ArgumentHelp("The slot's id, or a unique prefix of it.", valueName: "id"), completion: .slots)
  var ids: [String] = []

  func perform(_ messages: Messages) throws {
    let choice = try SlotChoice(try Self.sole(ids, "id"))
    let access = try unlock.complete(try vault.access()).withoutKeptKey
    try credential.check(besides: access)
    let vault = try access.open(messages)
    let old = try choice.find(in: try vault.slots())
    let id = try credential.store(label: old.label, access, messages) { (slot) throws(VaultError) in
      try vault.replaceSlot(old.id, with: slot)
    }
    vault.recordChange(by: Self.self, messages)
    guard self.vault.json else { return try Output.write("\(id)\n") }
    try Output.write(.object(credential.answer(id) + [("replaced", .string(old.id.description))]))
  }
}
