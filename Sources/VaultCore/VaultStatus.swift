/// The state of an unlocked vault, verified: every granted group was opened and checked.
public struct VaultStatus: Sendable {
  /// One granted access group.
  public struct Group: Sendable {
    /// Names the group; random, and the same for its life.
    public let id: Vault.Identifier
    /// What people call it.
    public let name: Vault.Name
    /// How often the group's key was rotated, plus one.
    public let epoch: UInt32
    /// How many writes there were.
    public let generation: UInt64
    /// The tag that the next entry is chained to.
    public let tag: Vault.Tag
    /// How many records it has, of all services.
    public let recordCount: Int
  }

  /// Names the vault; random, and the same for its life.
  public let vaultID: Vault.Identifier
  /// Whether the credential grants the whole vault.
  public let isOwner: Bool
  /// How many owner full writes there were.
  public let generation: UInt64
  /// The groups that the credential grants, in the file's order.
  public let groups: [Group]
  /// Whole journal entries of all groups since the last full write.
  public let entryCount: Int
  /// Whether a broken entry ends the journal: a write that did not finish, or one that was acknowledged and damaged since.
  /// Which of the two it is cannot be known (`Docs/Format.md` 10.3). What it changed is not among what is read.
  public let hasTornTail: Bool
  /// Whether the file was replaced outside while it is mounted by itself: it will not change any more, and
  /// writes are refused.
  public let isFrozen: Bool
}

extension Vault {
  /// Verifies every granted group and tells where the vault stands.
  /// - Throws: the class of the first deviation, ``VaultError/Code/tampered`` above all.
  public func status() throws(VaultError) -> VaultStatus {
    try handle.withCurrent { (_, state) throws(VaultError) in try state.status() }
  }
}

extension Vault {
  /// Whether a broken entry ended the journal when this handle last read it: see ``VaultStatus/hasTornTail``. Costs no
  /// system call. The next write keeps the broken bytes in a file beside the vault, whose name ends in `.torn`.
  /// - Throws: ``VaultError/Code/locked``.
  public var hasTornTail: Bool {
    get throws(VaultError) { try handle.withLatest { (_, state) throws(VaultError) in state.hasTornTail } }
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
          recordCount: content.count))
    }
    return VaultStatus(
      vaultID: snapshot.vaultID, isOwner: unlocked.isOwner, generation: snapshot.generation, groups: statuses,
      entryCount: entryCount, hasTornTail: hasTornTail, isFrozen: isFrozen)
  }
}
