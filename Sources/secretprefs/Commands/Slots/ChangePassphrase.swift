internal import ArgumentParser
internal import VaultCore

/// `secretprefs passphrase`.
struct ChangePassphrase: ToolCommand {
  static let configuration = CommandConfiguration(
    commandName: "passphrase",
    abstract: "Changes a passphrase.",
    usage: "secretprefs passphrase [<options>]",
    discussion: """
      That of the slot that unlocks the vault, or of another slot. The new one is asked for twice on the \
      terminal. No key changes, and every other slot goes on; copies of the file from before still open with \
      the old passphrase. The slot keeps its label and what it opens, and gets a new id, which is the answer.

      EXAMPLE:
        secretprefs passphrase
        secretprefs passphrase --slot 5f0c9a --key-file ~/shop.key
        secretprefs passphrase --passphrase-fd 3 --new-passphrase-fd 4 3<old 4<new
      """)

  @OptionGroup var vault: VaultOptions
  @OptionGroup var unlock: UnlockOptions

  @Option(help: ArgumentHelp("The slot's id, or as many of its first digits as no other has.", valueName: "id"))
  var slot: String?

  @OptionGroup var passphrase: NewPassphraseOptions

  func perform(_ messages: Messages) throws {
    let choice = try slot.map { (text) throws(ToolError) in try SlotChoice(text) }
    let access = try unlock.complete(try vault.access())
    try passphrase.check(besides: access)
    let vault = try access.open(messages)
    let old = try chosen(choice, in: try vault.slots())
    let id = try vault.replaceSlot(old.id, with: try passphrase.slot(old.label, access))
    vault.noteChange(messages)
    guard self.vault.json else { return try Output.write("\(id)\n") }
    try Output.write(.object([("id", .string(id.description)), ("replaced", .string(old.id.description))]))
  }

  private func chosen(_ choice: SlotChoice?, in slots: [SlotInfo]) throws(ToolError) -> SlotInfo {
    let hint = "--slot names a slot with a passphrase; \"secretprefs slots list\" shows them"
    if let choice {
      let slot = try choice.find(in: slots)
      guard case .passphrase = slot.kind else { throw .usage("that slot has no passphrase", hint: hint) }
      return slot
    }
    guard let slot = slots.first(where: \.isCurrent) else { throw .noSuchSlot }
    guard case .passphrase = slot.kind else {
      throw .usage("a key file unlocked the vault, so there is no passphrase to change", hint: hint)
    }
    return slot
  }
}
