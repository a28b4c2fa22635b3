/// A record's name as a view of bytes: service first, then key.
struct RecordName: ~Escapable {
  let service: RawSpan
  let key: RawSpan

  @_lifetime(copy service, copy key)
  init(service: RawSpan, key: RawSpan) {
    self.service = service
    self.key = key
  }

  /// The name of an ASCII key in a service, without a copy; `nil` if one of them can have two spellings.
  /// - Throws: ``VaultError/Code/invalidName``.
  @inline(__always)
  @_lifetime(borrow service, borrow key)
  init?(_ service: borrowing Vault.Name, _ key: borrowing String) throws(VaultError) {
    guard service.spelled == nil, Vault.Name.isASCII(key) else { return nil }
    let bytes = unsafe key.utf8Span.span.bytes
    guard Vault.Name.isValid(bytes) else { throw Vault.Name.invalid }
    self.init(service: service.bytes, key: bytes)
  }

  @inline(__always)
  static func < (a: borrowing RecordName, b: borrowing RecordName) -> Bool {
    let order = compareBytes(a.service, b.service)
    return order != 0 ? order < 0 : compareBytes(a.key, b.key) < 0
  }

  @inline(__always)
  static func == (a: borrowing RecordName, b: borrowing RecordName) -> Bool {
    a.key.byteCount == b.key.byteCount && a.service.byteCount == b.service.byteCount
      && compareBytes(a.key, b.key) == 0 && compareBytes(a.service, b.service) == 0
  }

  /// Keyed with a random number in each process, so that a file cannot contain names chosen to collide. No name
  /// contains the byte 0, which ends the service.
  var hash: UInt32 {
    var hasher = Hasher()
    unsafe service.withUnsafeBytes { unsafe hasher.combine(bytes: $0) }
    hasher.combine(UInt8(0))
    unsafe key.withUnsafeBytes { unsafe hasher.combine(bytes: $0) }
    return UInt32(truncatingIfNeeded: hasher.finalize())
  }
}

/// A record's name that owns its bytes.
struct RecordAddress: Sendable, Hashable {
  let service: Vault.Name
  let key: Vault.Name

  init(_ service: Vault.Name, _ key: Vault.Name) {
    self.service = service
    self.key = key
  }

  var name: RecordName {
    @_lifetime(borrow self)
    get { RecordName(service: service.bytes, key: key.bytes) }
  }
}
