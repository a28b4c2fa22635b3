/// A removed record that is kept for a while, so that it can be restored.
public struct RemovedRecord: Sendable {
  /// The service of the record.
  public let service: Vault.Name
  /// The key of the record within its service.
  public let key: Vault.Name
  /// When the values could be read, and can again once the record is restored.
  public let accessibility: Vault.Accessibility
  /// When the record was made: milliseconds since 1970-01-01 UTC, as the writer's clock said.
  public let created: Int64
  /// The generation of the group in which the record was removed.
  public let revision: UInt64
  /// When it was removed: milliseconds since 1970-01-01 UTC, as the writer's clock said.
  public let removed: Int64
  /// The time from which a write to its group may drop it for good, in milliseconds since 1970-01-01 UTC.
  public let keptUntil: Int64
  /// The values that can be restored, newest first. The first is the one that the record had last.
  public let previous: [RecordInfo.Previous]
  /// The extension items that a restored record gets back (`Docs/Format.md` 3.8).
  public let extensionItems: [(tag: UInt16, data: [UInt8])]

  /// - Returns: `nil` if the record is not removed.
  init?(_ record: Record) throws(VaultError) {
    guard let removal = try record.removal() else { return nil }
    let info = try RecordInfo(record)
    service = info.service
    key = info.key
    accessibility = info.accessibility
    created = info.created
    revision = info.revision
    removed = removal.removed
    keptUntil = removal.keptUntil
    previous = info.previous
    extensionItems = info.extensionItems.filter { $0.tag != Extension.RecordTag.removal }
  }
}

extension Vault {
  /// Returns the removed records of a group, or of one service, that are kept, ordered by the bytes of their names.
  ///
  /// All other reads treat these records as absent. ``Transaction/restore(_:revision:ifRevision:)`` makes one exist
  /// again, and a removal with `atOnce` removes it for good. A record whose time has passed is listed until a write
  /// drops it. Opens no value.
  public func removedRecords(
    service: Vault.Name? = nil, in group: AccessGroup
  ) throws(VaultError) -> [RemovedRecord] {
    try handle.withCurrent { (_, state) throws(VaultError) in
      let content = try state.content(group.id)
      var found: [RemovedRecord] = []
      if content.removedCount == 0 { return found }
      for wanted in service?.spellings ?? [[]] where found.isEmpty {
        try content.forEachStored { (record) throws(VaultError) in
          guard record.isRemoved, wanted.isEmpty || compareBytes(record.name.service, wanted.bytes) == 0 else { return }
          if let removed = try RemovedRecord(record) { found.append(removed) }
        }
      }
      return found
    }
  }

  /// Returns the removed record of that name; `nil` if there is none, or if it is not kept.
  public func removedRecord(
    service: Vault.Name, key: String, in group: AccessGroup
  ) throws(VaultError) -> RemovedRecord? {
    let records = try removedRecords(service: service, in: group)
    for spelling in try Vault.Name(key).spellings {
      if let found = records.first(where: { $0.key.utf8 == spelling }) { return found }
    }
    return nil
  }

  /// Lends an earlier value of a removed record to `body`, as ``withValue(of:previous:in:_:)``.
  ///
  /// - Parameter revision: the revision of one of ``RemovedRecord/previous``.
  /// - Returns: The result of `body`; `nil` if the record is not removed any more, or does not have the value.
  /// - Throws: ``VaultError/Code/expired``, as for a value that is not removed, and the errors of any read.
  public func withValue<R>(
    of removed: RemovedRecord, previous revision: UInt64, in group: AccessGroup, _ body: (ValueKind, RawSpan) -> R
  ) throws(VaultError) -> R? {
    let address = RecordAddress(removed.service, removed.key)
    let taken = try handle.withCurrent { (loaded, state) throws(VaultError) -> ValueOpener.CopiedValue? in
      let content = try state.content(group.id)
      guard let record = content.findStored(address), record.isRemoved, let value = try record.previous(revision) else {
        return nil
      }
      try handle.refuseIfExpired(record)
      let cipher = try content.cipher(record.accessibility, state.sealer)
      return ValueOpener.CopiedValue(value, with: cipher, by: try handle.acquireOpener(&loaded))
    }
    guard let taken else { return nil }
    defer { handle.release(taken.opener) }
    if let audit = taken.audit, try !logRead(of: address.name, audit) {
      // The group was rotated since the value was taken.
      return try withValue(of: removed, previous: revision, in: group, body)
    }
    let kind = ValueKind(rawValue: taken.kind)
    var result: R?
    try taken.open(address.name) { result = body(kind, $0) }
    return result
  }

  /// Whether the file has a record with exactly these names, even if it is removed and only kept.
  func isStored(_ service: Vault.Name, _ key: Vault.Name, in group: AccessGroup) throws(VaultError) -> Bool {
    if try contains(service, key, in: group) { return true }
    return try handle.withCurrent { (_, state) throws(VaultError) in
      try state.content(group.id).findStored(RecordAddress(service, key)) != nil
    }
  }
}
