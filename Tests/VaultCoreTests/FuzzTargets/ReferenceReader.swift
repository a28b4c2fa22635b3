@testable import VaultCore

/// Reads bytes as `Docs/Format.md` is written, with copies and without a shortcut: what the parsers are compared with.
struct ReferenceReader {
  private(set) var rest: ArraySlice<UInt8>

  init(_ bytes: [UInt8]) { rest = bytes[...] }

  mutating func take(_ count: Int) throws(VaultError) -> [UInt8] { Array(try slice(count)) }

  /// The little-endian number in the next `width` bytes.
  mutating func number(_ width: Int) throws(VaultError) -> UInt64 { Self.number(try slice(width)) }

  static func number(_ bytes: ArraySlice<UInt8>) -> UInt64 { bytes.reversed().reduce(0) { $0 << 8 | UInt64($1) } }

  /// LP16 or LP32, by the width of the length.
  mutating func counted(_ width: Int) throws(VaultError) -> [UInt8] { try take(Int(try number(width))) }

  mutating func name() throws(VaultError) -> [UInt8] {
    let name = try counted(2)
    guard Self.isName(name) else { throw VaultError(.invalidName, "not a name") }
    return name
  }

  mutating func generation() throws(VaultError) -> UInt64 {
    let generation = try number(8)
    guard generation >= 1, generation < 1 << 63 else { throw VaultError(.limitExceeded, "a generation") }
    return generation
  }

  /// A count of items that take at least `least` bytes each: first compared with its limit, then with what remains.
  mutating func count(_ width: Int, upTo limit: Int? = nil, least: Int) throws(VaultError) -> Int {
    let count = Int(try number(width))
    if let limit, count > limit { throw VaultError(.limitExceeded, "a count") }
    guard count * least <= rest.count else { throw .malformed("a count") }
    return count
  }

  func finish() throws(VaultError) {
    guard rest.isEmpty else { throw .malformed("bytes behind the end") }
  }

  private mutating func slice(_ count: Int) throws(VaultError) -> ArraySlice<UInt8> {
    guard count <= rest.count else { throw .malformed("what ends early") }
    defer { rest = rest.dropFirst(count) }
    return rest.prefix(count)
  }

  /// The items of an extension field: tags ascending, equal neighbours allowed.
  static func items(
    _ field: [UInt8], _ body: (UInt16, [UInt8]) throws(VaultError) -> Void = { _, _ in }
  ) throws(VaultError) {
    var reader = ReferenceReader(field)
    var last: UInt16 = 0
    while !reader.rest.isEmpty {
      let tag = UInt16(try reader.number(2))
      guard tag >= last else { throw .malformed("the order of tags") }
      last = tag
      try body(tag, try reader.counted(4))
    }
  }

  /// Section 2.5: 1 to 1024 bytes of UTF-8 without the characters U+0000–001F and U+007F–009F.
  static func isName(_ bytes: [UInt8]) -> Bool {
    guard (1...1024).contains(bytes.count), let text = String(validating: bytes, as: UTF8.self) else { return false }
    return text.unicodeScalars.allSatisfy { $0.value >= 0x20 && !(0x7F...0x9F).contains($0.value) }
  }
}
