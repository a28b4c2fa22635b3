internal import VaultSealing

extension Vault {
  /// Lends the value of a record.
  ///
  /// The bytes lie in locked memory and are wiped after `body`, which runs without any lock held. A value of up
  /// to 3,520 bytes costs no allocation.
  /// - Returns: what `body` returns; `nil` when there is no such record.
  /// - Throws: ``VaultError/Code/tampered`` when the value's seal fails, ``VaultError/Code/malformed`` when the
  ///   body does not fit its kind, ``VaultError/Code/deviceKeyMissing``, ``VaultError/Code/wrongDevice``,
  ///   ``VaultError/Code/invalidName``, and what taking over other processes' writes can throw.
  @inlinable
  public func withValue<R>(
    service: Vault.Name, key: String, in group: AccessGroup, _ body: (ValueKind, UnsafeRawBufferPointer) -> R
  ) throws(VaultError) -> R? {
    var result: R?
    try lend(service: service, key: key, in: group) { result = body($0, $1) }
    return result
  }

  /// Lends the value of a record whose name is given byte for byte, or an earlier value that the record keeps.
  ///
  /// - Parameter revision: of the value: one of ``RecordInfo/previous``, or the current one's; whichever is current when
  ///   `nil`.
  @inlinable
  public func withValue<R>(
    of record: RecordInfo, previous revision: UInt64? = nil, in group: AccessGroup,
    _ body: (ValueKind, UnsafeRawBufferPointer) -> R
  ) throws(VaultError) -> R? {
    var result: R?
    try lend(of: record, previous: revision, in: group) { result = body($0, $1) }
    return result
  }

  // Not generic, so that a read costs no look-up of types at run time.

  @usableFromInline
  func lend(
    service: Vault.Name, key: String, in group: AccessGroup, _ body: (ValueKind, UnsafeRawBufferPointer) -> Void
  ) throws(VaultError) {
    _ = try withNames(service, key) { (name) throws(VaultError) in
      try lend(name, previous: nil, in: group, body)
    }
  }

  @usableFromInline
  func lend(
    of record: RecordInfo, previous revision: UInt64?, in group: AccessGroup,
    _ body: (ValueKind, UnsafeRawBufferPointer) -> Void
  ) throws(VaultError) {
    _ = try Change(service: record.service, key: record.key, action: .remove).withName { (name) throws(VaultError) in
      try lend(name, previous: revision, in: group, body)
    }
  }

  /// Calls `body` with the names that a record may have in the file, until it answers: in exactly these bytes, then in
  /// normal form C (`Docs/Decisions/0018`). ASCII, which is its own normal form, costs no copy and no second look.
  private func withNames<R>(
    _ service: Vault.Name, _ key: String, _ body: (RecordName) throws(VaultError) -> R?
  ) throws(VaultError) -> R? {
    if service.spelled == nil, Vault.Name.isASCII(key) {
      return try service.utf8.span.bytes.withUnsafeBytes { (service) throws(VaultError) in
        try key.utf8Span.span.bytes.withUnsafeBytes { (key) throws(VaultError) in
          guard Vault.Name.isValid(key) else { throw Vault.Name.invalid }
          return try body(RecordName(service: service, key: key))
        }
      }
    }
    let key = try Vault.Name(key)
    var refusal: VaultError?
    for service in service.spellings {
      for key in key.spellings {
        let (service, key) = (try Vault.Name(verbatim: service), try Vault.Name(verbatim: key))
        do throws(VaultError) {
          if let found = try Change(service: service, key: key, action: .remove).withName(body) { return found }
          refusal = nil
        } catch {
          // A locked vault cannot say that a record is not there, and may still read the next.
          guard error.code == .locked else { throw error }
          refusal = error
        }
      }
    }
    if let refusal { throw refusal }
    return nil
  }

