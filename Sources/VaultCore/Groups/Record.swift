internal import VaultSealing

/// A strictly parsed record: a view of its bytes in the group's buffers (`Docs/Format.md` 3.6).
///
/// Sixteen bytes without a reference. The group owns the buffers and outlives the record.
@safe struct Record {
  private let start: UnsafeRawPointer
  /// The length of the record, below 2^31, and in the highest bit whether the record is removed.
  private let countAndState: UInt32
  /// The hash of the name in this process; see ``RecordIndex``.
  let hash: UInt32

  /// The bytes between names and sealed value: kind, class, zero, created, modified, revision.
  static let fixedCount = 28
  /// The shortest record: names of one byte, an empty value, no extension.
  static let minimumCount = 3 + 3 + fixedCount + 4 + Sealer.overhead + 4
  /// The maximum length of a sealed value: the value, its seal, and the seal of the device layer.
  static func sealedLimit(_ accessibility: Vault.Accessibility, _ limits: Vault.Limits) -> Int {
    limits.valueBytes + accessibility.sealOverhead
  }

  /// Parses one record strictly and moves `reader` behind it.
  ///
  /// - Parameters:
  ///   - generation: the group's generation, which bounds the revision.
  ///   - revision: the required revision, in a journal entry.
  ///   - last: the preceding record, whose name must be lower.
  init(
    _ reader: inout ByteReader, generation: UInt64, revision expected: UInt64? = nil, after last: Record?,
    limits: Vault.Limits
  ) throws(VaultError) {
    let start = reader.position
    let name = RecordName(service: try reader.name(), key: try reader.name())
    if let last, !(last.name < name) { throw .malformed("the order of records") }
    hash = name.hash
    let fixed = try reader.bytes(Self.fixedCount)
    guard fixed.byte(at: 0) != 0, let accessibility = Vault.Accessibility(rawValue: fixed.byte(at: 1)),
      fixed.integer(at: 2, UInt16.self) == 0
    else { throw .malformed("a record's kind or class") }
    let revision = fixed.integer(at: 20, UInt64.self)
    guard expected == nil ? (revision >= 1 && revision <= generation) : revision == expected else {
      throw .malformed("a record's revision")
    }
    let sealed = try reader.lp32()
    // A removed record has an empty value without a device layer, and is known by its extension field.
    let isEmpty = sealed.byteCount == Sealer.overhead
    guard sealed.byteCount >= accessibility.sealOverhead || isEmpty else { throw .malformed("a sealed value") }
    guard sealed.byteCount <= Self.sealedLimit(accessibility, limits) else {
      throw VaultError(.limitExceeded, "a value is longer than the limit")
    }
    let isRemoved = try Extension.checkRecord(try reader.lp32(), revision: revision)
    if isRemoved {
      guard isEmpty, fixed.byte(at: 0) == ValueKind.data.rawValue else { throw .malformed("a removed record") }
    } else {
      guard sealed.byteCount >= accessibility.sealOverhead else { throw .malformed("a sealed value") }
    }
    countAndState = UInt32(reader.position - start) | (isRemoved ? Self.removedState : 0)
    unsafe self.start = unsafe reader.bytes(from: start).withUnsafeBytes { $0.baseAddress! }
  }

  private static let removedState: UInt32 = 1 << 31

  /// The length of the record, in bytes.
  var count: UInt32 { countAndState & ~Self.removedState }

  /// Whether the record is removed, and stored for a while only so that it can be restored. Reads do not find it.
  var isRemoved: Bool { countAndState & Self.removedState != 0 }

  var bytes: RawSpan {
    @_lifetime(borrow self)
    get { unsafe _overrideLifetime(UnsafeRawBufferPointer(start: start, count: Int(count)).bytes, borrowing: self) }
  }

  var name: RecordName {
    @_lifetime(borrow self)
    get {
      let key = 2 + Int(bytes.integer(at: 0, UInt16.self))
      return RecordName(
        service: bytes.extracting(2..<key), key: bytes.extracting(key + 2..<fixed))
    }
  }

  /// Names, kind, class, times and revision: everything before the sealed value's length.
  var bytesBeforeValue: RawSpan {
    @_lifetime(borrow self)
    get { bytes.extracting(..<(fixed + Self.fixedCount)) }
  }

  var kind: UInt8 { bytes.byte(at: fixed) }
  /// The class, which was checked when the record was parsed.
  var accessibility: Vault.Accessibility { Vault.Accessibility(rawValue: bytes.byte(at: fixed + 1))! }
  var created: Int64 { bytes.integer(at: fixed + 4) }
  var modified: Int64 { bytes.integer(at: fixed + 12) }
  var revision: UInt64 { bytes.integer(at: fixed + 20) }

  var sealedValue: RawSpan {
    @_lifetime(borrow self)
    get { lp32(at: fixed + Self.fixedCount) }
  }

  var extensionField: RawSpan {
    @_lifetime(borrow self)
    get { lp32(at: fixed + Self.fixedCount + 4 + sealedValue.byteCount) }
  }

  /// The expiry of the value, in milliseconds since 1970-01-01 UTC.
  func expiry() throws(VaultError) -> Int64? {
    var items = Extension.Items(extensionField)
    while let item = try items.next() {
      if item.tag == Extension.RecordTag.expiry { return item.data.integer(at: 0) }
    }
    return nil
  }

  /// When the record was removed, and until when it is kept; `nil` if it is not removed.
  func removal() throws(VaultError) -> Removal? {
    guard isRemoved else { return nil }
    var items = Extension.Items(extensionField)
    while let item = try items.next() {
      if item.tag == Extension.RecordTag.removal { return Removal(item.data) }
    }
    return nil
  }

  /// Whether the record is removed and the time for which it is kept has passed.
  func isDue(at now: Int64) throws(VaultError) -> Bool {
    guard let removal = try removal() else { return false }
    return removal.keptUntil <= now
  }

  /// The number of earlier values that the record keeps; `nil` if it was never set.
  func historyDepth() throws(VaultError) -> UInt16? {
    var items = Extension.Items(extensionField)
    while let item = try items.next() {
      if item.tag == Extension.RecordTag.depth { return item.data.integer(at: 0) }
    }
    return nil
  }

  /// The revision of the newest earlier value; `nil` if the record keeps none.
  func newestPrevious() throws(VaultError) -> UInt64? {
    var items = Extension.Items(extensionField)
    while let item = try items.next() {
      if item.tag == Extension.RecordTag.previous { return try PreviousValue(item.data).revision }
    }
    return nil
  }

  /// The earlier value of that revision.
  @_lifetime(borrow self)
  func previous(_ revision: UInt64) throws(VaultError) -> PreviousValue? {
    var items = Extension.Items(extensionField)
    while let item = try items.next() {
      guard item.tag == Extension.RecordTag.previous else { continue }
      let value = try PreviousValue(item.data)
      if value.revision == revision { return value }
    }
    return nil
  }

  /// The offset of the fixed fields, after the two names.
  private var fixed: Int {
    let key = 2 + Int(bytes.integer(at: 0, UInt16.self))
    return key + 2 + Int(bytes.integer(at: key, UInt16.self))
  }

  @_lifetime(borrow self)
  private func lp32(at offset: Int) -> RawSpan {
    let start = offset + 4
    return bytes.extracting(start..<start + Int(bytes.integer(at: offset, UInt32.self)))
  }
}
