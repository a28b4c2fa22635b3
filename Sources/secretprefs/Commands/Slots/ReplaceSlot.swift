internal import ArgumentParser
internal import VaultCore

/// `secretprefs slots replace`.
struct ReplaceSlot: WritingCommand {
  static let configuration = CommandConfiguration(
    commandName: "replace",
    abstract: "Replaces the credential of an unlock slot.",
    usage: "secretprefs slots replace [<options>] <id>",
    discussion: """
      Prompts twice for a new passphrase, or writes a new raw key to a new file, or gives access to the identity \
      with the public key. The slot keeps its label and access, and gets a new id, which is printed. The slots of \
      others and the keys of the vault do not change; the old credential no longer opens the vault, but older copies \
      of the file still do. If it leaked, remove the slot instead. With --public-key, prints the pin of the vault, \
      and the id of the slot on standard error.

      A program that is running needs the new credential at once, unless the old slot is kept with --keep-old: let the \
      program use the new credential, and then remove the old slot, whose id is the one that was given. The last \
      owner slot that needs no pin is kept so before it is replaced by that of an identity, unless an owner's identity \
      opens the vault for this command.

      EXAMPLE:
        secretprefs slots replace 5f0c9a --new-key-file billing-2027.key --keep-old
        secretprefs slots replace 5f0c9a --public-key spv-public-1:8f40...
        secretprefs slots replace 5f0c9a --new-passphrase-fd 4 4< new.txt
      """)

  @OptionGroup var vault: VaultOptions
  @OptionGroup var unlock: UnlockOptions
  @OptionGroup var credential: NewCredentialOptions
  @OptionGroup var holder: HolderOptions

  @Flag(help: "Keep the old slot, too, until it is removed.")
  var keepOld = false

  @Argument(help: ArgumentHelp("The slot's id, or a unique prefix of it.", valueName: "id"), completion: .slots)
  var ids: [String] = []

  func perform(_ messages: Messages) throws {
    let choice = try SlotChoice(try Self.sole(ids, "id"))
    let access = try unlock.complete(try vault.access()).withoutKeptKey
    try credential.check(besides: access)
    try holder.check(besides: credential)
    let publicKey = try holder.key()
    let vault = try access.open(messages)
    let slots = try vault.slots()
    let old = try choice.find(in: slots)
    let others = slots.filter { $0.id != old.id }
    guard publicKey == nil || keepOld || !old.isOwner || others.contains(where: \.isSureOwner) else {
      throw ToolError.usage(
        "no other owner slot is known to open without a pin, and the vault would be lost with the pin",
        hint: "use --keep-old, and remove the old slot when the identity opens the vault")
    }
    let group =
      try old.isOwner || !keepOld ? nil : old.group.map { (name) throws(VaultError) in try vault.group(named: name) }
    guard !keepOld || old.isOwner || group != nil else {
      throw ToolError.usage("the slot opens nothing: its group was removed", hint: "omit --keep-old")
    }
    let store = { (slot: NewSlot) throws(VaultError) in
      keepOld ? try vault.addSlot(slot, granting: group) : try vault.replaceSlot(old.id, with: slot)
    }
    let id =
      if let publicKey {
        try HolderOptions.store { () throws(VaultError) in try store(NewSlot(publicKey, label: old.label)) }
      } else {
        try credential.store(label: old.label, access, messages, store)
      }
    vault.recordChange(by: Self.self, messages)
    let members = credential.answer(id) + [(keepOld ? "kept" : "replaced", .string(old.id.description))]
    if let publicKey {
      messages.tell("the slot is \(id)")
      return try HolderOptions.writePin(
        of: vault, for: publicKey, besides: others, self.vault.json ? members : nil, messages)
    }
    try self.vault.json ? Output.write(.object(members)) : Output.write("\(id)\n")
  }
}

extension SlotInfo {
  /// Whether the slot surely opens the whole vault: by a passphrase or raw key, or because it has just done so. What
  /// opens the slot of an identity is lost with the pin.
  fileprivate var isSureOwner: Bool {
    if case .unknown = kind { return false }
    return isOwner && (publicKey == nil || isCurrent)
  }
}
