internal import VaultSealing

extension Vault {
  /// Lends the value of a record to `body`.
  ///
  /// The bytes are in locked memory and are wiped after `body`, which runs with no lock held. Writes of other processes
  /// are taken over first. A value of up to 3,520 bytes needs no allocation.
  ///
  /// ```swift
  /// let length = try vault.withValue(service: service, key: "github", in: group) { kind, value in value.count }
  /// ```
  /// - Returns: The result of `body`; `nil` if there is no such record.
  /// - Throws: ``VaultError/Code/locked``; ``VaultError/Code/expired`` with ``ExpiryPolicy/refuse``;
  ///   ``VaultError/Code/tampered`` if a seal fails; ``VaultError/Code/malformed`` if the value does not fit its kind;
  ///   ``VaultError/Code/deviceKeyMissing`` or ``VaultError/Code/wrongDevice``; ``VaultError/Code/invalidName``;
  ///   ``VaultError/Code/io``. If reads are logged fail-closed (``setAuditing(_:limits:)``), also the code of
  ///   a log that cannot be written.
  @inlinable
  public func withValue<R>(
    service: Vault.Name, key: String, in group: AccessGroup, _ body: (ValueKind, RawSpan) -> R
  ) throws(VaultError) -> R? {
    var result: R?
    try readValue(service, key, in: group) { result = body($0, $1) }
    return result
  }

  /// Lends the value, or an earlier value, of a record whose name is given byte for byte.
  ///
  /// - Parameter revision: the revision of the current value or of one in ``RecordInfo/previous``; `nil` for the
  ///   current value.
  @inlinable
  public func withValue<R>(
    of record: RecordInfo, previous revision: UInt64? = nil, in group: AccessGroup,
    _ body: (ValueKind, RawSpan) -> R
  ) throws(VaultError) -> R? {
    var result: R?
    try readValue(of: record, previous: revision, in: group) { result = body($0, $1) }
    return result
  }

  /// Finds a value, opens it and lends it. Not generic, so that a read needs no type metadata at run time.
  @usableFromInline
  func readValue(
    _ service: Vault.Name, _ key: String, in group: AccessGroup, _ body: (ValueKind, RawSpan) -> Void
  ) throws(VaultError) {
    try readValue(service, key, in: group.id, at: nil, body)
  }

  /// Lends the value, or an earlier value, of a listed record.
  @usableFromInline
  func readValue(
    of record: RecordInfo, previous revision: UInt64?, in group: AccessGroup, _ body: (ValueKind, RawSpan) -> Void
  ) throws(VaultError) {
    _ = try openValue(RecordAddress(record.service, record.key).name, previous: revision, in: group.id, body)
  }

  /// Lends a value of `records` to `body`, as ``withValue(service:key:in:_:)``; does not call it if there is none.
  package func readValue(
    _ key: String, in records: ServiceRecords, _ body: (ValueKind, RawSpan) -> Void
  ) throws(VaultError) {
    try readValue(records.service, key, in: records.group.id, at: records, body)
  }

  // The first spelling is tried without a closure, which would retain what it captures.
  @inline(__always)
  private func readValue(
    _ service: Vault.Name, _ key: String, in group: Vault.Identifier, at records: ServiceRecords?,
    _ body: (ValueKind, RawSpan) -> Void
  ) throws(VaultError) {
    if let name = try RecordName(service, key) {
      _ = try openValue(name, previous: nil, in: group, at: records, body)
    } else {
      _ = try findSpelling(service, try Vault.Name(key)) { (name) throws(VaultError) in
        try openValue(name, previous: nil, in: group, at: records, body)
      }
    }
  }

  // Not inlined, because callers would then retain the service's and the group's name.
  @inline(never)
  private func openValue(
    _ name: borrowing RecordName, previous revision: UInt64?, in group: Vault.Identifier,
    at records: ServiceRecords? = nil, _ body: (ValueKind, RawSpan) -> Void
  ) throws(VaultError) -> Void? {
    guard let (value, audit) = try copyValue(name, previous: revision, in: group, at: records) else { return nil }
    defer { handle.release(value.opener) }
    if let audit, try !logRead(of: name, audit) {
      // The group was rotated since the value was taken.
      return try openValue(name, previous: revision, in: group, at: records, body)
    }
    let kind = ValueKind(rawValue: value.kind)
    return try value.open(name) { body(kind, $0) }
  }

  /// - Returns: `false` if the log has a later key that the vault has too: then nothing was logged.
  @inline(never)
  func logRead(of name: borrowing RecordName, _ audit: AuditKeys) throws(VaultError) -> Bool {
    let event = AuditLog.Event(action: .read, service: name.service.copy, key: name.key.copy)
    guard case .laterKey(let epoch) = try handle.log([event], audit, isSynced: false, mayBeStale: true) else {
      return true
    }
    do throws(VaultError) {
      if try handle.has(epoch: epoch, of: audit.groupID) { return false }
    } catch {
      // Values that stay readable after a lock are read by a handle that cannot load the vault again.
      guard audit.policy == .failOpen else { throw error }
      try handle.auditLog(of: audit.groupID).lose(1, because: error)
      return true
    }
    _ = try handle.log([event], audit, isSynced: false)
    return true
  }

