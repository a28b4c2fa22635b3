internal import DurableFiles
internal import Synchronization
internal import VaultSealing

extension Vault {
  /// Returns the slots in the order of the file.
  /// - Throws: ``VaultError/Code/ownerRequired`` for a group holder, which cannot read labels. ``VaultInfo`` lists
  ///   the slots without a key.
  public func slots() throws(VaultError) -> [SlotInfo] {
    try handle.withCurrent { (_, state) throws(VaultError) in try state.slotInfos() }
  }

  /// Returns the slots of the state that this handle has loaded or written last. Behind a write that has succeeded, it
  /// cannot fail because of the file.
  package func loadedSlots() throws(VaultError) -> [SlotInfo] {
    try handle.withLoadedState { (_, state) throws(VaultError) in try state.slotInfos() }
  }

  /// Adds a slot whose credential opens the whole vault, or only `group`. Durable when the method returns. A passphrase
  /// is stretched before any lock is taken.
  ///
  /// Other slots do not change, except those of the same holder by public key that a rotation has kept for the pin
  /// before it: they are renewed, so that the present ``pin()`` opens all slots of the holder.
  /// - Returns: The id of the slot.
  /// - Throws: ``VaultError/Code/ownerRequired``; ``VaultError/Code/groupNotGranted``; ``VaultError/Code/kdfRefused``
  ///   for the cost of a passphrase; ``VaultError/Code/limitExceeded``; the vault is unchanged then.
  @discardableResult
  public func addSlot(_ new: NewSlot, granting group: AccessGroup? = nil) throws(VaultError) -> Vault.Identifier {
    try add(try prepare(new), granting: group)
  }

  /// The asynchronous form of `addSlot(_:granting:)`. Cancelling the task does not stop it.
  @discardableResult
  public func addSlot(
    _ new: NewSlot, granting group: AccessGroup? = nil
  ) async throws(VaultError) -> Vault.Identifier {
    let prepared = try await HelperPool.using([new.credential], for: path).run { () throws(VaultError) in
      try prepare(new)
    }
    return try await waiting.run { () throws(VaultError) in try add(prepared, granting: group) }
  }

  private func add(_ prepared: PreparedSlot, granting group: AccessGroup?) throws(VaultError) -> Vault.Identifier {
    try rewrite { (draft, _) throws(VaultError) in
      try draft.add(prepared, group: group?.id)
      return nil
    }
    return prepared.id
  }

  /// Replaces the credential of a slot, in one write: a new passphrase, or the same one at a higher cost. Durable when
  /// the method returns.
  ///
  /// The vault's keys do not change, so every other slot still opens the vault, with the present ``pin()`` if it is one
  /// of the same holder: see ``addSlot(_:granting:)``. The old credential still opens an old copy of the file.
  ///
  /// An identity opens its new slot only with the vault's ``pin()``: hand that over before the last owner slot of a
  /// passphrase or raw key is replaced.
  ///
  /// - Parameters:
  ///   - id: the slot to replace; `nil` for the slot that opened this handle.
  ///   - new: the new credential. Its cost is at least the cost of the replaced slot. Without a label, the slot keeps
  ///     the present one.
  /// - Returns: The id of the new slot.
  /// - Throws: ``VaultError/Code/notFound`` if there is no such slot; ``VaultError/Code/ownerRequired``;
  ///   ``VaultError/Code/kdfRefused``; the vault is unchanged then.
  @discardableResult
  public func replaceSlot(_ id: Vault.Identifier? = nil, with new: NewSlot) throws(VaultError) -> Vault.Identifier {
    try replace(try prepare(new, replacing: id))
  }

  /// The asynchronous form of `replaceSlot(_:with:)`. Cancelling the task does not stop it.
  @discardableResult
  public func replaceSlot(
    _ id: Vault.Identifier? = nil, with new: NewSlot
  ) async throws(VaultError) -> Vault.Identifier {
    let prepared = try await HelperPool.using([new.credential], for: path).run { () throws(VaultError) in
      try prepare(new, replacing: id)
    }
    return try await waiting.run { () throws(VaultError) in try replace(prepared) }
  }

