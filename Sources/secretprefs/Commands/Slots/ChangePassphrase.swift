internal import ArgumentParser
internal import VaultCore

/// `secretprefs passphrase`.
struct ChangePassphrase: WritingCommand {
  static let configuration = CommandConfiguration(
    commandName: "passphrase",
    abstract: "Changes a passphrase.",
    usage: "secretprefs passphrase [<options>]",
    discussion: """
      Changes the passphrase of the slot that unlocks the vault, or of the slot named with --slot. Only an owner can: \
      the holder of an access group asks an owner for "secretprefs slots replace". Prompts twice for the new one. \
      Encryption keys and other slots do not change; older copies of the file still open with the old passphrase. The \
      slot keeps its label and access, and gets a new id, which is printed.

      EXAMPLE:
        secretprefs passphrase
        secretprefs passphrase --slot 5f0c9a --key-file ~/shop.key
        secretprefs passphrase --passphrase-fd 3 --new-passphrase-fd 4 3<old 4<new
      """)

  @OptionGroup var vault: VaultOptions
  @OptionGroup var unlock: UnlockOptions

  @Option(help: ArgumentHelp("The slot's id, or a unique prefix of it.", valueName: "id"), completion: .slots)
  var slot: String?

  @OptionGroup var passphrase: NewPassphraseOptions

  func perform(_ messages: Messages) throws {
    let choice = try slot.map { (text) throws(ToolError) in try SlotChoice(text) }
    let access = try unlock.complete(try vault.access()).withoutKeptKey
    try passphrase.check(besides: access)
    let vault = try access.open(messages)
    let old = try chosen(choice, in: try vault.slots())
    let slot = try passphrase.slot(old.label, access)
    let id = try TypedInput.save(messages, isTyped: passphrase.isTyped) { try vault.replaceSlot(old.id, with: slot) }
    vault.recordChange(by: Self.self, messages)
    guard self.vault.json else { return try Output.write("\(id)\n") }
    try Output.write(.object([("id", .string(id.description)), ("replaced", .string(old.id.description))]))
  }

  private func chosen(_ choice: SlotChoice?, in slots: [SlotInfo]) throws(ToolError) -> SlotInfo {
    let hint = "select a passphrase slot with --slot; \"secretprefs slots list\" lists the slots"
    if let choice {
      let slot = try choice.find(in: slots)
      guard case .passphrase = slot.kind else { throw .usage("the slot has no passphrase", hint: hint) }
      return slot
    }
    guard let slot = slots.first(where: \.isCurrent) else { throw .noSuchSlot }
    guard case .passphrase = slot.kind else {
      let credential = slot.publicKey == nil ? "a key file" : "an identity"
      throw .usage("the vault was unlocked with \(credential), which has no passphrase to change", hint: hint)
    }
    return slot
  }
}
