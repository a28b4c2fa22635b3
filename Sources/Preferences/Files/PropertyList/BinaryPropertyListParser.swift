import FoundationEssentials

/// Parses version 00 of the binary format: objects, a table of their offsets, a trailer of 32 bytes.
///
/// Every offset, count and reference is checked before it is used.
struct BinaryPropertyListParser {
  private let bytes: [UInt8]
  private let offsetSize: Int
  private let referenceSize: Int
  private let objectCount: Int
  private let topObject: Int
  private let tableOffset: Int
  private let readsReferences: Bool
  private var budget = ValueBudget()

  /// - Parameter readsReferences: whether the references of keyed archives are read, as the dictionaries that represent
  ///   them in XML. They are not preferences.
  init(_ bytes: [UInt8], readingReferences readsReferences: Bool = false) throws(PreferencesError) {
    guard bytes.starts(with: "bplist00".utf8), bytes.count >= 8 + 32 else { throw Self.malformed(at: 0) }
    self.bytes = bytes
    self.readsReferences = readsReferences
    let trailer = bytes.count - 32
    offsetSize = Int(bytes[trailer + 6])
    referenceSize = Int(bytes[trailer + 7])
    guard let count = Int(exactly: Self.bigEndian(bytes[(trailer + 8)..<(trailer + 16)])),
      let top = Int(exactly: Self.bigEndian(bytes[(trailer + 16)..<(trailer + 24)])),
      let table = Int(exactly: Self.bigEndian(bytes[(trailer + 24)..<(trailer + 32)])),
      (1...8).contains(offsetSize), (1...8).contains(referenceSize),
      (8...trailer).contains(table), count <= (trailer - table) / offsetSize, top < count
    else { throw Self.malformed(at: trailer) }
    objectCount = count
    topObject = top
    tableOffset = table
  }

  mutating func parse() throws(PreferencesError) -> PreferenceValue {
    try value(topObject, depth: 0)
  }

  private mutating func value(_ object: Int, depth: Int) throws(PreferencesError) -> PreferenceValue {
    let start = try offset(of: object)
    var position = start + 1
    let low = Int(bytes[start] & 0x0F)
    switch bytes[start] {
    case 0x08, 0x09:
      try budget.spend(0, depth: depth)
      return .bool(bytes[start] == 0x09)
    case 0x10...0x14:
      try budget.spend(8, depth: depth)
      return try integer(1 << low, at: position)
    case 0x22:
      try budget.spend(8, depth: depth)
      return .double(Double(Float(bitPattern: UInt32(Self.bigEndian(try slice(4, at: position))))))
    case 0x23:
      try budget.spend(8, depth: depth)
      return .double(Double(bitPattern: Self.bigEndian(try slice(8, at: position))))
    case 0x33:
      try budget.spend(8, depth: depth)
      let seconds = Double(bitPattern: Self.bigEndian(try slice(8, at: position)))
      guard seconds.isFinite else { throw Self.malformed(at: start) }
      return .date(Date(timeIntervalSinceReferenceDate: seconds))
    case 0x40...0x4F:
      let content = try slice(try count(low, at: &position), at: position)
      try budget.spend(content.count, depth: depth)
      return .data(Data(content))
    case 0x50...0x6F:
      return .string(try string(at: start, depth: depth))
    case 0x80...0x87 where readsReferences:
      try budget.spend(8, depth: depth)
      guard let number = Int64(exactly: Self.bigEndian(try slice(low + 1, at: position))) else {
        throw Self.malformed(at: start)
      }
      return ["CF$UID": .integer(number)]
    case 0xA0...0xAF:
      try budget.spend(0, depth: depth)
      return .array(try array(try count(low, at: &position), at: position, depth: depth))
    case 0xD0...0xDF:
      try budget.spend(0, depth: depth)
      return .dictionary(try dictionary(try count(low, at: &position), at: position, depth: depth))
    default:
      // Includes null, sets and the references of keyed archives, which are not preferences.
      throw Self.malformed(at: start)
    }
  }

  private mutating func array(
    _ count: Int, at start: Int, depth: Int
  ) throws(PreferencesError) -> [PreferenceValue] {
    let references = try slice(count, of: referenceSize, at: start)
    var values: [PreferenceValue] = []
    for index in 0..<count {
      values.append(try value(try reference(index, in: references), depth: depth + 1))
    }
    return values
  }

