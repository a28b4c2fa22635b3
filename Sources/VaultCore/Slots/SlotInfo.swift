internal import VaultSealing

/// A slot of the vault with the metadata that only an owner can read.
public struct SlotInfo: Sendable {
  /// The id of the slot, random and constant.
  public let id: Vault.Identifier
  /// How the slot is opened.
  public let kind: VaultInfo.Slot.Kind
  /// Whether the slot grants the whole vault.
  public let isOwner: Bool
  /// The access group that the slot grants; `nil` for an owner slot, or if the group does not exist any more.
  public let group: Vault.Name?
  /// The public key of the holder that the slot was made for; `nil` if it was made for a passphrase or a raw key, or if
  /// the vault does not know.
  public let publicKey: VaultIdentity.PublicKey?
  /// The label that was given to the slot.
  public let label: String
  /// The time of its creation, in milliseconds since 1970-01-01 UTC.
  public let created: Int64
  /// Whether this slot opened the handle. A credential may open one slot for each group.
  public let isCurrent: Bool
  /// Whether the slot grants nothing, because its group was removed or has a new key.
  public let isStale: Bool
}

/// The result of a rotation.
public struct RotationReport: Sendable {
  /// Slots that were removed, because their credential was not given or their kind is unknown.
  public let droppedSlots: [SlotInfo]
  /// The new slots of holders by public key, after the vault key was replaced. Each of these holders needs the new
  /// ``Vault/pin()``.
  public let renewedSlots: [SlotInfo]
  /// The new ``Vault/pin()``; `nil` if the vault key was not replaced.
  public let newPin: VaultPin?
  /// The ``Vault/pin()`` before the rotation; `nil` if the vault key was not replaced.
  ///
  /// Identities open backups from before the rotation only with this pin. It is not secret, and cannot be found again
  /// without an owner's credential that is no identity: keep it with the backups.
  public let formerPin: VaultPin?

  /// Gets the report before anything is stored. What it throws ends the rotation.
  typealias Receiver = @Sendable (RotationReport) throws(VaultError) -> Void
}

extension VaultDraft {
  /// What a rotation did to slots and to the pin.
  ///
  /// - Parameters:
  ///   - current: the slot with which the handle continues.
  ///   - former: the keys before it.
  func report(
    continuingWith current: Vault.Identifier, since former: Unlocked
  ) throws(VaultError) -> RotationReport {
    let holders = try HolderKeys(in: extensionField)
    let info = { [groups] (entry: SlotEntry) in
      let group = groups.first { $0.content.id == entry.slot.groupID }
      return SlotInfo(
        entry.slot, entry.listed, group: group.map { ($0.name, $0.epoch) }, holders,
        isCurrent: entry.slot.id == current)
    }
    let new = Set(renewed.values.map(\.id))
    let formerKey = former.vaultKey.flatMap { $0.isEqual(to: vaultKey) ? nil : $0 }
    return RotationReport(
      droppedSlots: dropped.map(info), renewedSlots: slots.filter { new.contains($0.slot.id) }.map(info),
      newPin: formerKey == nil ? nil : try agreement().pin,
      formerPin: try formerKey.map { (key) throws(VaultError) in
        try VaultAgreement(of: vaultID, vaultKey: key, sealer).pin
      })
  }
}

extension SlotInfo {
  /// - Parameter granted: the present state of the group that the slot names.
  fileprivate init(
    _ slot: StoredSlot, _ listed: Manifest.SlotLine, group granted: (name: Vault.Name, epoch: UInt32)?,
    _ holders: HolderKeys, isCurrent: Bool
  ) {
    let isOwner = slot.scope == .owner
    self.init(
      id: slot.id, kind: VaultInfo.Slot.Kind(slot), isOwner: isOwner, group: isOwner ? nil : granted?.name,
      publicKey: holders.key(of: slot.id), label: String(decoding: listed.label, as: UTF8.self),
      created: listed.created, isCurrent: isCurrent,
      isStale: !isOwner && granted?.epoch != slot.epoch)
  }
}

extension VaultState {
  func slotInfos() throws(VaultError) -> [SlotInfo] {
    guard let manifest else { throw VaultDraft.ownerRequired }
    let holders = try HolderKeys(in: manifest.extensionField)
    return zip(snapshot.slots, manifest.slots).map { slot, listed in
      let group = manifest.groups.first { $0.id == slot.groupID }
      return SlotInfo(
        slot, listed, group: group.map { ($0.name, $0.epoch) }, holders, isCurrent: slot.id == unlocked.slot)
    }
  }
}
