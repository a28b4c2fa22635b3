/// When a removed record was removed, and until when it is kept: extension tag 7 (`Docs/Format.md` 3.8).
struct Removal: Sendable, Hashable {
  static let byteCount = 16

  /// Milliseconds since 1970-01-01 UTC, as the writer's clock said.
  let removed: Int64
  /// The time from which a writer may drop the record, in milliseconds since 1970-01-01 UTC.
  let keptUntil: Int64

  init(removed: Int64, keptFor duration: Int64) {
    self.removed = removed
    let (time, overflows) = removed.addingReportingOverflow(max(0, duration))
    keptUntil = overflows ? .max : time
  }

  init(removed: Int64, keptUntil: Int64) {
    self.removed = removed
    self.keptUntil = keptUntil
  }

  /// - Parameter data: the data of the item, whose length was checked.
  init(_ data: RawSpan) {
    removed = data.integer(at: 0)
    keptUntil = data.integer(at: 8)
  }

  /// The extension item.
  var item: Extension.OwnedItem {
    var writer = ByteWriter()
    writer.integer(removed)
    writer.integer(keptUntil)
    return Extension.OwnedItem(Extension.RecordTag.removal, writer.bytes)
  }
}

extension GroupContent {
  /// The maximum number of removed records that a write drops in passing. A fold drops all that are due.
  private static let droppedAtOnce = 64

  /// Changes that drop removed records whose time has passed, for a write that makes other changes anyway.
  func dueRemovals(besides changes: [RecordChange], at now: Int64) throws(VaultError) -> [RecordChange] {
    guard removedCount > 0 else { return [] }
    let changed = Set(changes.map(\.address))
    var dropped: [RecordChange] = []
    try forEachRemoved { (record) throws(VaultError) in
      guard try record.isDue(at: now) else { return true }
      let address = RecordAddress(
        try Vault.Name(verbatim: record.name.service.copy), try Vault.Name(verbatim: record.name.key.copy))
      if !changed.contains(address) { dropped.append(RecordChange(address, .remove(.atOnce))) }
      return dropped.count < Self.droppedAtOnce
    }
    return dropped
  }
}
