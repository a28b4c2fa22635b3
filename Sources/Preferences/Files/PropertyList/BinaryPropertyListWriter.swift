import FoundationEssentials

/// Writes version 00 of the binary format: objects, a table of their offsets, a trailer of 32 bytes.
struct BinaryPropertyListWriter {
  private var bytes = Array("bplist00".utf8)
  private var offsets: [Int] = []
  private let referenceSize: Int

  /// - Parameter top: a value that the format can represent.
  static func file(_ top: PreferenceValue) -> [UInt8] {
    let count = objectCount(top)
    var writer = BinaryPropertyListWriter(referenceSize: size(of: count))
    _ = writer.append(top)
    return writer.finished()
  }

  private init(referenceSize: Int) { self.referenceSize = referenceSize }

  /// Appends a value after the objects that it refers to.
  ///
  /// - Returns: the number of its object.
  private mutating func append(_ value: PreferenceValue) -> Int {
    switch value {
    case .string(let text): return append(text)
    case .url(let url): return append(url.absoluteString)
    case .data(let data): return appendObject(0x40, count: data.count, content: Array(data))
    case .bool(let flag): return appendObject([flag ? 0x09 : 0x08])
    case .integer(let number): return appendObject([0x13] + Self.bigEndian(UInt64(bitPattern: number), 8))
    case .unsignedInteger(let number):
      // Eight bytes are signed.
      let high = [UInt8](repeating: 0, count: 8)
      return appendObject([0x14] + high + Self.bigEndian(number, 8))
    case .double(let number): return appendObject([0x23] + Self.bigEndian(number.bitPattern, 8))
    case .date(let date):
      return appendObject([0x33] + Self.bigEndian(date.timeIntervalSinceReferenceDate.bitPattern, 8))
    case .array(let items):
      let references = items.map { append($0) }
      return appendObject(0xA0, count: items.count, content: references.flatMap(reference))
    case .dictionary(let members):
      let members = EqualNames.entries(of: members)
      let references = members.map { append($0.key) } + members.map { append($0.value) }
      return appendObject(0xD0, count: members.count, content: references.flatMap(reference))
    }
  }

  private mutating func append(_ text: String) -> Int {
    let isASCII = text.utf8.allSatisfy { $0 < 0x80 }
    if isASCII { return appendObject(0x50, count: text.utf8.count, content: Array(text.utf8)) }
    let units = text.utf16.flatMap { [UInt8($0 >> 8), UInt8($0 & 0xFF)] }
    return appendObject(0x60, count: units.count / 2, content: units)
  }

  private mutating func appendObject(_ marker: UInt8, count: Int, content: [UInt8]) -> Int {
    if count < 15 { return appendObject([marker | UInt8(count)] + content) }
    return appendObject([marker | 0x0F, 0x13] + Self.bigEndian(UInt64(count), 8) + content)
  }

  private mutating func appendObject(_ object: [UInt8]) -> Int {
    offsets.append(bytes.count)
    bytes += object
    return offsets.count - 1
  }

  private mutating func finished() -> [UInt8] {
    let table = bytes.count
    let offsetSize = Self.size(of: table)
    for offset in offsets { bytes += Self.bigEndian(UInt64(offset), offsetSize) }
    bytes += [0, 0, 0, 0, 0, 0, UInt8(offsetSize), UInt8(referenceSize)]
    bytes += Self.bigEndian(UInt64(offsets.count), 8)
    // The top object is the last: an object is written after those that it refers to.
    bytes += Self.bigEndian(UInt64(offsets.count - 1), 8)
    bytes += Self.bigEndian(UInt64(table), 8)
    return bytes
  }

  private func reference(_ object: Int) -> [UInt8] { Self.bigEndian(UInt64(object), referenceSize) }

  private static func objectCount(_ value: PreferenceValue) -> Int {
    switch value {
    case .array(let items): items.reduce(1) { $0 + objectCount($1) }
    case .dictionary(let members): EqualNames.entries(of: members).reduce(1) { $0 + 1 + objectCount($1.value) }
    default: 1
    }
  }

  /// The size in bytes of an integer that holds every number up to `number`.
  private static func size(of number: Int) -> Int {
    switch number {
    case ...0xFF: 1
    case ...0xFFFF: 2
    case ...0xFFFF_FFFF: 4
    default: 8
    }
  }

  private static func bigEndian(_ number: UInt64, _ size: Int) -> [UInt8] {
    (0..<size).reversed().map { UInt8(truncatingIfNeeded: number >> (8 * UInt64($0))) }
  }
}
