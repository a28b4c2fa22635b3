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
  /// Whether the last write was cut off; what was acknowledged is not affected.
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
