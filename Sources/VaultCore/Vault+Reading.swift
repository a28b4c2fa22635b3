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
    try lend(service, .text(key), in: group) { result = body($0, $1) }
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
    try lend(record.service, .listed(record.key), previous: revision, in: group) { result = body($0, $1) }
    return result
  }

  /// Finds a value and lends it, opened. Not generic, so that a read costs no look-up of types at run time.
  @usableFromInline
  func lend(
    _ service: Vault.Name, _ key: RecordKey, previous revision: UInt64? = nil, in group: AccessGroup,
    _ body: (ValueKind, UnsafeRawBufferPointer) -> Void
  ) throws(VaultError) {
    _ = try find(service, key) { (name) throws(VaultError) -> Void? in
      guard let opener = try opener(of: name, previous: revision, in: group) else { return nil }
      defer { handle.giveBack(opener) }
      let kind = ValueKind(rawValue: opener.kind)
      return try opener.open(name) { body(kind, $0) }
    }
  }

  /// A key as a caller has it.
  @usableFromInline
  enum RecordKey {
    /// Text, which a record may spell in more than one way.
    case text(String)
    /// A name as it stands in the file.
    case listed(Vault.Name)
  }

  /// Calls `body` with the names that a record may have in the file, until it answers: in exactly these bytes, then in
  /// normal form C (`Docs/Decisions/0018`). ASCII, which is its own normal form, costs no copy and no second look.
  private func find<R>(
    _ service: Vault.Name, _ key: RecordKey, _ body: (borrowing RecordName) throws(VaultError) -> R?
  ) throws(VaultError) -> R? {
    let name: Vault.Name
    switch key {
    case .listed(let key): return try body(RecordAddress(service, key).name)
    case .text(let text):
      if service.spelled == nil, Vault.Name.isASCII(text) {
        let bytes = text.utf8Span.span.bytes
        guard Vault.Name.isValid(bytes) else { throw Vault.Name.invalid }
        return try body(RecordName(service: service.bytes, key: bytes))
      }
      name = try Vault.Name(text)
    }
    var refusal: VaultError?
    for service in service.spellings {
      for key in name.spellings {
        let address = RecordAddress(try Vault.Name(verbatim: service), try Vault.Name(verbatim: key))
        do throws(VaultError) {
          if let found = try body(address.name) { return found }
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

  /// What opens the value of a record, with all that is needed for it.
  private func opener(
    of name: borrowing RecordName, previous revision: UInt64?, in group: AccessGroup
  ) throws(VaultError) -> ValueOpener? {
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
      let opener = try handle.takeOpener(&loaded)
      opener.take(record, previous: previous, at: place, deviceKey: options.deviceKey)
      return opener
    }
  }

  /// The kind of a record's value, without opening it; `nil` when there is no such record.
  public func kind(service: Vault.Name, key: String, in group: AccessGroup) throws(VaultError) -> ValueKind? {
    try withRecord(service, .text(key), in: group) { ValueKind(rawValue: $0.kind) }
  }

  /// What is known of one record without opening its value; nil when there is no such record.
  public func record(service: Vault.Name, key: String, in group: AccessGroup) throws(VaultError) -> RecordInfo? {
    try withRecord(service, .text(key), in: group) { (record) throws(VaultError) in try RecordInfo(record) }
  }

  /// The same record as it is now; nil when it is gone.
  func record(_ record: RecordInfo, in group: AccessGroup) throws(VaultError) -> RecordInfo? {
    try withRecord(record.service, .listed(record.key), in: group) { (record) throws(VaultError) in
      try RecordInfo(record)
    }
  }

  /// Whether there is a record of exactly these names.
  func contains(_ service: Vault.Name, _ key: Vault.Name, in group: AccessGroup) throws(VaultError) -> Bool {
    try withRecord(service, .listed(key), in: group) { _ in true } ?? false
  }

  private func withRecord<R: Sendable>(
    _ service: Vault.Name, _ key: RecordKey, in group: AccessGroup, _ body: (Record) throws(VaultError) -> R
  ) throws(VaultError) -> R? {
    try find(service, key) { (name) throws(VaultError) in
      try handle.withRecord(name, in: group.id) { (_, found) throws(VaultError) in
        guard let record = found?.record else { return nil }
        return try body(record)
      }
    }
  }

  /// All records of a group in order of their bytes, of one service or of all. Opens no value.
  public func records(service: Vault.Name? = nil, in group: AccessGroup) throws(VaultError) -> [RecordInfo] {
    try collect(service, in: group) { (record) throws(VaultError) in try RecordInfo(record) }
  }

  /// The keys of one service in order of their bytes. Opens no value.
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
          if !wanted.isEmpty, compareBytes(record.name.service, wanted.span.bytes) != 0 { return }
          found.append(try transform(record))
        }
      }
      return found
    }
  }
}