  /// Calls `body` with each name that a record may have in the file until it returns a result: first the exact bytes,
  /// then normal form C (`Docs/Decisions/0018`). ASCII text is in normal form, so it needs no copy and no second
  /// lookup.
  @inline(__always)
  private func find<R>(
    _ service: Vault.Name, _ key: String, _ body: (borrowing RecordName) throws(VaultError) -> R?
  ) throws(VaultError) -> R? {
    guard let name = try RecordName(service, key) else { return try findSpelling(service, try Vault.Name(key), body) }
    return try body(name)
  }

  /// Calls `body` with each spelling of a name that is not ASCII.
  private func findSpelling<R>(
    _ service: Vault.Name, _ name: Vault.Name, _ body: (borrowing RecordName) throws(VaultError) -> R?
  ) throws(VaultError) -> R? {
    var refusal: VaultError?
    for service in service.spellings {
      for key in name.spellings {
        let address = RecordAddress(try Vault.Name(verbatim: service), try Vault.Name(verbatim: key))
        do throws(VaultError) {
          if let found = try body(address.name) { return found }
          refusal = nil
        } catch {
          // For a locked vault it is unknown whether this record exists. The next spelling may still be readable.
          guard error.code == .locked else { throw error }
          refusal = error
        }
      }
    }
    if let refusal { throw refusal }
    return nil
  }

  /// Copies everything needed to open the value of a record, and the keys for logging that it is read; `nil` if it is
  /// not logged. The caller returns the opener after use.
  private func copyValue(
    _ name: borrowing RecordName, previous revision: UInt64?, in group: Vault.Identifier, at records: ServiceRecords?
  ) throws(VaultError) -> (ValueOpener.CopiedValue, AuditKeys?)? {
    try handle.withRecord(name, in: group, at: records) { (loaded, found) throws(VaultError) in
      guard let (record, cipher) = found else { return nil }
      try handle.refuseIfExpired(record)
      // The keys of a snapshot do not change, but the log has the policy and the keys of the present.
      let audit = records == nil ? cipher.audit : try loaded.audit(of: group, or: cipher.audit)
      guard let revision, revision != record.revision else {
        return (ValueOpener.CopiedValue(record, with: cipher, by: try handle.acquireOpener(&loaded)), audit)
      }
      guard let previous = try record.previous(revision) else { return nil }
      return (ValueOpener.CopiedValue(previous, with: cipher, by: try handle.acquireOpener(&loaded)), audit)
    }
  }

  /// Returns the kind of a record's value without opening it; `nil` if there is no such record.
  public func kind(service: Vault.Name, key: String, in group: AccessGroup) throws(VaultError) -> ValueKind? {
    try withRecord(service, key, in: group) { ValueKind(rawValue: $0.kind) }
  }

  /// Returns the metadata of a record without opening its value; `nil` if there is no such record.
  public func record(service: Vault.Name, key: String, in group: AccessGroup) throws(VaultError) -> RecordInfo? {
    try withRecord(service, key, in: group) { (record) throws(VaultError) in try RecordInfo(record) }
  }

  /// The present state of the same record; `nil` if it was removed.
  package func record(_ record: RecordInfo, in group: AccessGroup) throws(VaultError) -> RecordInfo? {
    try withRecord(RecordAddress(record.service, record.key).name, in: group) { (record) throws(VaultError) in
      try RecordInfo(record)
    }
  }

  /// Whether a record with exactly these names exists.
  func contains(_ service: Vault.Name, _ key: Vault.Name, in group: AccessGroup) throws(VaultError) -> Bool {
    try withRecord(RecordAddress(service, key).name, in: group) { _ in true } ?? false
  }

  func withRecord<R: Sendable>(
    _ service: Vault.Name, _ key: String, in group: AccessGroup, at records: ServiceRecords? = nil,
    _ body: (Record) throws(VaultError) -> R
  ) throws(VaultError) -> R? {
    try find(service, key) { (name) throws(VaultError) in
      try withRecord(name, in: group, at: records, body)
    }
  }

  private func withRecord<R: Sendable>(
    _ name: borrowing RecordName, in group: AccessGroup, at records: ServiceRecords? = nil,
    _ body: (Record) throws(VaultError) -> R
  ) throws(VaultError) -> R? {
    try handle.withRecord(name, in: group.id, at: records) { (_, found) throws(VaultError) in
      guard let record = found?.record else { return nil }
      return try body(record)
    }
  }

  /// Returns the metadata of all records of a group, or of one service, ordered by the bytes of their names. Opens no
  /// value.
  public func records(service: Vault.Name? = nil, in group: AccessGroup) throws(VaultError) -> [RecordInfo] {
    try collect(service, in: group) { (record) throws(VaultError) in try RecordInfo(record) }
  }

  /// Returns the keys of one service, ordered by their bytes. Opens no value.
  public func keys(service: Vault.Name, in group: AccessGroup) throws(VaultError) -> [String] {
    try collect(service, in: group) { (record) throws(VaultError) in
      String(decoding: record.name.key.copy, as: UTF8.self)
    }
  }

  private func collect<R>(
    _ service: Vault.Name?, in group: AccessGroup, _ transform: (Record) throws(VaultError) -> R
  ) throws(VaultError) -> [R] {
    try handle.withCurrent { (_, state) throws(VaultError) in
      var found: [R] = []
      for wanted in service?.spellings ?? [[]] where found.isEmpty {
        try state.content(group.id).forEachInOrder { (record) throws(VaultError) in
          if !wanted.isEmpty, compareBytes(record.name.service, wanted.bytes) != 0 { return }
          found.append(try transform(record))
        }
      }
      return found
    }
  }
}