  private typealias Replacing = (id: Vault.Identifier, slot: PreparedSlot)

  private func prepare(_ new: NewSlot, replacing id: Vault.Identifier?) throws(VaultError) -> Replacing {
    let (snapshot, current) = try asOwner()
    let replaced = id ?? current.slot
    guard let old = snapshot.slots.first(where: { $0.id == replaced }) else {
      throw VaultError(.notFound, "there is no slot with that id")
    }
    return (replaced, try prepare(new, floor: old.kind == StoredSlot.passphraseKind ? old.cost : nil))
  }

  private func replace(_ replacing: Replacing) throws(VaultError) -> Vault.Identifier {
    let (replaced, prepared) = replacing
    try rewrite { (draft, current) throws(VaultError) in
      let label = draft.slots.first { $0.slot.id == replaced }?.listed.label ?? []
      let scope = try draft.remove(slot: replaced)
      var group: Vault.Identifier?
      if case .group(let granted, _) = scope { group = granted }
      let unlocked = try draft.add(prepared, group: group, label: label)
      return replaced == current.slot ? unlocked : nil
    }
    return prepared.id
  }

  /// Removes a slot and rotates what it granted, in one write: the vault for an owner slot, otherwise its group.
  /// Durable when the method returns.
  ///
  /// The removed credential still opens old copies of the file, and its holder may have kept what it has read: change
  /// those secrets as well.
  ///
  /// - Parameters:
  ///   - keeping: for an owner slot, the credentials of the other owner slots that stay valid. The slot that opened
  ///     this handle always stays valid, unless it is the one to remove: then the handle continues with one of these
  ///     slots.
  ///   - droppingOthers: whether owner slots whose credential is not among these are removed, and reported. Holders by
  ///     public key, owners among them, get new slots instead, which their identities open with the new ``pin()``.
  ///   - beforeStoring: gets the report when everything is ready, and before anything is stored, as in
  ///     ``rotateVault(keeping:droppingOthers:droppingHistory:keepingHolders:beforeStoring:)``.
  /// - Throws: the error of `beforeStoring`; ``VaultError/Code/lastOwnerSlot`` if no owner slot would be left;
  ///   ``VaultError/Code/conflict`` if a slot would be removed although `droppingOthers` is `false`;
  ///   ``VaultError/Code/notFound``; ``VaultError/Code/ownerRequired``. Nothing is changed then.
  @discardableResult
  public func removeSlot(
    _ id: Vault.Identifier, keeping credentials: [Vault.Credential] = [], droppingOthers: Bool = true,
    beforeStoring: @escaping @Sendable (RotationReport) throws(VaultError) -> Void = { _ in }
  ) throws(VaultError) -> RotationReport {
    try remove(.slot(id), keeping: try presented(credentials), droppingOthers, beforeStoring)
  }

  /// The asynchronous form of `removeSlot(_:keeping:droppingOthers:beforeStoring:)`. Cancelling the task does not stop
  /// it.
  @discardableResult
  public func removeSlot(
    _ id: Vault.Identifier, keeping credentials: [Vault.Credential] = [], droppingOthers: Bool = true,
    beforeStoring: @escaping @Sendable (RotationReport) throws(VaultError) -> Void = { _ in }
  ) async throws(VaultError) -> RotationReport {
    let kept = try await HelperPool.using(credentials, for: path).run { () throws(VaultError) in
      try presented(credentials)
    }
    return try await waiting.run { () throws(VaultError) in
      try remove(.slot(id), keeping: kept, droppingOthers, beforeStoring)
    }
  }

  /// What a removal removes.
  enum Removed: Sendable {
    case slot(Vault.Identifier)
    /// All slots of a holder by public key.
    case holder(VaultIdentity.PublicKey)
  }

