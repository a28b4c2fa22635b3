internal import VaultSealing

/// What becomes of an access group that does not verify (`Docs/Format.md` 5.6).
public enum GroupRepair: Sendable, Hashable {
  /// It goes, with its slots.
  case leaveOut
  /// It goes on without records, under a new key. Its holders go on.
  case empty
}

extension Vault {
  /// Creates an empty access group. Durable when it returns.
  /// - Throws: ``VaultError/Code/alreadyExists``, ``VaultError/Code/ownerRequired``.
  @discardableResult
  public func createGroup(_ name: String) throws(VaultError) -> AccessGroup {
    let name = try Vault.Name(name)
    let made = LockedValue<AccessGroup>()
    try rewrite { (draft, _) throws(VaultError) in
      made.value = AccessGroup(id: try draft.addGroup(name).id, name: name)
      return nil
    }
    guard let group = made.value else { return try group(named: name.text) }
    return group
  }

  /// Gives an access group another name. Its key, its records and its slots stay.
  /// - Throws: ``VaultError/Code/alreadyExists``, ``VaultError/Code/ownerRequired``.
  public func renameGroup(_ group: AccessGroup, to name: String) throws(VaultError) {
    let name = try Vault.Name(name)
    try rewrite { (draft, _) throws(VaultError) in
      try draft.rename(group.id, to: name)
      return nil
    }
  }

  /// Removes an access group with all its records and its slots.
  /// - Throws: ``VaultError/Code/ownerRequired``.
  public func removeGroup(_ group: AccessGroup) throws(VaultError) {
    try rewrite { (draft, _) throws(VaultError) in
      try draft.removeGroup(group.id)
      return nil
    }
  }

  /// Mends a vault with access groups that do not verify, which keep owners from all full writes. The others are carried
  /// over as they are. ``salvage(at:credential:to:options:)`` saves first what can be saved. Open the vault without
  /// ``Options/markPath`` for it, since a mark verifies every group.
  /// - Throws: ``VaultError/Code/conflict`` when one of the groups verifies; ``VaultError/Code/groupNotGranted`` when one is
  ///   gone; ``VaultError/Code/ownerRequired``.
  public func repair(_ groups: [AccessGroup], _ how: GroupRepair) throws(VaultError) {
    let repair = VaultDraft.Repair(groups: Set(groups.map(\.id)), how: how)
    try rewrite(repairing: repair) { _, _ throws(VaultError) in nil }
  }

  /// Gives one access group a new key and seals all its records anew, in one write. Its holders go on with their
  /// credentials; who has only an old key reads nothing new.
  ///
  /// - Parameter droppingHistory: whether kept earlier values go instead of being sealed anew.
  @discardableResult
  public func rotate(
    _ group: AccessGroup, droppingHistory: Bool = false
  ) throws(VaultError) -> RotationReport {
    try reporting { (draft, _) throws(VaultError) in
      try draft.rotate(group.id, droppingHistory: droppingHistory)
    }
  }

  /// Gives the vault and every access group new keys and seals everything anew, in one write.
  ///
  /// - Parameters:
  ///   - credentials: of the other owner slots that are to go on; the slot that opened this handle goes on by itself.
  ///     Holders of groups go on.
  ///   - droppingOthers: whether owner slots without a credential here are dropped. They are reported then.
  ///   - droppingHistory: whether kept earlier values go instead of being sealed anew.
  /// - Throws: ``VaultError/Code/conflict`` when a slot would be dropped that may not be, with nothing changed.
  @discardableResult
  public func rotateVault(
    keeping credentials: [Vault.Credential] = [], droppingOthers: Bool = true, droppingHistory: Bool = false
  ) throws(VaultError) -> RotationReport {
    let keks = try presented(credentials)
    return try reporting(droppingOthers: droppingOthers) { (draft, current) throws(VaultError) in
      try draft.rotateVault(
        keeping: keks.merging([current.slot: current.kek]) { $1 }, droppingHistory: droppingHistory)
    }
  }
}
