internal import Synchronization
internal import VaultSealing

/// The audit item of a group's section (`Docs/Format.md` annex F): the policy, and the keys with which entries were
/// sealed before the group was rotated.
struct AuditItem {
  /// The tag in the extension of a section.
  static let tag: UInt16 = 1
  /// The tag in the extension of the manifest, for groups that are made later: the policy alone.
  static let manifestTag: UInt16 = 2

  /// The audit key of an earlier epoch, sealed with the audit key of the next epoch in the list; the last one, with
  /// that of the group's present epoch.
  struct EarlierKey: Sendable {
    static let count = 4 + SealingKey.count + Sealer.overhead
    let epoch: UInt32
    let sealed: [UInt8]
  }

  /// `nil` if nothing is logged.
  var policy: AuditPolicy?
  /// In the order of their epochs.
  var earlier: [EarlierKey] = []

  init(_ policy: AuditPolicy?) { self.policy = policy }

  /// The item of a section's extension field; `nil` if it has none.
  init?(section field: RawSpan) throws(VaultError) {
    guard let data = try Extension.sole(Self.tag, in: field) else { return nil }
    var reader = ByteReader(data.bytes)
    let number = try reader.integer(UInt8.self)
    policy = AuditPolicy(number: number)
    guard number == policy?.number ?? 0 else { throw .malformed("an audit policy") }
    while reader.remaining > 0 {
      let epoch = try reader.integer(UInt32.self)
      guard epoch > earlier.last?.epoch ?? 0 else { throw .malformed("the order of audit keys") }
      earlier.append(EarlierKey(epoch: epoch, sealed: try reader.bytes(EarlierKey.count - 4).copy))
    }
  }

  var data: [UInt8] {
    var writer = ByteWriter()
    writer.integer(policy?.number ?? 0)
    for key in earlier {
      writer.integer(key.epoch)
      writer.raw(key.sealed)
    }
    return writer.bytes
  }

  /// The policy of groups that are made later.
  static func policy(inManifest field: [UInt8]) throws(VaultError) -> AuditPolicy? {
    guard let data = try Extension.sole(manifestTag, in: field.bytes), data.count == 1 else { return nil }
    return AuditPolicy(number: data[0])
  }

  /// Adds the audit key of a group's epoch, sealed for the holders of its next key.
  mutating func keep(
    epoch: UInt32, of key: SealingKey, under newKey: SealingKey, vault: Vault.Identifier, group: Vault.Identifier,
    _ sealer: Sealer
  ) throws(VaultError) {
    let (old, new) = (try sealer.auditKey(of: key), try sealer.auditKey(of: newKey))
    sealer.bind(to: .auditKey(vault: vault, group: group, epoch: epoch))
    earlier.append(EarlierKey(epoch: epoch, sealed: old.withSpan { sealer.seal($0, with: new) }))
  }
}

extension Sealer {
  /// AK = D(32, GK, "audit-key").
  fileprivate func auditKey(of groupKey: SealingKey) throws(VaultError) -> SealingKey {
    try deriveKey("audit-key", from: groupKey) { _ in }
  }
}

/// The keys and policy for logging the reads and writes of a group.
///
/// A class, because the ``ValuePlace`` of each value refers to it.
final class AuditKeys: Sendable {
  let vaultID: Vault.Identifier
  let groupID: Vault.Identifier
  /// The present epoch of the group, whose key seals new entries.
  let epoch: UInt32
  let policy: AuditPolicy
  private let earlier: [AuditItem.EarlierKey]
  private let opened: Mutex<[UInt32: SealingKey]>

  /// - Parameter policy: the policy of the group; does not matter if the log is only read.
  init(_ content: GroupContent, _ policy: AuditPolicy, _ sealer: Sealer) throws(VaultError) {
    (vaultID, groupID, epoch, self.policy) = (content.vaultID, content.id, content.epoch, policy)
    earlier = content.auditItem?.earlier ?? []
    opened = Mutex([content.epoch: try sealer.auditKey(of: content.key)])
  }

  /// The audit key of an epoch; `nil` if the group does not have it.
  func key(of epoch: UInt32, _ sealer: Sealer) throws(VaultError) -> SealingKey? {
    try opened.withLock { (opened) throws(VaultError) in
      var newer = self.epoch
      for kept in earlier.reversed() where opened[epoch] == nil {
        guard kept.epoch >= epoch, let key = opened[newer] else { return nil }
        if opened[kept.epoch] == nil {
          sealer.bind(to: .auditKey(vault: vaultID, group: groupID, epoch: kept.epoch))
          opened[kept.epoch] = try sealer.openedKey(kept.sealed.bytes, with: key)
        }
        newer = kept.epoch
      }
      return opened[epoch]
    }
  }
}
