/// What everything here is made of. Nothing in these files is secret, so nothing is guarded or wiped.
typealias Bytes = [UInt8]

extension Bytes {
  init(_ text: String) { self = Array(text.utf8) }

  static func zeros(_ count: Int) -> Bytes { Bytes(repeating: 0, count: count) }

  /// The bytes `first`, `first` + 1, … of a fixed key.
  static func run(from first: UInt8, count: Int = 32) -> Bytes {
    (0..<count).map { first &+ UInt8(truncatingIfNeeded: $0) }
  }

  /// An integer in the format's byte order.
  static func integer(_ value: some FixedWidthInteger) -> Bytes {
    Swift.withUnsafeBytes(of: value.littleEndian) { Bytes($0) }
  }

  static func lp16(_ bytes: Bytes) -> Bytes { integer(UInt16(bytes.count)) + bytes }
  static func lp32(_ bytes: Bytes) -> Bytes { integer(UInt32(bytes.count)) + bytes }

  var hexadecimal: String {
    let digits = Array("0123456789abcdef".utf8)
    return String(decoding: flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
  }

  mutating func store(_ value: some FixedWidthInteger, at offset: Int) {
    let bytes = Bytes.integer(value)
    replaceSubrange(offset..<offset + bytes.count, with: bytes)
  }

  mutating func store(_ bytes: Bytes, at offset: Int) {
    replaceSubrange(offset..<offset + bytes.count, with: bytes)
  }

  mutating func flip(at offset: Int) { self[offset] ^= 1 }

  /// The tag of a sealed thing: its bytes 24–55 (2.2).
  var tag: Bytes { Bytes(self[24..<56]) }
}