  func remove(
    _ removed: Removed, keeping kept: [Vault.Identifier: OpenedSlot], _ droppingOthers: Bool,
    _ beforeStoring: @escaping RotationReport.Receiver
  ) throws(VaultError) -> RotationReport {
    try reporting(keeping: kept, droppingOthers: droppingOthers, beforeStoring: beforeStoring) {
      (draft, current) throws(VaultError) in
      let scopes =
        switch removed {
        case .slot(let id): [try draft.remove(slot: id)]
        case .holder(let key): try draft.removeSlots(of: key)
        }
      if scopes.contains(.owner) {
        return try draft.rotateVault(
          keeping: kept.merging([current.slot: current.slots[0]]) { $1 }, droppingHistory: false, keepingHolders: false)
      }
      // A slot of a later version may name a group that was removed. Then nothing has to be rotated.
      let concerned = Set(scopes.compactMap(\.group))
      for group in draft.groups.map(\.content.id) where concerned.contains(group) {
        try draft.rotate(group, droppingHistory: false)
      }
    }
  }

  /// Removes a slot without a rotation. Durable when the method returns.
  ///
  /// This does not revoke access: the holder of the slot can get the key from a copy of the file and use it on the
  /// present file. Use ``removeSlot(_:keeping:droppingOthers:beforeStoring:)`` to revoke.
  /// - Throws: ``VaultError/Code/lastOwnerSlot`` if no owner slot would be left, and for the slot that opened this
  ///   handle; ``VaultError/Code/notFound``; ``VaultError/Code/ownerRequired``.
  public func removeSlotWithoutRotation(_ id: Vault.Identifier) throws(VaultError) {
    try rewrite { (draft, current) throws(VaultError) in
      _ = try draft.remove(slot: id)
      guard id != current.slot else { throw draft.hasOwner ? Self.ownSlot : VaultDraft.withoutOwner }
      return nil
    }
  }

  /// The asynchronous form of `removeSlotWithoutRotation(_:)`. Cancelling the task does not stop it.
  public func removeSlotWithoutRotation(_ id: Vault.Identifier) async throws(VaultError) {
    try await waiting.run { () throws(VaultError) in try removeSlotWithoutRotation(id) }
  }

  // MARK: Parts

  private static let ownSlot = VaultError(
    .lastOwnerSlot, "the slot that opened this handle cannot be removed; open the vault with a different credential")

  func prepare(_ new: NewSlot, floor: PassphraseCost? = nil) throws(VaultError) -> PreparedSlot {
    let vaultID = try asOwner().snapshot.vaultID
    let sealer = try Sealer(random: options.random)
    return try PreparedSlot(new, vault: vaultID, random: options.random, sealer: sealer, floor: floor)
  }

  /// Changes the whole vault in a full write of an owner.
  ///
  /// - Parameters:
  ///   - repair: how a group that does not verify is treated.
  ///   - beforeStoring: called when the file is ready, and before anything is stored. What it throws ends the write.
  ///   - change: receives the key that opened the file. Returns the key that the handle continues with, if its own slot
  ///     or the vault key has changed; otherwise `nil`.
  func rewrite(
    repairing repair: VaultDraft.RepairRequest? = nil,
    beforeStoring: @escaping @Sendable () throws(VaultError) -> Void = {},
    _ change: @escaping @Sendable (inout VaultDraft, Unlocked) throws(VaultError) -> Unlocked?
  ) throws(VaultError) {
    try rewrite { (state) throws(VaultError) in
      var draft = try VaultDraft(state, repairing: repair)
      let unlocked = try change(&draft, state.unlocked)
      return VaultWriter.FullWrite(
        file: try draft.file(), opening: unlocked ?? state.unlocked, logged: try draft.loggedWrite(),
        beforeStoring: beforeStoring)
    }
  }

  /// Changes the whole vault in a full write of an owner, with whose key the handle continues.
  /// - Returns: What `change` returns.
  func withDraft<R: Sendable>(
    _ change: @escaping @Sendable (inout VaultDraft) throws(VaultError) -> R
  ) throws(VaultError) -> R {
    let result = LockedValue<R>()
    try rewrite { (draft, _) throws(VaultError) in
      result.value = try change(&draft)
      return nil
    }
    return result.value!  // a rewrite that succeeds has called its closure
  }

  func rewrite(_ make: @escaping VaultWriter.Rewrite) throws(VaultError) {
    // A forked child has the queue of its parent, but not the thread that leads it.
    try handle.forkGuard.check()
    // Notified even if this throws, because the change may have been made.
    defer { handle.observerHub.withLock { $0 }?.vaultChanged() }
    _ = try queue.perform(.rewrite(make)).get()
  }