  private func lend(
    _ name: RecordName, previous revision: UInt64?, in group: AccessGroup,
    _ body: (ValueKind, UnsafeRawBufferPointer) -> Void
  ) throws(VaultError) -> Void? {
    guard let reader = try reader(of: name, previous: revision, in: group) else { return nil }
    defer { handle.giveBack(reader) }
    let kind = ValueKind(rawValue: reader.kind)
    try reader.open(name) { body(kind, $0) }
    return ()
  }

  private func reader(
    of name: RecordName, previous revision: UInt64?, in group: AccessGroup
  ) throws(VaultError) -> ValueReader? {
    try handle.withRecord(name, in: group.id) { (loaded, found) throws(VaultError) in
      guard let (record, place) = found else { return nil }
      if options.expiredRecords == .refuse, let expiry = try record.expiry(), expiry <= options.now() {
        throw VaultError(.expired, "the record's expiry has passed")
      }
      var previous: PreviousValue?
      if let revision, revision != record.revision {
        previous = try record.previous(revision)
        guard previous != nil else { return nil }
      }
      let reader = try handle.takeReader(&loaded)
      reader.take(record, previous: previous, at: place, deviceKey: options.deviceKey)
      return reader
    }
  }

  /// The kind of a record's value, without opening it; `nil` when there is no such record.
  public func kind(service: Vault.Name, key: String, in group: AccessGroup) throws(VaultError) -> ValueKind? {
    try withRecord(service, key, in: group) { ValueKind(rawValue: $0.kind) }
  }

  /// What is known of one record without opening its value; nil when there is no such record.
  public func record(service: Vault.Name, key: String, in group: AccessGroup) throws(VaultError) -> RecordInfo? {
    try withRecord(service, key, in: group) { (record) throws(VaultError) in try RecordInfo(record) }
  }

  /// The same record as it is now; nil when it is gone.
  func record(_ record: RecordInfo, in group: AccessGroup) throws(VaultError) -> RecordInfo? {
    try Change(service: record.service, key: record.key, action: .remove).withName { (name) throws(VaultError) in
      try handle.withRecord(name, in: group.id) { (_, found) throws(VaultError) in
        try found.map { (found) throws(VaultError) in try RecordInfo(found.record) }
      }
    }
  }

  private func withRecord<R: Sendable>(
    _ service: Vault.Name, _ key: String, in group: AccessGroup, _ body: (Record) throws(VaultError) -> R
  ) throws(VaultError) -> R? {
    try withNames(service, key) { (name) throws(VaultError) in
      try handle.withRecord(name, in: group.id) { (_, found) throws(VaultError) in
        guard let record = found?.record else { return nil }
        return try body(record)
      }
    }
  }

  /// Whether there is a record of exactly these names.
  func contains(_ service: Vault.Name, _ key: Vault.Name, in group: AccessGroup) throws(VaultError) -> Bool {
    try Change(service: service, key: key, action: .remove).withName { (name) throws(VaultError) in
      try handle.withRecord(name, in: group.id) { $1 != nil }
    }
  }

  /// All records of a group in order of their bytes, of one service or of all. Opens no value.
  public func records(service: Vault.Name? = nil, in group: AccessGroup) throws(VaultError) -> [RecordInfo] {
    try collect(service, in: group) { (record) throws(VaultError) in try RecordInfo(record) }
  }

  /// The keys of one service in order of their bytes. Opens no value.
  public func keys(service: Vault.Name, in group: AccessGroup) throws(VaultError) -> [String] {
    try collect(service, in: group) { (record) throws(VaultError) in
      String(decoding: record.name.key, as: UTF8.self)
    }
  }

  private func collect<R>(
    _ service: Vault.Name?, in group: AccessGroup, _ transform: (Record) throws(VaultError) -> R
  ) throws(VaultError) -> [R] {
    try handle.withCurrent { (_, state) throws(VaultError) in
      var found: [R] = []
      for wanted in service?.spellings ?? [[]] where found.isEmpty {
        try state.content(group.id).forEachInOrder { (record) throws(VaultError) in
          if !wanted.isEmpty, !record.name.service.elementsEqual(wanted) { return }
          found.append(try transform(record))
        }
      }
      return found
    }
  }
}
