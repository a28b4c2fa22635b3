internal import DurableFiles
internal import VaultSealing

/// How ``Vault/repair(_:_:)`` treats an access group that does not verify (`Docs/Format.md` 5.6).
public enum GroupRepair: Sendable, Hashable {
  /// Removes the group with its slots.
  case leaveOut
  /// Keeps the group without records, under a new key. The slots of its holders stay valid.
  case empty
}

extension Vault {
  /// Creates an empty access group. Durable when the method returns.
  /// - Throws: ``VaultError/Code/alreadyExists``; ``VaultError/Code/invalidName``; ``VaultError/Code/limitExceeded``;
  ///   ``VaultError/Code/ownerRequired``.
  @discardableResult
  public func createGroup(_ name: String) throws(VaultError) -> AccessGroup {
    let name = try Vault.Name(name)
    return try withDraft { (draft) throws(VaultError) in AccessGroup(id: try draft.addGroup(name).id, name: name) }
  }

  /// The asynchronous form of `createGroup(_:)`. Cancelling the task does not stop it.
  @discardableResult
  public func createGroup(_ name: String) async throws(VaultError) -> AccessGroup {
    try await waiting.run { () throws(VaultError) in try createGroup(name) }
  }

  /// Renames an access group. Its key, records and slots do not change. Durable when the method returns.
  /// - Throws: ``VaultError/Code/alreadyExists``; ``VaultError/Code/invalidName``; ``VaultError/Code/groupNotGranted``;
  ///   ``VaultError/Code/ownerRequired``.
  public func renameGroup(_ group: AccessGroup, to name: String) throws(VaultError) {
    let name = try Vault.Name(name)
    try withDraft { (draft) throws(VaultError) in try draft.rename(group.id, to: name) }
  }

  /// The asynchronous form of `renameGroup(_:to:)`. Cancelling the task does not stop it.
  public func renameGroup(_ group: AccessGroup, to name: String) async throws(VaultError) {
    try await waiting.run { () throws(VaultError) in try renameGroup(group, to: name) }
  }

  /// Removes an access group with all its records and slots. Durable when the method returns.
  /// - Throws: ``VaultError/Code/groupNotGranted``; ``VaultError/Code/ownerRequired``.
  public func removeGroup(_ group: AccessGroup) throws(VaultError) {
    try withDraft { (draft) throws(VaultError) in try draft.removeGroup(group.id) }
  }

  /// The asynchronous form of `removeGroup(_:)`. Cancelling the task does not stop it.
  public func removeGroup(_ group: AccessGroup) async throws(VaultError) {
    try await waiting.run { () throws(VaultError) in try removeGroup(group) }
  }

  /// Repairs a vault in which access groups do not verify, which prevents every full write of an owner. Other groups
  /// are not changed.
  ///
  /// Records of the named groups are lost: call ``salvage(at:credential:to:options:)`` first. Open the vault without
  /// ``Options/markPath``, because a mark verifies every group at each load.
  /// - Throws: ``VaultError/Code/conflict`` if one of the groups verifies; ``VaultError/Code/groupNotGranted`` if one
  ///   does not exist any more; ``VaultError/Code/ownerRequired``. Nothing is changed then.
  public func repair(_ groups: [AccessGroup], _ how: GroupRepair) throws(VaultError) {
    let repair = VaultDraft.RepairRequest(groups: Set(groups.map(\.id)), how: how)
    try rewrite(repairing: repair) { _, _ throws(VaultError) in nil }
  }

  /// The asynchronous form of `repair(_:_:)`. Cancelling the task does not stop it.
  public func repair(_ groups: [AccessGroup], _ how: GroupRepair) async throws(VaultError) {
    try await waiting.run { () throws(VaultError) in try repair(groups, how) }
  }

  /// Gives one access group a new key and seals all its records again, in one write. Durable when the method returns.
  ///
  /// The credentials of its holders stay valid. A copy of the old key does not open records written afterwards.
  ///
  /// - Parameter droppingHistory: whether earlier values are removed instead of sealed again.
  /// - Returns: The slots that could not be wrapped again and were removed.
  /// - Throws: ``VaultError/Code/ownerRequired``; ``VaultError/Code/groupNotGranted``; ``VaultError/Code/tampered`` if
  ///   a value does not open.
  @discardableResult
  public func rotate(
    _ group: AccessGroup, droppingHistory: Bool = false
  ) throws(VaultError) -> RotationReport {
    try reporting { (draft, _) throws(VaultError) in
      try draft.rotate(group.id, droppingHistory: droppingHistory)
    }
  }

  /// Whether two copies of a vault have the same keys: that of the vault, and those of the groups. Their epochs do not
  /// tell: two copies whose vault key was replaced separately have the same ones.
  package func hasSameKeys(as other: Vault) throws(VaultError) -> Bool {
    let (own, foreign) = (try keys(), try other.keys())
    return own.count == foreign.count && own.allSatisfy { id, key in foreign[id]?.isEqual(to: key) ?? false }
  }

