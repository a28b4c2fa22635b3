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
  ///   ``VaultError/Code/io``.
  @inlinable
  public func withValue<R>(
    service: Vault.Name, key: String, in group: AccessGroup, _ body: (ValueKind, RawSpan) -> R
  ) throws(VaultError) -> R? {
    var result: R?
    try lend(service, .text(key), in: group) { result = body($0, $1) }
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
    try lend(record.service, .listed(record.key), previous: revision, in: group) { result = body($0, $1) }
    return result
  }

  /// Finds a value, opens it and lends it. Not generic, so that a read needs no type metadata at run time.
  @usableFromInline
  func lend(
    _ service: Vault.Name, _ key: RecordKey, previous revision: UInt64? = nil, in group: AccessGroup,
    _ body: (ValueKind, RawSpan) -> Void
  ) throws(VaultError) {
    _ = try find(service, key) { (name) throws(VaultError) -> Void? in
      guard let opener = try opener(of: name, previous: revision, in: group) else { return nil }
      defer { handle.giveBack(opener) }
      let kind = ValueKind(rawValue: opener.kind)
      return try opener.open(name) { body(kind, $0) }
    }
  }

  /// The name of a record's key, in the form that the caller has.
  @usableFromInline
  enum RecordKey {
    /// Text, which may be stored in more than one spelling.
    case text(String)
    /// A name exactly as it is in the file.
    case listed(Vault.Name)
  }

  /// Calls `body` with each name that a record may have in the file until it returns a result: first the exact bytes,
  /// then normal form C (`Docs/Decisions/0018`). ASCII text is in normal form, so it needs no copy and no second
  /// lookup.
  private func find<R>(
    _ service: Vault.Name, _ key: RecordKey, _ body: (borrowing RecordName) throws(VaultError) -> R?
  ) throws(VaultError) -> R? {
    let name: Vault.Name
    switch key {
    case .listed(let key): return try body(RecordAddress(service, key).name)
    case .text(let text):
      if service.spelled == nil, Vault.Name.isASCII(text) {
        let bytes = unsafe text.utf8Span.span.bytes
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
          // For a locked vault it is unknown whether this record exists. The next spelling may still be readable.
          guard error.code == .locked else { throw error }
          refusal = error
        }
      }
    }
    if let refusal { throw refusal }
    return nil
  }

  /// An opener that holds everything needed to open the value of a record.
  private func opener(
    of name: borrowing RecordName, previous revision: UInt64?, in group: AccessGroup
  ) throws(VaultError) -> ValueOpener? {
    try handle.withRecord(name, in: group.id) { (loaded, found) throws(VaultError) in
      guard let (record, place) = found else { return nil }
      if options.expiredRecords == .refuse, let expiry = try record.expiry(), expiry <= options.now() {
        throw VaultError(.expired, "the record's expiry has passed")
      }
      guard let revision, revision != record.revision else {
        let opener = try handle.takeOpener(&loaded)
        opener.take(record, at: place, deviceKey: options.deviceKey)
        return opener
      }
      guard let previous = try record.previous(revision) else { return nil }
      let opener = try handle.takeOpener(&loaded)
      opener.take(previous, at: place, deviceKey: options.deviceKey)
      return opener
    }
  }

  /// Returns the kind of a record's value without opening it; `nil` if there is no such record.
  public func kind(service: Vault.Name, key: String, in group: AccessGroup) throws(VaultError) -> ValueKind? {
    try withRecord(service, .text(key), in: group) { ValueKind(rawValue: $0.kind) }
  }

  /// Returns the metadata of a record without opening its value; `nil` if there is no such record.
  public func record(service: Vault.Name, key: String, in group: AccessGroup) throws(VaultError) -> RecordInfo? {
    try withRecord(service, .text(key), in: group) { (record) throws(VaultError) in try RecordInfo(record) }
  }

  /// The present state of the same record; `nil` if it was removed.
  func record(_ record: RecordInfo, in group: AccessGroup) throws(VaultError) -> RecordInfo? {
    try withRecord(record.service, .listed(record.key), in: group) { (record) throws(VaultError) in
      try RecordInfo(record)
    }
  }

  /// Whether a record with exactly these names exists.
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
