internal import VaultSealing

/// The log item of a group's section (`Docs/Format.md` F.1): the settings, and the keys with which events were sealed
/// before the group was rotated. The manifest has one without keys, for groups that are made later.
struct AuditItem: Equatable {
  /// The tag in the extension of a section and of the manifest.
  static let tag: UInt16 = 1024

  /// The key of an earlier epoch, sealed with that of the next epoch in the list; the last one, with that of the
  /// group's present epoch.
  struct EarlierKey: Sendable, Equatable {
    static let count = 4 + SealingKey.count + Sealer.overhead
    let epoch: UInt32
    let sealed: [UInt8]
  }

  /// As in the file, so that a policy of a later version is kept.
  var policyNumber: UInt8
  var limits: AuditLimits
  /// In the order of their epochs.
  private(set) var earlier: [EarlierKey] = []

  /// `nil` if nothing is logged.
  var policy: AuditPolicy? { AuditPolicy(number: policyNumber) }

  init(_ policy: AuditPolicy? = nil, limits: AuditLimits = AuditLimits(fileKibibytes: 0)) {
    policyNumber = policy?.number ?? AuditPolicy.off
    self.limits = limits
  }

  /// The item of an extension field; `nil` if it has none.
  ///
  /// - Parameters:
  ///   - isLogged: the feature flag of the file. Only its removal explains an item without it.
  ///   - epoch: the epoch of the section; `nil` for the manifest, whose item has no keys.
  init?(in field: RawSpan, isLogged: Bool, epoch: UInt32?) throws(VaultError) {
    guard isLogged else {
      if try Extension.contains(Self.tag, in: field) { throw .tampered("a log item in a vault that is not logged") }
      return nil
    }
    guard let data = try Extension.sole(Self.tag, in: field) else { return nil }
    var reader = ByteReader(data.bytes)
    policyNumber = try reader.integer()
    limits = AuditLimits(fileKibibytes: try reader.integer(), keptDays: try reader.integer())
    guard let epoch else {
      try reader.finish()
      return
    }
    while reader.remaining > 0 {
      let stated = try reader.integer(UInt32.self)
      guard stated > earlier.last?.epoch ?? 0, stated < epoch else { throw .malformed("the order of a log's keys") }
      earlier.append(EarlierKey(epoch: stated, sealed: try reader.bytes(EarlierKey.count - 4).copy))
    }
  }

  var data: [UInt8] {
    var writer = ByteWriter()
    writer.integer(policyNumber)
    writer.integer(limits.fileKibibytes)
    writer.integer(limits.keptDays)
    for key in earlier {
      writer.integer(key.epoch)
      writer.raw(key.sealed)
    }
    return writer.bytes
  }

  /// The field with this item.
  func put(in field: [UInt8]) throws(VaultError) -> [UInt8] {
    try Extension.replacing(Self.tag, in: field, with: data)
  }

  /// The item of a group that is made later: the same settings, without keys.
  var forNewGroup: AuditItem {
    var item = self
    item.earlier = []
    return item
  }

  /// Adds the log's key of a group's epoch, sealed for the holders of its next key.
  mutating func keep(
    epoch: UInt32, of key: SealingKey, under newKey: SealingKey, vault: Vault.Identifier, group: Vault.Identifier,
    _ sealer: Sealer
  ) throws(VaultError) {
    let (old, new) = (try sealer.logKey(of: key), try sealer.logKey(of: newKey))
    sealer.bind(to: .earlierLogKey(vault: vault, group: group, epoch: epoch))
    earlier.append(EarlierKey(epoch: epoch, sealed: old.withSpan { sealer.seal($0, with: new) }))
  }
}

extension Sealer {
  /// LK = D(32, GK, "log-key").
  func logKey(of groupKey: SealingKey) throws(VaultError) -> SealingKey {
    try deriveKey("log-key", from: groupKey) { _ in }
  }
}
