internal import Synchronization
internal import VaultSealing

/// A stored way to unlock, as its owner sees it.
public struct SlotInfo: Sendable {
  /// Names the slot; random, and the same for as long as the slot is.
  public let id: Vault.Identifier
  /// How the slot is opened.
  public let kind: VaultSummary.Slot.Kind
  /// Whether the slot grants the whole vault.
  public let isOwner: Bool
  /// The access group that another slot grants; nil for an owner slot, and when the group is gone.
  public let group: Vault.Name?
  /// What somebody wrote down about it.
  public let label: String
  /// When it was made, in milliseconds since 1970-01-01 UTC.
  public let created: Int64
  /// Whether this handle was opened by it.
  public let isCurrent: Bool
  /// Whether the group is gone or has another key by now, so that the slot grants nothing.
  public let isStale: Bool
}

/// What a rotation had to leave behind.
public struct RotationReport: Sendable {
  /// Slots that could not be wrapped anew, because their credential was not presented or their kind is unknown: what
  /// they granted is gone.
  public let droppedSlots: [SlotInfo]
}

extension Vault {
  /// The slots in the file's order.
  /// - Throws: ``VaultError/Code/ownerRequired`` for a group holder, who cannot see labels; ``VaultSummary`` needs no
  ///   key.
  public func slots() throws(VaultError) -> [SlotInfo] {
    try handle.withCurrent { (_, state) throws(VaultError) in try state.slotInfos() }
  }

  /// Adds a slot: its credential opens the whole vault, or one access group. Durable when it returns; other slots go
  /// on. A passphrase is stretched before any lock is taken.
  /// - Returns: the slot's id.
  @discardableResult
  public func addSlot(_ new: NewSlot, granting group: AccessGroup? = nil) throws(VaultError) -> Vault.Identifier {
    let prepared = try prepare(new)
    try rewrite { (draft, _) throws(VaultError) in
      try draft.add(prepared, group: group?.id)
      return nil
    }
    return prepared.id
  }

  /// Replaces a slot by one with another credential in one write: a new passphrase, or the same one at a higher cost.
  /// The vault's keys do not change, so every other slot goes on; whoever has the old credential *and* an old copy of
  /// the file still opens that copy.
  ///
  /// - Parameters:
  ///   - id: the slot to replace; the one that opened this handle when nil.
  ///   - new: never cheaper than the slot it replaces, and with its label unless it has one of its own.
  /// - Returns: the new slot's id.
  /// - Throws: ``VaultError/Code/notFound`` when there is no such slot.
  @discardableResult
  public func replaceSlot(_ id: Vault.Identifier? = nil, with new: NewSlot) throws(VaultError) -> Vault.Identifier {
    let (snapshot, current) = try asOwner()
    let asked = id ?? current.slot
    guard let old = snapshot.slots.first(where: { $0.id == asked }) else {
      throw VaultError(.notFound, "there is no slot of that id")
    }
    let prepared = try prepare(new, floor: old.kind == Slot.passphraseKind ? old.cost : nil)
    try rewrite { (draft, current) throws(VaultError) in
      let label = draft.slots.first { $0.slot.id == asked }?.listed.label ?? []
      let scope = try draft.remove(slot: asked)
      var group: Vault.Identifier?
      if case .group(let granted, _) = scope { group = granted }
      let unlocked = try draft.add(prepared, group: group, label: label)
      return asked == current.slot ? unlocked : nil
    }
    return prepared.id
  }

  /// Removes a slot and rotates what it granted, in one write: the vault for an owner slot, its group for another.
  /// What the slot's holder has already read, and old copies of the file, stay readable to it: change those secrets.
  ///
  /// - Parameters:
  ///   - keeping: for an owner slot, the credentials of the other owner slots that are to go on; the slot that
  ///   opened this handle goes on by itself, or, when it is the one to remove, the handle goes on with one of these.
  ///   - droppingOthers: whether owner slots without a credential here are dropped. They are reported then.
  /// - Throws: ``VaultError/Code/lastOwnerSlot`` when no owner slot would be left, ``VaultError/Code/conflict`` when one
  ///   would be dropped that may not be; with nothing changed.
  @discardableResult
  public func removeSlot(
    _ id: Vault.Identifier, keeping credentials: [Vault.Credential] = [], droppingOthers: Bool = true
  ) throws(VaultError) -> RotationReport {
    let keks = try presented(credentials)
    return try reporting(keeping: keks, droppingOthers: droppingOthers) { (draft, current) throws(VaultError) in
      switch try draft.remove(slot: id) {
      case .owner:
        try draft.rotateVault(keeping: keks.merging([current.slot: current.kek]) { $1 }, droppingHistory: false)
      case .group(let group, _):
        // A slot of a later kind may name a group that is gone; then there is nothing left to rotate.
        if draft.groups.contains(where: { $0.content.id == group }) {
          try draft.rotate(group, droppingHistory: false)
        }
      }
    }
  }

  /// Removes a slot and changes nothing else. Whoever held its credential and has a copy of the file has the key
  /// itself, and can go on reading: use ``removeSlot(_:keeping:)`` to revoke.
  /// - Throws: ``VaultError/Code/lastOwnerSlot`` also for the slot that opened this handle.
  public func removeSlotWithoutRotation(_ id: Vault.Identifier) throws(VaultError) {
    try rewrite { (draft, current) throws(VaultError) in
      _ = try draft.remove(slot: id)
      guard id != current.slot else { throw draft.hasOwner ? Self.ownSlot : VaultDraft.withoutOwner }
      return nil
    }
  }

  // MARK: Parts

  private static let ownSlot = VaultError(
    .lastOwnerSlot, "the slot that opened this handle cannot remove itself; open the vault with another credential")