  /// The keys that the credential opens: that of the vault under the vault's id, and those of the groups.
  private func keys() throws(VaultError) -> [Vault.Identifier: SealingKey] {
    try handle.withCurrent { (_, state) throws(VaultError) in
      var keys: [Vault.Identifier: SealingKey] = [:]
      keys[state.snapshot.vaultID] = state.unlocked.vaultKey
      for group in state.groups { keys[group.id] = try state.content(group.id).key }
      return keys
    }
  }

  /// The asynchronous form of `rotate(_:droppingHistory:)`. Cancelling the task does not stop it.
  @discardableResult
  public func rotate(
    _ group: AccessGroup, droppingHistory: Bool = false
  ) async throws(VaultError) -> RotationReport {
    try await waiting.run { () throws(VaultError) in try rotate(group, droppingHistory: droppingHistory) }
  }

  /// Gives the vault and every access group new keys and seals everything again, in one write. Durable when the method
  /// returns.
  ///
  /// The passphrases and keys of group holders stay valid. Holders by public key, owners among them, get new slots,
  /// which their identities open with the new ``pin()``.
  ///
  /// A program that opens the vault with an identity needs ``RotationReport/newPin`` to open it again, and no other
  /// slot may be left. It stores that pin beside the present one in `beforeStoring`. After a crash, one of the two
  /// opens the vault; when the method has returned, only the new one does, and the old one is not to be trusted any
  /// more. For backups from before, the identity needs ``RotationReport/formerPin``, which cannot be found again
  /// without an owner's credential that is no identity: keep it with them, apart from the pin of the vault.
  ///
  /// ```swift
  /// try vault.rotateVault { (report) throws(VaultError) in
  ///   if let pin = report.newPin { try store(next: pin) }
  /// }
  /// ```
  ///
  /// - Parameters:
  ///   - credentials: the credentials of the other owner slots that stay valid. The slot that opened this handle always
  ///     stays valid.
  ///   - droppingOthers: whether owner slots whose credential is not among these are removed, and reported.
  ///   - droppingHistory: whether earlier values are removed instead of sealed again.
  ///   - keepingHolders: whether the group slots of holders by public key stay as they are, so that the old pin opens
  ///     them. Not for a former owner's removal: that owner can open these slots as well. An identity has one pin for a
  ///     vault, so that it opens either these slots or new ones: when the holder gets another slot, these are renewed.
  ///   - beforeStoring: gets the report when everything is ready, and before anything is stored. If it throws, nothing
  ///     is changed. It is called under the lock of the vault, maybe by another thread, and must not use the vault. The
  ///     write can still fail afterwards.
  /// - Throws: the error of `beforeStoring`; ``VaultError/Code/conflict`` if a slot would be removed although
  ///   `droppingOthers` is `false`, with nothing changed; ``VaultError/Code/credentialRejected`` for a credential that
  ///   opens no slot; ``VaultError/Code/ownerRequired``.
  @discardableResult
  public func rotateVault(
    keeping credentials: [Vault.Credential] = [], droppingOthers: Bool = true, droppingHistory: Bool = false,
    keepingHolders: Bool = false,
    beforeStoring: @escaping @Sendable (RotationReport) throws(VaultError) -> Void = { _ in }
  ) throws(VaultError) -> RotationReport {
    try rotateVault(
      keeping: try presented(credentials), droppingOthers, droppingHistory, keepingHolders, beforeStoring)
  }

  /// The asynchronous form of `rotateVault(keeping:droppingOthers:droppingHistory:keepingHolders:beforeStoring:)`.
  /// Cancelling the task does not stop it.
  @discardableResult
  public func rotateVault(
    keeping credentials: [Vault.Credential] = [], droppingOthers: Bool = true, droppingHistory: Bool = false,
    keepingHolders: Bool = false,
    beforeStoring: @escaping @Sendable (RotationReport) throws(VaultError) -> Void = { _ in }
  ) async throws(VaultError) -> RotationReport {
    let kept = try await HelperPool.using(credentials, for: path).run { () throws(VaultError) in
      try presented(credentials)
    }
    return try await waiting.run { () throws(VaultError) in
      try rotateVault(keeping: kept, droppingOthers, droppingHistory, keepingHolders, beforeStoring)
    }
  }

  private func rotateVault(
    keeping kept: [Vault.Identifier: OpenedSlot], _ droppingOthers: Bool, _ droppingHistory: Bool,
    _ keepingHolders: Bool, _ beforeStoring: @escaping RotationReport.Receiver
  ) throws(VaultError) -> RotationReport {
    try reporting(droppingOthers: droppingOthers, beforeStoring: beforeStoring) {
      (draft, current) throws(VaultError) in
      try draft.rotateVault(
        keeping: kept.merging([current.slot: current.slots[0]]) { $1 }, droppingHistory: droppingHistory,
        keepingHolders: keepingHolders)
    }
  }
}
