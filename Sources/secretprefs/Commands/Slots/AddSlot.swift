internal import ArgumentParser
internal import VaultCore

/// `secretprefs slots add`.
struct AddSlot: WritingCommand {
  static let configuration = CommandConfiguration(
    commandName: "add",
    abstract: "Adds an unlock slot.",
    usage: "secretprefs slots add [<options>]",
    discussion: """
      Prompts twice for a new passphrase, or writes a new raw key to a new file. The slot opens the whole vault or one \
      access group. Other slots do not change. Prints the id of the new slot.

      With --public-key, the identity with this public key opens the slot, and nothing secret is sent: see \
      "secretprefs help identity". Prints the pin of the vault, and the id of the slot on standard error. Compare all \
      digits of the public key with those that "secretprefs identity show" shows to the holder: its \
      identity gets access.

      EXAMPLE:
        secretprefs slots add --label laptop
        secretprefs slots add --for-group billing --new-key-file billing.key
        secretprefs slots add --for-group billing --public-key spv-public-1:8f40... --label web1
        secretprefs slots add --passphrase-fd 3 --new-passphrase-fd 4 3<old 4<new
      """)

  @OptionGroup var vault: VaultOptions
  @OptionGroup var unlock: UnlockOptions

  @OptionGroup var credential: NewCredentialOptions
  @OptionGroup var holder: HolderOptions

  @Option(
    help: ArgumentHelp("Open only this access group, not the whole vault.", valueName: "name"), completion: .groups)
  var forGroup: String?

  @Option(help: ArgumentHelp("A label for the slot, which is sealed in the vault.", valueName: "text"))
  var label = ""

  func perform(_ messages: Messages) throws {
    let access = try unlock.complete(try vault.access()).withoutKeptKey
    try HolderOptions.check(label: label)
    try credential.check(besides: access)
    try holder.check(besides: credential)
    let publicKey = try holder.key()
    let vault = try access.open(messages)
    let slots = try vault.slots()  // fails for a group holder, before the user types a passphrase twice
    let group = try forGroup.map { (name) in try vault.grantedGroup(name) }
    if let publicKey { return try add(publicKey, group, to: vault, besides: slots, messages) }
    let id = try credential.store(label: label, access, messages) { (slot) throws(VaultError) in
      try vault.addSlot(slot, granting: group)
    }
    vault.recordChange(by: Self.self, messages)
    guard self.vault.json else { return try Output.write("\(id)\n") }
    try Output.write(.object(credential.answer(id)))
  }

  private func add(
    _ publicKey: VaultIdentity.PublicKey, _ group: AccessGroup?, to vault: Vault, besides others: [SlotInfo],
    _ messages: Messages
  ) throws {
    let id = try HolderOptions.store { () throws(VaultError) in
      try vault.addSlot(NewSlot(publicKey, label: label), granting: group)
    }
    vault.recordChange(by: Self.self, messages)
    messages.tell("the slot is \(id)")
    let members = [("id", JSON.string(id.description))]
    try HolderOptions.writePin(
      of: vault, for: publicKey, besides: others, self.vault.json ? members : nil, messages)
  }
}
