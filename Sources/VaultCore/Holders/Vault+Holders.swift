internal import DurableFiles
internal import VaultSealing

/// Holders by public key: ``VaultIdentity``, ``VaultPin`` and `Docs/Format.md` annex G.
extension Vault {
  /// Returns what holders by public key trust to be this vault. The same for all holders, and not secret; but a
  /// change of it in a holder's configuration makes that holder trust a different vault.
  /// - Throws: ``VaultError/Code/ownerRequired`` for a group holder, which cannot know it.
  public func pin() throws(VaultError) -> VaultPin {
    try handle.withCurrent { (_, state) throws(VaultError) in try state.pin() }
  }

  /// Returns the pin of the state that this handle has loaded or written last. Behind a write that has succeeded, it
  /// cannot fail because of the file.
  package func loadedPin() throws(VaultError) -> VaultPin {
    try handle.withLoadedState { (_, state) throws(VaultError) in try state.pin() }
  }

  /// Adds the slots of a holder by public key, in one write: one for each group, or one that opens the whole vault if
  /// there is no group. Durable when the method returns.
  /// - Returns: the ids of the slots, in the order of the groups.
  /// - Throws: as ``addSlot(_:granting:)``; ``VaultError/Code/alreadyExists`` if the holder has one of them.
  package func addSlots(
    for publicKey: VaultIdentity.PublicKey, label: String, granting groups: [AccessGroup]
  ) throws(VaultError) -> [Vault.Identifier] {
    var prepared: [(slot: PreparedSlot, group: Vault.Identifier?)] = []
    for group in groups.isEmpty ? [nil] : groups.map(Optional.some) {
      prepared.append((try prepare(NewSlot(publicKey, label: label)), group?.id))
    }
    let added = prepared
    try rewrite { (draft, _) throws(VaultError) in
      for (slot, group) in added { try draft.add(slot, group: group) }
      return nil
    }
    return added.map(\.slot.id)
  }

  /// Removes every slot of a holder by public key, and rotates what they granted, in one write: the groups, or the
  /// vault if one of them is an owner slot. Durable when the method returns.
  ///
  /// Other holders go on. If the vault is rotated, ``RotationReport/renewedSlots`` has the holders that need the new
  /// ``pin()``. As with ``removeSlot(_:keeping:droppingOthers:beforeStoring:)``, the holder may have kept what it has
  /// read. It can also read an old copy of the file and write to it, which other holders and owners accept unless they
  /// use a ``RollbackMark``.
  ///
  /// - Parameters:
  ///   - credentials: for an owner, as in ``removeSlot(_:keeping:droppingOthers:beforeStoring:)``.
  ///   - droppingOthers: for an owner, as in ``removeSlot(_:keeping:droppingOthers:beforeStoring:)``.
  ///   - beforeStoring: as in ``rotateVault(keeping:droppingOthers:droppingHistory:keepingHolders:beforeStoring:)``.
  /// - Throws: ``VaultError/Code/notFound`` if no slot is known to be of this holder; the codes of
  ///   ``removeSlot(_:keeping:droppingOthers:beforeStoring:)``. Nothing is changed then.
  @discardableResult
  public func removeSlots(
    of publicKey: VaultIdentity.PublicKey, keeping credentials: [Vault.Credential] = [], droppingOthers: Bool = true,
    beforeStoring: @escaping @Sendable (RotationReport) throws(VaultError) -> Void = { _ in }
  ) throws(VaultError) -> RotationReport {
    try remove(.holder(publicKey), keeping: try presented(credentials), droppingOthers, beforeStoring)
  }

  /// The asynchronous form of `removeSlots(of:keeping:droppingOthers:beforeStoring:)`. Cancelling the task does not
  /// stop it.
  @discardableResult
  public func removeSlots(
    of publicKey: VaultIdentity.PublicKey, keeping credentials: [Vault.Credential] = [], droppingOthers: Bool = true,
    beforeStoring: @escaping @Sendable (RotationReport) throws(VaultError) -> Void = { _ in }
  ) async throws(VaultError) -> RotationReport {
    let kept = try await HelperPool.using(credentials, for: path).run { () throws(VaultError) in
      try presented(credentials)
    }
    return try await waiting.run { () throws(VaultError) in
      try remove(.holder(publicKey), keeping: kept, droppingOthers, beforeStoring)
    }
  }
}

extension VaultState {
  fileprivate func pin() throws(VaultError) -> VaultPin {
    guard let vaultKey = unlocked.vaultKey else { throw VaultDraft.ownerRequired }
    return try VaultAgreement(of: snapshot.vaultID, vaultKey: vaultKey, sealer).pin
  }
}