  private mutating func dictionary(
    _ count: Int, at start: Int, depth: Int
  ) throws(PreferencesError) -> [String: PreferenceValue] {
    let keys = try slice(count, of: referenceSize, at: start)
    let references = try slice(count, of: referenceSize, at: keys.endIndex)
    var entries = EqualNames()
    for index in 0..<count {
      let key = try string(at: try offset(of: try reference(index, in: keys)), depth: depth + 1)
      let value = try value(try reference(index, in: references), depth: depth + 1)
      // Choosing one of two values would be a guess.
      guard entries.add(value, named: key) else { throw Self.malformed(at: start) }
    }
    return entries.members
  }

  private mutating func string(at start: Int, depth: Int) throws(PreferencesError) -> String {
    var position = start + 1
    let length = try count(Int(bytes[start] & 0x0F), at: &position)
    let string: String?
    switch bytes[start] {
    case 0x50...0x5F:
      let ascii = try slice(length, at: position)
      try budget.spend(ascii.count, depth: depth)
      string = ascii.allSatisfy { $0 < 0x80 } ? String(decoding: ascii, as: UTF8.self) : nil
    case 0x60...0x6F:
      let content = try slice(length, of: 2, at: position)
      try budget.spend(content.count, depth: depth)
      let units = (0..<length).map { unit in
        UInt16(content[position + 2 * unit]) << 8 | UInt16(content[position + 2 * unit + 1])
      }
      string = String(validating: units, as: UTF16.self)
    default:
      string = nil
    }
    guard let string else { throw Self.malformed(at: start) }
    return string
  }

  /// One, two and four bytes are unsigned, eight are signed; sixteen hold values above `Int64.max`.
  private func integer(_ size: Int, at position: Int) throws(PreferencesError) -> PreferenceValue {
    let content = try slice(size, at: position)
    let low = Self.bigEndian(content.suffix(8))
    switch (size, Self.bigEndian(content.dropLast(8))) {
    case (8, _): return .integer(Int64(bitPattern: low))
    case (16, .max) where low > Int64.max: return .integer(Int64(bitPattern: low))
    case (16, 0) where low > Int64.max: return .unsignedInteger(low)
    case (_, 0): return .integer(Int64(low))
    default: throw Self.malformed(at: position)
    }
  }

  /// The count in the low half of a marker or, when that is 15, in the integer that follows it.
  private func count(_ low: Int, at position: inout Int) throws(PreferencesError) -> Int {
    guard low == 0x0F else { return low }
    let marker = try slice(1, at: position).first ?? 0
    guard (0x10...0x13).contains(marker) else { throw Self.malformed(at: position) }
    let content = try slice(1 << Int(marker & 0x0F), at: position + 1)
    guard let count = Int(exactly: Self.bigEndian(content)) else { throw Self.malformed(at: position) }
    position = content.endIndex
    return count
  }

  private func offset(of object: Int) throws(PreferencesError) -> Int {
    let entry = tableOffset + object * offsetSize
    let offset = Self.bigEndian(bytes[entry..<(entry + offsetSize)])
    guard offset >= 8, offset < UInt64(tableOffset) else { throw Self.malformed(at: entry) }
    return Int(offset)
  }

  private func reference(_ index: Int, in references: ArraySlice<UInt8>) throws(PreferencesError) -> Int {
    let start = references.startIndex + index * referenceSize
    let object = Self.bigEndian(references[start..<(start + referenceSize)])
    guard object < UInt64(objectCount) else { throw Self.malformed(at: start) }
    return Int(object)
  }

  /// `count` elements of `size` bytes, all before the offset table.
  private func slice(
    _ count: Int, of size: Int = 1, at position: Int
  ) throws(PreferencesError) -> ArraySlice<UInt8> {
    guard position <= tableOffset, count <= (tableOffset - position) / size else {
      throw Self.malformed(at: position)
    }
    return bytes[position..<(position + count * size)]
  }

  private static func bigEndian(_ bytes: ArraySlice<UInt8>) -> UInt64 {
    bytes.reduce(0) { $0 << 8 | UInt64($1) }
  }

  private static func malformed(at position: Int) -> PreferencesError {
    PreferencesError(.malformed, "not a binary property list of plain values (byte \(position))")
  }
}
