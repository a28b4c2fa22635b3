/// Reads a body from left to right. The first fault determines the error (`Docs/Format.md` section 4, step 3).
struct ByteReader {
  private(set) var position: UnsafeRawPointer
  let end: UnsafeRawPointer

  init(_ bytes: UnsafeRawBufferPointer) {
    position = bytes.baseAddress!
    end = position + bytes.count
  }

  var remaining: Int { end - position }

  @inline(__always)
  mutating func integer<I: FixedWidthInteger>(_: I.Type = I.self) throws(VaultError) -> I {
    guard remaining >= MemoryLayout<I>.size else { throw .malformed("a body that ends early") }
    defer { position += MemoryLayout<I>.size }
    return I(littleEndian: position.loadUnaligned(as: I.self))
  }

  @inline(__always)
  mutating func bytes(_ count: Int) throws(VaultError) -> UnsafeRawBufferPointer {
    guard count <= remaining else { throw .malformed("a body that ends early") }
    defer { position += count }
    return UnsafeRawBufferPointer(start: position, count: count)
  }

  @inline(__always)
  mutating func lp16() throws(VaultError) -> UnsafeRawBufferPointer {
    try bytes(Int(try integer(UInt16.self)))
  }

  @inline(__always)
  mutating func lp32() throws(VaultError) -> UnsafeRawBufferPointer {
    try bytes(Int(try integer(UInt32.self)))
  }

  @inline(__always)
  mutating func name() throws(VaultError) -> UnsafeRawBufferPointer {
    let bytes = try lp16()
    guard Vault.Name.isValid(bytes.bytes) else { throw VaultError(.invalidName, "a name in the file breaks the rule") }
    return bytes
  }

  mutating func identifier() throws(VaultError) -> Vault.Identifier {
    Vault.Identifier(try bytes(Vault.Identifier.count).bytes)
  }

  mutating func tag() throws(VaultError) -> Vault.Tag { Vault.Tag(try bytes(Vault.Tag.count).bytes) }

  mutating func generation() throws(VaultError) -> UInt64 {
    let value = try integer(UInt64.self)
    guard Vault.Limits.generations.contains(value) else {
      throw VaultError(.limitExceeded, "a generation is outside 1 to 2^63 - 1")
    }
    return value
  }

  /// Checks a count before memory is allocated for it: that many items must fit into the remaining bytes.
  func check(_ count: some BinaryInteger, itemsOfAtLeast size: Int) throws(VaultError) {
    guard Int(count) <= remaining / size else { throw .malformed("a count of items") }
  }

  func finish() throws(VaultError) {
    guard remaining == 0 else { throw .malformed("a body with bytes behind its end") }
  }
}

/// Builds a body. The caller wipes it, because it holds names and sealed values.
struct ByteWriter {
  var bytes: [UInt8] = []

  var count: Int { bytes.count }

  mutating func integer(_ value: some FixedWidthInteger) {
    withUnsafeBytes(of: value.littleEndian) { bytes.append(contentsOf: $0) }
  }

  mutating func raw(_ more: UnsafeRawBufferPointer) { bytes.append(contentsOf: more) }
  mutating func raw(_ more: [UInt8]) { bytes.append(contentsOf: more) }
  mutating func raw(_ identifier: Vault.Identifier) { identifier.withUnsafeBytes { raw($0) } }
  mutating func raw(_ tag: Vault.Tag) { tag.withUnsafeBytes { raw($0) } }
  mutating func zeros(_ count: Int) { bytes += [UInt8](repeating: 0, count: count) }

  mutating func lp16(_ more: UnsafeRawBufferPointer) {
    integer(UInt16(more.count))
    raw(more)
  }

  mutating func lp16(_ more: [UInt8]) { more.withUnsafeBytes { lp16($0) } }

  mutating func lp32(_ more: UnsafeRawBufferPointer) {
    integer(UInt32(more.count))
    raw(more)
  }

  mutating func lp32(_ more: [UInt8]) { more.withUnsafeBytes { lp32($0) } }
}
