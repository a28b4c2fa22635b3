internal import VaultSealing

/// Holders by public key in an owner's full write (`Docs/Format.md` annex G).
extension VaultDraft {
  /// The vault's side of the agreement, with the vault key of this write.
  func agreement() throws(VaultError) -> VaultAgreement {
    try VaultAgreement(of: vaultID, vaultKey: vaultKey, sealer)
  }

  /// Records that a new slot belongs to a holder, and returns the key that opens the slot. Slots of the holder for a
  /// former vault key are renewed: its identity has one pin, which then opens all of them.
  ///
  /// - Parameter group: the group that the slot grants; `nil` for the whole vault.
  /// - Throws: ``VaultError/Code/alreadyExists`` if the holder has a slot with the same grant;
  ///   ``VaultError/Code/invalidKeyText`` for the public key of the vault itself.
  mutating func admit(
    _ holder: VaultIdentity.PublicKey, to slot: Vault.Identifier, group: Vault.Identifier?
  ) throws(VaultError) -> SealingKey {
    let agreement = try agreement()
    guard holder.point != agreement.pin.point else {
      throw VaultError(.invalidKeyText, "this is the public key of the vault itself, and of no holder")
    }
    let holders = try HolderKeys(in: extensionField)
    let own = holders.slots(of: holder)
    let grants = slots.filter { own.contains($0.slot.id) }.map(\.slot.scope.group)
    guard !grants.contains(group) else {
      throw VaultError(.alreadyExists, "the holder with this public key has a slot that grants the same")
    }
    for (index, entry) in slots.enumerated() where entry.slot.kind == StoredSlot.rawKeyKind {
      guard holders.key(of: entry.slot.id) == holder else { continue }
      let present = try kek(of: entry.slot.id, for: holder, agreement)
      // That of a slot that grants the whole vault is not kept. Such a slot is renewed by every rotation.
      guard let kept = entry.listed.kek, !kept.isEqual(to: present) else { continue }
      try renew(index, for: holder, agreement)
    }
    extensionField = try HolderKeys.adding(holder, of: slot, to: extensionField)
    return try kek(of: slot, for: holder, agreement)
  }

  /// Removes every slot of a holder.
  /// - Returns: What they granted.
  /// - Throws: ``VaultError/Code/notFound`` if there is none.
  mutating func removeSlots(of holder: VaultIdentity.PublicKey) throws(VaultError) -> [StoredSlot.Scope] {
    let own = try HolderKeys(in: extensionField).slots(of: holder)
    let removed = slots.filter { own.contains($0.slot.id) }.map(\.slot.scope)
    guard !removed.isEmpty else { throw VaultError(.notFound, "no slot belongs to that public key") }
    slots.removeAll { own.contains($0.slot.id) }
    return removed
  }

  /// Puts a new slot in the place of each slot whose holder is known, for the present vault key. A former owner can
  /// compute the old keys of these slots, and none of the new ones. Called when the vault key was replaced, before
  /// groups are rotated.
  ///
  /// - Parameters:
  ///   - known: holders who have shown their identity. A former owner may have changed what the items say of them.
  ///   - keepingHolders: whether slots that grant a group stay as they are. Slots that grant the vault never do,
  ///     because a former owner could open them.
  mutating func renewHolders(
    known: [Vault.Identifier: VaultIdentity.PublicKey], keepingHolders: Bool
  ) throws(VaultError) {
    let agreement = try agreement()
    let holders = try HolderKeys(in: extensionField)
    for (index, old) in slots.enumerated() where old.slot.kind == StoredSlot.rawKeyKind {
      let isRenewed = old.slot.scope == .owner || !keepingHolders
      guard isRenewed, let holder = known[old.slot.id] ?? holders.key(of: old.slot.id) else { continue }
      try renew(index, for: holder, agreement)
    }
  }

  /// Puts a new slot in the place of one of a holder, for the present vault key. One of a removed group stays.
  private mutating func renew(
    _ index: Int, for holder: VaultIdentity.PublicKey, _ agreement: VaultAgreement
  ) throws(VaultError) {
    let old = slots[index]
    let isOwner = old.slot.scope == .owner
    var granted = vaultKey
    if !isOwner {
      guard let group = groups.first(where: { $0.content.id == old.slot.groupID }) else { return }
      granted = group.key
    }
    let id = Vault.Identifier(options.random.bytes(Vault.Identifier.count))
    let kek = try kek(of: id, for: holder, agreement)
    let slot = StoredSlot.make(
      kind: StoredSlot.rawKeyKind, scope: old.slot.scope, id: id, cost: nil, salt: [UInt8](repeating: 0, count: 16),
      vault: vaultID, granting: granted, kek: kek, sealer: sealer)
    slots[index] = SlotEntry(
      slot: slot,
      listed: Manifest.SlotLine(id: id, kek: isOwner ? nil : kek, created: options.now(), label: old.listed.label))
    extensionField = try HolderKeys.adding(holder, of: id, to: extensionField)
    renewed[old.slot.id] = (id, kek)
  }

  private func kek(
    of slot: Vault.Identifier, for holder: VaultIdentity.PublicKey, _ agreement: VaultAgreement
  ) throws(VaultError) -> SealingKey {
    try StoredSlot.kek(from: agreement.key(of: holder, sealer), vault: vaultID, slot: slot, sealer)
  }
}
