internal import VaultSealing

/// A strictly parsed record: a view of its bytes in the group's buffers (`Docs/Format.md` 3.6).
///
/// Sixteen bytes without a reference. The group owns the buffers.
struct Record {
  private let start: UnsafeRawPointer
  /// The length of the record, in bytes.
  let count: UInt32
  /// The hash of the name in this process; see ``RecordIndex``.
  let hash: UInt32

  /// The bytes between names and sealed value: kind, class, zero, created, modified, revision.
  static let fixedCount = 28
  /// The shortest record: names of one byte, an empty value, no extension.
  static let minimumCount = 3 + 3 + fixedCount + 4 + Sealer.overhead + 4
  /// The longest sealed value: the value, its seal, and the device layer's.
  static func sealedLimit(_ accessibility: Vault.Accessibility, _ limits: Vault.Limits) -> Int {
    limits.valueBytes + accessibility.sealOverhead
  }

  /// Parses one record strictly and moves `reader` behind it.
  ///
  /// - Parameters:
  ///   - generation: the group's, which bounds the revision.
  ///   - revision: the required revision, in a journal entry.
  ///   - last: the preceding record, whose name must be lower.
  init(
    _ reader: inout ByteReader, generation: UInt64, revision expected: UInt64? = nil, after last: Record?,
    limits: Vault.Limits
  ) throws(VaultError) {
    start = reader.position
    let service = try reader.name()
    let key = try reader.name()
    let name = RecordName(service: service.bytes, key: key.bytes)
    if let last, !(last.name < name) { throw .malformed("the order of records") }
    hash = name.hash
    let fixed = try reader.bytes(Self.fixedCount)
    guard fixed[0] != 0, let accessibility = Vault.Accessibility(rawValue: fixed[1]), fixed[2] == 0, fixed[3] == 0
    else {
      throw .malformed("a record's kind or class")
    }
    let revision = UInt64(littleEndian: fixed.loadUnaligned(fromByteOffset: 20, as: UInt64.self))
    guard expected == nil ? (revision >= 1 && revision <= generation) : revision == expected else {
      throw .malformed("a record's revision")
    }
    let sealed = try reader.lp32()
    guard sealed.count >= accessibility.sealOverhead else { throw .malformed("a sealed value") }
    guard sealed.count <= Self.sealedLimit(accessibility, limits) else {
      throw VaultError(.limitExceeded, "a value is longer than the limit")
    }
    try Extension.checkRecord(try reader.lp32(), revision: revision)
    count = UInt32(reader.position - start)
  }

  var name: RecordName {
    @_lifetime(borrow self)
    get {
      let (service, key) = (service, key)
      return unsafe _overrideLifetime(RecordName(service: service.bytes, key: key.bytes), borrowing: self)
    }
  }
  var bytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: start, count: Int(count)) }

  /// Names, kind, class, times and revision: everything before the sealed value's length.
  var bytesBeforeValue: UnsafeRawBufferPointer {
    UnsafeRawBufferPointer(start: start, count: fixed + Self.fixedCount - start)
  }

  var kind: UInt8 { fixed.load(as: UInt8.self) }
  /// The class, which was checked when the record was parsed.
  var accessibility: Vault.Accessibility { Vault.Accessibility(rawValue: (fixed + 1).load(as: UInt8.self))! }
  var created: Int64 { Int64(littleEndian: fixed.loadUnaligned(fromByteOffset: 4, as: Int64.self)) }
  var modified: Int64 { Int64(littleEndian: fixed.loadUnaligned(fromByteOffset: 12, as: Int64.self)) }
  var revision: UInt64 { UInt64(littleEndian: fixed.loadUnaligned(fromByteOffset: 20, as: UInt64.self)) }
  var sealedValue: UnsafeRawBufferPointer { lp32(fixed + Self.fixedCount) }

  var extensionField: UnsafeRawBufferPointer {
    let value = sealedValue
    return lp32(value.baseAddress! + value.count)
  }

  /// The expiry of the value, in milliseconds since 1970-01-01 UTC.
  func expiry() throws(VaultError) -> Int64? {
    var expiry: Int64?
    try Extension.forEach(extensionField) { (item) throws(VaultError) in
      guard item.tag == Extension.RecordTag.expiry else { return }
      expiry = Int64(littleEndian: item.data.loadUnaligned(as: Int64.self))
    }
    return expiry
  }

  /// The earlier value of that revision.
  func previous(_ revision: UInt64) throws(VaultError) -> PreviousValue? {
    var found: PreviousValue?
    try Extension.forEach(extensionField) { (item) throws(VaultError) in
      guard item.tag == Extension.RecordTag.previous else { return }
      let value = try PreviousValue(item.data)
      if value.revision == revision { found = value }
    }
    return found
  }

  private var service: UnsafeRawBufferPointer { lp16(start) }

  private var key: UnsafeRawBufferPointer {
    let service = service
    return lp16(service.baseAddress! + service.count)
  }

  private var fixed: UnsafeRawPointer {
    let key = key
    return key.baseAddress! + key.count
  }

  private func lp16(_ at: UnsafeRawPointer) -> UnsafeRawBufferPointer {
    UnsafeRawBufferPointer(start: at + 2, count: Int(UInt16(littleEndian: at.loadUnaligned(as: UInt16.self))))
  }

  private func lp32(_ at: UnsafeRawPointer) -> UnsafeRawBufferPointer {
    UnsafeRawBufferPointer(start: at + 4, count: Int(UInt32(littleEndian: at.loadUnaligned(as: UInt32.self))))
  }
}
