/// Reads the fields of a message in the wire format of Protocol Buffers, without their names.
struct ProtobufParser {
  enum Value {
    case number(UInt64)
    case bytes(Range<Int>)
    /// Eight or four bytes, which are not read.
    case fixed
  }

  private let bytes: UnsafeMutableRawBufferPointer
  private var position: Int
  private let end: Int
  /// Whether all that was read so far is a message.
  private(set) var isWhole = true

  init(_ range: Range<Int>, in bytes: UnsafeMutableRawBufferPointer) {
    self.bytes = bytes
    position = range.lowerBound
    end = range.upperBound
  }

  /// The next field; `nil` at the end, and where the bytes are no message.
  mutating func next() -> (number: UInt64, value: Value)? {
    guard position < end else { return nil }
    guard let key = number(), let value = value(ofType: key & 7) else {
      isWhole = false
      position = end
      return nil
    }
    return (key >> 3, value)
  }

  private mutating func value(ofType type: UInt64) -> Value? {
    switch type {
    case 0: return number().map(Value.number)
    case 1: return skip(8)
    case 2:
      guard let count = number(), count <= UInt64(end - position) else { return nil }
      let start = position
      position += Int(count)
      return .bytes(start..<position)
    case 5: return skip(4)
    default: return nil
    }
  }

  private mutating func skip(_ count: Int) -> Value? {
    guard count <= end - position else { return nil }
    position += count
    return .fixed
  }

  /// A number of seven bits in each byte, the least first.
  private mutating func number() -> UInt64? {
    var number: UInt64 = 0
    for shift in stride(from: UInt64(0), to: 64, by: 7) {
      guard position < end else { return nil }
      let byte = bytes[position]
      position += 1
      number |= UInt64(byte & 0x7F) << shift
      if byte < 0x80 { return number }
    }
    return nil
  }
}
