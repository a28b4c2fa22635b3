/// Reads a body from left to right. The first fault determines the error (`Docs/Format.md` section 4, step 3).
struct ByteReader: ~Escapable {
  private let bytes: RawSpan
  /// How many bytes have been read.
  private(set) var position = 0

  @_lifetime(copy bytes)
  init(_ bytes: RawSpan) { self.bytes = bytes }

  var remaining: Int { bytes.byteCount - position }

  @inline(__always)
  mutating func integer<I: FixedWidthInteger & BitwiseCopyable>(_: I.Type = I.self) throws(VaultError) -> I {
    guard remaining >= MemoryLayout<I>.size else { throw .endsEarly }
    defer { position += MemoryLayout<I>.size }
    return bytes.integer(at: position)
  }

  @inline(__always)
  @_lifetime(copy self)
  mutating func bytes(_ count: Int) throws(VaultError) -> RawSpan {
    guard count <= remaining else { throw .endsEarly }
    defer { position += count }
    return bytes.extracting(position..<position + count)
  }

  /// The bytes from `start` to the current position.
  @_lifetime(copy self)
  func bytes(from start: Int) -> RawSpan { bytes.extracting(start..<position) }

  @inline(__always)
  @_lifetime(copy self)
  mutating func lp16() throws(VaultError) -> RawSpan { try bytes(Int(try integer(UInt16.self))) }

  @inline(__always)
  @_lifetime(copy self)
  mutating func lp32() throws(VaultError) -> RawSpan { try bytes(Int(try integer(UInt32.self))) }

  @inline(__always)
  @_lifetime(copy self)
  mutating func name() throws(VaultError) -> RawSpan {
    let bytes = try lp16()
    guard Vault.Name.isValid(bytes) else { throw VaultError(.invalidName, "a name in the file is not valid") }
    return bytes
  }

  mutating func identifier() throws(VaultError) -> Vault.Identifier {
    Vault.Identifier(try bytes(Vault.Identifier.count))
  }

  mutating func tag() throws(VaultError) -> Vault.Tag { Vault.Tag(try bytes(Vault.Tag.count)) }

  mutating func generation() throws(VaultError) -> UInt64 { try Vault.Limits.checkedGeneration(try integer()) }

  /// Checks a count before memory is allocated for it: that many items must fit into the remaining bytes.
  func check(_ count: some BinaryInteger, itemsOfAtLeast size: Int) throws(VaultError) {
    guard Int(count) <= remaining / size else { throw .malformed("a count of items") }
  }

  func finish() throws(VaultError) {
    guard remaining == 0 else { throw .endsLate }
  }
}

/// Builds a body. The caller wipes it, because it contains names and sealed values.
struct ByteWriter {
  var bytes: [UInt8] = []

  var count: Int { bytes.count }

  mutating func integer<I: FixedWidthInteger & BitwiseCopyable>(_ value: I) {
    let value: InlineArray = [value.littleEndian]
    raw(unsafe value.span.bytes)
  }

  mutating func raw(_ more: RawSpan) { unsafe more.withUnsafeBytes { unsafe bytes.append(contentsOf: $0) } }
  mutating func raw(_ more: [UInt8]) { bytes.append(contentsOf: more) }
  mutating func raw(_ identifier: Vault.Identifier) { identifier.withSpan { raw($0) } }
  mutating func raw(_ tag: Vault.Tag) { tag.withSpan { raw($0) } }
  mutating func zeros(_ count: Int) { bytes += [UInt8](repeating: 0, count: count) }

  mutating func lp16(_ more: RawSpan) {
    integer(UInt16(more.byteCount))
    raw(more)
  }

  mutating func lp16(_ more: [UInt8]) { lp16(more.bytes) }

  mutating func lp32(_ more: RawSpan) {
    integer(UInt32(more.byteCount))
    raw(more)
  }

  mutating func lp32(_ more: [UInt8]) { lp32(more.bytes) }
}