  func prepare(_ new: NewSlot, floor: PassphraseCost? = nil) throws(VaultError) -> PreparedSlot {
    let vaultID = try asOwner().snapshot.vaultID
    let sealer = try Sealer(random: options.random)
    return try PreparedSlot(new, vault: vaultID, random: options.random, sealer: sealer, floor: floor)
  }

  /// Changes the whole vault as its owner.
  ///
  /// - Parameters:
  ///   - repair: what becomes of a group that does not verify.
  ///   - change: is given what opened the file that is being changed; returns what the handle goes on with, when its own
  ///     slot or the vault's key changed.
  func rewrite(
    repairing repair: VaultDraft.Repair? = nil,
    _ change: @escaping @Sendable (inout VaultDraft, Unlocked) throws(VaultError) -> Unlocked?
  ) throws(VaultError) {
    try rewrite { (state) throws(VaultError) in
      var draft = try VaultDraft(state, repairing: repair)
      let unlocked = try change(&draft, state.unlocked)
      return (try draft.file(), unlocked ?? state.unlocked)
    }
  }

  func rewrite(_ make: @escaping VaultWriter.Rewrite) throws(VaultError) {
    // Told also when it throws: whether the change is there may be unknown then.
    defer { handle.companion.withLock { $0 }?.vaultChanged() }
    _ = try queue.perform(.rewrite(make)).get()
  }

  /// Runs a rotation and tells which slots it dropped, of those that were there when it ran.
  ///
  /// - Parameters:
  ///   - keks: of other slots, for the handle to go on with when its own is removed. A slot that is removed by name goes
  ///     before the rotation, and so is not told as dropped.
  ///   - droppingOthers: whether owner slots may be dropped, those included that were added a moment ago.
  func reporting(
    keeping keks: [Vault.Identifier: SealingKey] = [:], droppingOthers: Bool = true,
    _ body: @escaping @Sendable (inout VaultDraft, Unlocked) throws(VaultError) -> Void
  ) throws(VaultError) -> RotationReport {
    let dropped = LockedValue<[SlotInfo]>()
    try rewrite { (draft, current) throws(VaultError) in
      try body(&draft, current)
      guard droppingOthers || !draft.dropped.contains(where: { $0.slot.scope == .owner }) else {
        throw VaultError(.conflict, "an owner slot would be dropped: no credential of it is given")
      }
      dropped.value = draft.dropped.map { draft.info($0, current) }
      let own = [current.slot: current.kek].merging(keks) { own, _ in own }
      guard
        let next = draft.slots.first(where: { $0.slot.id == current.slot })
          ?? draft.slots.first(where: { own[$0.slot.id] != nil }), let kek = own[next.slot.id]
      else { throw draft.hasOwner ? Self.ownSlot : VaultDraft.withoutOwner }
      return Unlocked(grant: .owner(draft.vaultKey), slot: next.slot.id, kek: kek)
    }
    return RotationReport(droppedSlots: dropped.value ?? [])
  }

  /// What the file says now, before anything is derived for it.
  /// - Throws: ``VaultError/Code/ownerRequired`` for a group holder.
  private func asOwner() throws(VaultError) -> (snapshot: Snapshot, unlocked: Unlocked) {
    try handle.withCurrent { (_, state) throws(VaultError) in
      guard state.unlocked.isOwner else { throw VaultDraft.ownerRequired }
      return (state.snapshot, state.unlocked)
    }
  }

  /// The keys of all owner slots that one of the credentials opens. Derived before any lock is taken.
  /// - Throws: ``VaultError/Code/credentialRejected`` for a credential that opens none.
  func presented(_ credentials: [Vault.Credential]) throws(VaultError) -> [Vault.Identifier: SealingKey] {
    let snapshot = try asOwner().snapshot
    let sealer = try Sealer(random: options.random)
    var keks: [Vault.Identifier: SealingKey] = [:]
    for credential in credentials {
      let opened = try Unlocked.ownerSlots(of: snapshot, with: credential, sealer: sealer)
      // A group holder's goes on anyhow; one that opens nothing is a mistake, and refused.
      if opened.isEmpty { _ = try Unlocked(snapshot, with: credential, sealer: sealer) }
      for slot in opened { keks[slot.slot] = slot.kek }
    }
    return keks
  }
}

extension VaultDraft {
  func info(_ entry: SlotEntry, _ current: Unlocked) -> SlotInfo {
    let group = groups.first { $0.content.id == entry.slot.groupID }
    return SlotInfo(
      entry.slot, entry.listed, group: group.map { ($0.name, $0.epoch) }, isCurrent: entry.slot.id == current.slot)
  }
}

extension SlotInfo {
  /// - Parameter granted: the group that the slot names, as it is now.
  fileprivate init(
    _ slot: Slot, _ listed: Manifest.Slot, group granted: (name: Vault.Name, epoch: UInt32)?, isCurrent: Bool
  ) {
    let isOwner = slot.scope == .owner
    self.init(
      id: slot.id, kind: VaultSummary.Slot.Kind(slot), isOwner: isOwner, group: isOwner ? nil : granted?.name,
      label: String(decoding: listed.label, as: UTF8.self), created: listed.created, isCurrent: isCurrent,
      isStale: !isOwner && granted?.epoch != slot.epoch)
  }
}

extension VaultState {
  func slotInfos() throws(VaultError) -> [SlotInfo] {
    guard let manifest else { throw VaultDraft.ownerRequired }
    return zip(snapshot.slots, manifest.slots).map { slot, listed in
      let group = manifest.groups.first { $0.id == slot.groupID }
      return SlotInfo(
        slot, listed, group: group.map { ($0.name, $0.epoch) }, isCurrent: slot.id == unlocked.slot)
    }
  }
}
