/// The verified state of an unlocked vault: every granted group was opened and checked.
public struct VaultStatus: Sendable {
  /// One granted access group.
  public struct Group: Sendable {
    /// The id of the group, random and constant.
    public let id: Vault.Identifier
    /// The name of the group.
    public let name: Vault.Name
    /// The number of rotations of the group's key, plus one.
    public let epoch: UInt32
    /// The number of writes to the group.
    public let generation: UInt64
    /// The tag to which the next entry is chained.
    public let tag: Vault.Tag
    /// The number of records, of all services.
    public let recordCount: Int
    /// The number of removed records that are kept and can be restored.
    public let removedCount: Int
  }

  /// The id of the vault, random and constant.
  public let vaultID: Vault.Identifier
  /// Whether the credential grants the whole vault.
  public let isOwner: Bool
  /// The number of full writes by owners.
  public let generation: UInt64
  /// The groups that the credential grants, in the order of the file.
  public let groups: [Group]
  /// The number of whole journal entries, of all groups, since the last full write.
  public let entryCount: Int
  /// The broken end of the journal, whose changes reads do not see: an interrupted write, or acknowledged entries that
  /// were damaged later. `nil` if the journal ends with a whole entry.
  public let tornTail: Vault.TornTail?
  /// Whether the journal ends with a broken entry: see ``tornTail``.
  public var hasTornTail: Bool { tornTail != nil }
  /// Whether the file is a single-file mount whose original was replaced. Later changes are not seen, and writes are
  /// refused.
  public let isFrozen: Bool
}

extension Vault {
  /// Verifies every granted group and returns the state of the vault.
  /// - Throws: the code of the first fault that is found, usually ``VaultError/Code/tampered``;
  ///   ``VaultError/Code/locked``.
  public func status() throws(VaultError) -> VaultStatus {
    try handle.withCurrent { (_, state) throws(VaultError) in try state.status() }
  }
}

extension Vault {
  /// The broken end of the journal when this handle last read it; `nil` if it ended with a whole entry.
  ///
  /// Makes no system call, and does not count as a use for the idle limit. The next write first saves the broken bytes
  /// in a file beside the vault whose name ends in `.torn`.
  /// - Throws: ``VaultError/Code/locked``.
  public var tornTail: TornTail? {
    get throws(VaultError) {
      try handle.withLoadedState(isUse: false) { (_, state) throws(VaultError) in state.tornTail }
    }
  }

  /// Whether the journal ended with a broken entry when this handle last read it: see ``tornTail``.
  /// - Throws: ``VaultError/Code/locked``.
  public var hasTornTail: Bool {
    get throws(VaultError) { try tornTail != nil }
  }
}

extension Vault {
  /// Whether the file was a single-file mount whose original was replaced when this handle last read it:
  /// ``VaultStatus/isFrozen``. Makes no system call, and does not count as a use for the idle limit.
  /// - Throws: ``VaultError/Code/locked``.
  package var isFrozen: Bool {
    get throws(VaultError) {
      try handle.withLoadedState(isUse: false) { (_, state) throws(VaultError) in state.isFrozen }
    }
  }
}

extension VaultState {
  func status() throws(VaultError) -> VaultStatus {
    var statuses: [VaultStatus.Group] = []
    for group in groups {
      let content = try content(group.id)
      statuses.append(
        .init(
          id: group.id, name: content.name, epoch: content.epoch, generation: content.generation, tag: content.tag,
          recordCount: content.recordCount, removedCount: content.removedCount))
    }
    return VaultStatus(
      vaultID: snapshot.vaultID, isOwner: unlocked.isOwner, generation: snapshot.generation, groups: statuses,
      entryCount: entryCount, tornTail: tornTail, isFrozen: isFrozen)
  }
}
