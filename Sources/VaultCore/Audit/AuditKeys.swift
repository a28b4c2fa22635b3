internal import Synchronization
internal import VaultSealing

/// The keys and settings for logging the reads and writes of a group.
///
/// A class, because the ``ValueCipher`` of each value refers to it.
final class AuditKeys: Sendable {
  let vaultID: Vault.Identifier
  let groupID: Vault.Identifier
  /// The epoch of the group whose key seals new events.
  let epoch: UInt32
  let policy: AuditPolicy
  let limits: AuditLimits
  private let earlier: [AuditItem.EarlierKey]
  private let opened: Mutex<[UInt32: SealingKey]>

  /// - Parameters:
  ///   - item: `nil` for a group that was never logged.
  ///   - policy: what an append does if it fails; `nil` for that of the item, or fail-closed.
  init(
    vault: Vault.Identifier, group: Vault.Identifier, epoch: UInt32, key: SealingKey, _ item: AuditItem?,
    _ sealer: Sealer, policy: AuditPolicy? = nil
  ) throws(VaultError) {
    vaultID = vault
    groupID = group
    self.epoch = epoch
    self.policy = policy ?? item?.policy ?? .failClosed
    limits = item?.limits ?? AuditLimits()
    earlier = item?.earlier ?? []
    opened = Mutex([epoch: try sealer.logKey(of: key)])
  }

  convenience init(_ content: GroupContent, _ sealer: Sealer, policy: AuditPolicy? = nil) throws(VaultError) {
    try self.init(
      vault: content.vaultID, group: content.id, epoch: content.epoch, key: content.key, content.auditItem, sealer,
      policy: policy)
  }

  /// The epochs whose keys the group has, unless a sealed key does not open.
  var epochs: [UInt32] { earlier.map(\.epoch) + [epoch] }

  /// The log's key of an epoch; `nil` if the group does not have it.
  func key(of epoch: UInt32, _ sealer: Sealer) throws(VaultError) -> SealingKey? {
    try opened.withLock { (opened) throws(VaultError) in
      var newer = self.epoch
      for kept in earlier.reversed() where opened[epoch] == nil {
        guard kept.epoch >= epoch, let key = opened[newer] else { return nil }
        if opened[kept.epoch] == nil {
          sealer.bind(to: .earlierLogKey(vault: vaultID, group: groupID, epoch: kept.epoch))
          opened[kept.epoch] = try sealer.openedKey(kept.sealed.bytes, with: key)
        }
        newer = kept.epoch
      }
      return opened[epoch]
    }
  }

  /// The key that seals new events.
  func presentKey(_ sealer: Sealer) throws(VaultError) -> SealingKey {
    guard let key = try key(of: epoch, sealer) else { preconditionFailure("the key of the epoch is made first") }
    return key
  }
}
