internal import DurableFiles

extension Vault {
  /// The id of a vault, a group or a slot: sixteen bytes, ordered by their bytes.
  public struct Identifier: Sendable, Hashable, Comparable, CustomStringConvertible {
    static let count = 16
    static let zero = Vault.Identifier(high: 0, low: 0)

    // Big-endian, so that comparing numbers compares bytes.
    private let high: UInt64
    private let low: UInt64

    private init(high: UInt64, low: UInt64) {
      self.high = high
      self.low = low
    }

    /// The sixteen bytes at `offset`.
    init(_ bytes: RawSpan, at offset: Int = 0) {
      high = bytes.integer(at: offset, UInt64.self).byteSwapped
      low = bytes.integer(at: offset + 8, UInt64.self).byteSwapped
    }

    init(_ bytes: [UInt8]) {
      precondition(bytes.count == Self.count)
      self.init(bytes.bytes)
    }

    func withSpan<R>(_ body: (RawSpan) -> R) -> R {
      let words: InlineArray = [high.bigEndian, low.bigEndian]
      return body(unsafe words.span.bytes)
    }

    var bytes: [UInt8] { withSpan { $0.copy } }

    public static func < (a: Vault.Identifier, b: Vault.Identifier) -> Bool {
      a.high != b.high ? a.high < b.high : a.low < b.low
    }

    /// 32 lower-case hex digits.
    public var description: String { bytes.hexadecimal }
  }
}

extension Vault {
  /// The 32-byte tag of a seal, or another 32-byte hash.
  public struct Tag: Sendable, Hashable, CustomStringConvertible {
    static let count = 32
    static let zero = Vault.Tag(a: 0, b: 0, c: 0, d: 0)

    // The bytes as they are in memory, whatever the machine's order.
    private let a, b, c, d: UInt64

    private init(a: UInt64, b: UInt64, c: UInt64, d: UInt64) {
      self.a = a
      self.b = b
      self.c = c
      self.d = d
    }

    /// The 32 bytes at `offset`.
    init(_ bytes: RawSpan, at offset: Int = 0) {
      a = bytes.integer(at: offset, UInt64.self).littleEndian
      b = bytes.integer(at: offset + 8, UInt64.self).littleEndian
      c = bytes.integer(at: offset + 16, UInt64.self).littleEndian
      d = bytes.integer(at: offset + 24, UInt64.self).littleEndian
    }

    func withSpan<R>(_ body: (RawSpan) -> R) -> R {
      let words: InlineArray = [a, b, c, d]
      return body(unsafe words.span.bytes)
    }

    /// 64 lower-case hex digits.
    public var description: String { withSpan { $0.copy }.hexadecimal }
  }
}
