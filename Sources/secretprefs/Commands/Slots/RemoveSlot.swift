internal import ArgumentParser
internal import VaultCore

/// `secretprefs slots remove`.
struct RemoveSlot: WritingCommand {
  static let configuration = CommandConfiguration(
    commandName: "remove",
    abstract: "Removes an unlock slot and rotates the keys it had access to.",
    usage: "secretprefs slots remove [<options>] (<id> | --public-key <text>)",
    discussion: """
      Removing an owner slot replaces all keys of the vault: give the credentials of the other owner slots to keep, \
      and --drop-others to remove the rest; group slots are kept. Removing a group slot replaces the key of that group \
      and keeps its other slots. Older copies of the file still open with the removed credential: if it leaked, change \
      the secrets themselves and, for an owner slot, the credentials of the groups. The last owner slot cannot be \
      removed.

      With --public-key, all slots of this holder are removed, in one write. When all keys of the vault are replaced, \
      other holders by public key get new slots and need the new pin, which is printed. An identity that runs this \
      command gets it in its file.

      The removed holder can also write to an older copy of the file. Others accept that copy in place of the vault, \
      unless they use a mark (see "secretprefs help mark") or, after the removal of an owner, trust the new pin.

      EXAMPLE:
        secretprefs slots remove 5f0c9a
        secretprefs slots remove --public-key spv-public-1:8f40...
        secretprefs slots remove 5f0c9a --keep-key-file ~/backup.key
        secretprefs slots remove 5f0c9a --keep-passphrase-fd 3 3< other.txt
      """)

  @OptionGroup var vault: VaultOptions
  @OptionGroup var unlock: UnlockOptions
  @OptionGroup var keep: KeepOptions

  @Flag(help: "Do not rotate keys: the credential still works together with an older copy of the file.")
  var withoutRotation = false

  @Option(
    help: ArgumentHelp(
      "Remove all slots of the identity with this public key.",
      discussion: "With \"-\", the public key is read from standard input.", valueName: "text"))
  var publicKey: String?

  @Argument(help: ArgumentHelp("The slot's id, or a unique prefix of it.", valueName: "id"), completion: .slots)
  var ids: [String] = []

  func perform(_ messages: Messages) throws {
    let removal = try removal()
    guard !withoutRotation || keep.isEmpty else {
      throw ToolError.usage(
        "--without-rotation keeps all other slots", hint: "omit the --keep options and --drop-others")
    }
    var access = try unlock.complete(try vault.access())
    access.progress = ProgressLine("rotating", messages)
    try keep.check(besides: access)
    let (vault, credential) = try access.openKeepingCredential(messages)
    let slots = try vault.slots()
    let removed = try removal.find(in: slots)
    let ids: (String, JSON) =
      if case .holder(let key) = removal {
        ("publicKey", .string("\(key)"))
      } else {
        ("removed", .string(removed[0].id.description))
      }
    let handover = PinHandover(
      try access.trustingFile(credential),
      RotationAnswer(isJSON: self.vault.json, members: [ids, ("rotated", .bool(!withoutRotation))]))
    let report = try remove(removed, removal, of: vault, credential, handover)
    warn(removed, others: slots.filter { !removed.map(\.id).contains($0.id) }, messages)
    report?.warnOfDroppedSlots(messages)
    if let report { handover.warn(report, messages) }
    vault.recordChange(by: Self.self, messages)
    try handover.complete(report, messages)
  }

  /// What is removed.
  private enum Removal {
    case slot(SlotChoice)
    case holder(VaultIdentity.PublicKey)

    /// The slots, at least one.
    func find(in slots: [SlotInfo]) throws(ToolError) -> [SlotInfo] {
      switch self {
      case .slot(let choice): return [try choice.find(in: slots)]
      case .holder(let key):
        let found = slots.filter { $0.publicKey == key }
        guard !found.isEmpty else {
          throw ToolError(
            VaultError(.notFound, "no slot belongs to this public key"),
            hint: "\"secretprefs slots list --json\" lists the public keys")
        }
        return found
      }
    }
  }

  private func removal() throws -> Removal {
    guard let publicKey else { return .slot(try SlotChoice(try Self.sole(ids, "id"))) }
    guard ids.isEmpty, !withoutRotation else {
      throw ToolError.usage(
        "--public-key removes all slots of a holder, with a rotation", hint: "omit the id and --without-rotation")
    }
    return .holder(try PublicText.publicKey(publicKey))
  }

  private func remove(
    _ removed: [SlotInfo], _ removal: Removal, of vault: Vault, _ credential: Vault.Credential, _ handover: PinHandover
  ) throws -> RotationReport? {
    if withoutRotation {
      try vault.removeSlotWithoutRotation(removed[0].id)
      return nil
    }
    let isOwner = removed.contains(where: \.isOwner)
    guard isOwner || keep.isEmpty else {
      throw ToolError.usage(
        "removing a group slot keeps all other slots", hint: "omit the --keep options and --drop-others")
    }
    let kept =
      isOwner
      ? try keep.credentials(for: vault, unlockedWith: credential, removing: Set(removed.map(\.id))) : []
    switch removal {
    case .slot:
      return try vault.removeSlot(
        removed[0].id, keeping: kept, droppingOthers: keep.dropOthers
      ) { (report) throws(VaultError) in try handover.hand(report) }
    case .holder(let key):
      return try vault.removeSlots(
        of: key, keeping: kept, droppingOthers: keep.dropOthers
      ) { (report) throws(VaultError) in try handover.hand(report) }
    }
  }

  private func warn(_ removed: [SlotInfo], others: [SlotInfo], _ messages: Messages) {
    if withoutRotation {
      messages.warn("no key was rotated: the removed credential and a copy of the file still give access")
    } else {
      messages.warn("older copies of the file still open with the removed credential")
    }
    if removed.contains(where: { slot in slot.publicKey != nil && others.contains { $0.publicKey == slot.publicKey } })
    {
      messages.warn("the holder has other slots, which still give access: --public-key removes all of them")
    }
    let isOwner = removed.contains(where: \.isOwner)
    let others = isOwner && others.contains { $0.group != nil } ? " and the groups' credentials" : ""
    messages.warn("if the credential leaked, change the secrets themselves\(others)")
    messages.warn(
      "the removed holder can also write to an older copy, which others accept unless they use a mark"
        + (isOwner && !withoutRotation ? " or trust the new pin" : ""))
  }
}