  /// Runs a rotation and reports the slots that the rotation removed.
  ///
  /// - Parameters:
  ///   - kept: other owner slots, with which the handle continues if its own slot is removed. A slot
  ///     that the caller names is removed before the rotation and therefore not reported.
  ///   - droppingOthers: whether owner slots may be removed, including those that were added since the call began.
  ///   - beforeStoring: gets the report before anything is stored.
  func reporting(
    keeping kept: [Vault.Identifier: OpenedSlot] = [:], droppingOthers: Bool = true,
    beforeStoring: @escaping RotationReport.Receiver = { _ in },
    _ body: @escaping @Sendable (inout VaultDraft, Unlocked) throws(VaultError) -> Void
  ) throws(VaultError) -> RotationReport {
    let report = LockedValue<RotationReport>()
    let hand = { @Sendable () throws(VaultError) -> Void in
      if let made = report.value { try beforeStoring(made) }
    }
    try rewrite(beforeStoring: hand) { (draft, current) throws(VaultError) in
      try body(&draft, current)
      guard droppingOthers || !draft.dropped.contains(where: { $0.slot.scope == .owner }) else {
        throw VaultError(
          .conflict, "an owner slot would be removed: its credential was not given", cause: UnnamedOwner())
      }
      var own = [current.slot: current.slots[0]].merging(kept) { own, _ in own }
      for (old, new) in draft.renewed {
        own[new.id] = own[old].map {
          OpenedSlot(id: new.id, kek: new.kek, group: nil, granted: draft.vaultKey, holder: $0.holder)
        }
      }
      let first = draft.renewed[current.slot]?.id ?? current.slot
      guard
        let next = draft.slots.first(where: { $0.slot.id == first })
          ?? draft.slots.first(where: { own[$0.slot.id] != nil }), var opened = own[next.slot.id]
      else { throw draft.hasOwner ? Self.ownSlot : VaultDraft.withoutOwner }
      report.value = try draft.report(continuingWith: next.slot.id, since: current)
      opened.granted = draft.vaultKey
      return Unlocked(slots: [opened])
    }
    return report.value ?? RotationReport(droppedSlots: [], renewedSlots: [], newPin: nil, formerPin: nil)
  }

  /// The cause of the error of a rotation that was to keep all owners, and meets one whose credential was not given:
  /// another process may have added it since the call began.
  package struct UnnamedOwner: Error {}

  /// The present snapshot, for derivations that happen before any lock is taken.
  /// - Throws: ``VaultError/Code/ownerRequired`` for a group holder.
  private func asOwner() throws(VaultError) -> (snapshot: Snapshot, unlocked: Unlocked) {
    try handle.withCurrent { (_, state) throws(VaultError) in
      guard state.unlocked.isOwner else { throw VaultDraft.ownerRequired }
      return (state.snapshot, state.unlocked)
    }
  }

  /// The owner slots that a credential opens: several if slots have the same passphrase or key, none if it opens groups
  /// only.
  /// - Throws: ``VaultError/Code/credentialRejected`` for a credential that opens nothing.
  package func ownerSlots(openedBy credential: Vault.Credential) throws(VaultError) -> Set<Vault.Identifier> {
    Set(try presented([credential]).keys)
  }

  /// All owner slots that one of the credentials opens, derived before any lock is taken.
  /// - Throws: ``VaultError/Code/credentialRejected`` for a credential that opens nothing.
  func presented(_ credentials: [Vault.Credential]) throws(VaultError) -> [Vault.Identifier: OpenedSlot] {
    let snapshot = try asOwner().snapshot
    let sealer = try Sealer(random: options.random)
    var found: [Vault.Identifier: OpenedSlot] = [:]
    for credential in credentials {
      let opened = try Unlocked.ownerSlots(of: snapshot, with: credential, sealer: sealer)
      // A group holder's slot stays valid anyway. A credential that opens nothing is refused as a mistake.
      if opened.isEmpty { _ = try Unlocked(snapshot, with: credential, sealer: sealer) }
      for slot in opened { found[slot.id] = slot }
    }
    return found
  }
}
