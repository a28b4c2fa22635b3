internal import Preferences

/// Parses a JSON document whose top level is an object. Faults have no text of the document.
struct GuardedJSONParser {
  private static let deepest = 64

  var text: InputText
  private var leaves: [JSONLeaf] = []
  private var faults: [PlainFault] = []
  /// How many of the members around the present value are left out.
  private var discarded = 0

  /// The values of a document. Changes nothing in it.
  /// - Throws: The first bad part.
  static func leaves(of bytes: UnsafeMutableRawBufferPointer) throws(PlainFault) -> [JSONLeaf] {
    let (leaves, faults) = try parts(of: bytes)
    if let first = faults.first { throw first }
    return leaves
  }

  /// The values of a document, and the members that are left out because of their names. Changes nothing in it.
  static func parts(
    of bytes: UnsafeMutableRawBufferPointer
  ) throws(PlainFault) -> (leaves: [JSONLeaf], faults: [PlainFault]) {
    guard isUTF8(UnsafeRawBufferPointer(bytes)) else { throw PlainFault(line: 0, reason: "not UTF-8") }
    var parser = GuardedJSONParser(text: InputText(bytes))
    parser.skipSpace()
    guard parser.text.next == UInt8(ascii: "{") else {
      let isComment = parser.text.next.map { "/#".utf8.contains($0) } ?? false
      throw parser.text.malformed(isComment ? "a comment, which JSON does not have" : "the top level is not an object")
    }
    _ = parser.text.take()
    try parser.members(of: nil)
    parser.skipSpace()
    guard parser.text.next == nil else { throw parser.text.malformed("text after the object") }
    return (parser.leaves, parser.faults)
  }

  /// Decodes the texts in place.
  ///
  /// - Parameter keepingArrays: whether arrays stay as they are written, and the texts in them.
  static func decoded(
    _ leaves: [JSONLeaf], in bytes: UnsafeMutableRawBufferPointer, keepingArrays: Bool = false
  ) -> [JSONLeaf] {
    var leaves = leaves
    for index in leaves.indices where leaves[index].kind == .text && !(keepingArrays && leaves[index].isInArray) {
      leaves[index].bytes = decoded(leaves[index].bytes, in: bytes)
    }
    return leaves
  }

  /// Decodes a text that was found to be valid.
  private static func decoded(_ range: Range<Int>, in bytes: UnsafeMutableRawBufferPointer) -> Range<Int> {
    guard bytes[range].contains(UInt8(ascii: "\\")) else { return range }
    var parser = GuardedJSONParser(text: InputText(bytes, from: range.lowerBound))
    var end = range.lowerBound
    do throws(PlainFault) {
      try parser.string { byte in
        bytes[end] = byte
        end += 1
      }
    } catch { return range }
    return range.lowerBound..<end
  }

  /// A member of an object, or an element of an array, and where its value is.
  struct Item {
    var name: String?
    var value: Range<Int>
  }

  /// The items of the object or array that begins at `start`, and where it ends. Changes nothing in it.
  ///
  /// - Parameter line: its line, which faults name.
  static func items(
    of bytes: UnsafeMutableRawBufferPointer, from start: Int, line: Int
  ) throws(PlainFault) -> (items: [Item], end: Int) {
    var parser = GuardedJSONParser(text: InputText(bytes, from: start))
    // Only their places count.
    parser.discarded = 1
    do throws(PlainFault) { return (try parser.items(), parser.text.position) } catch {
      throw PlainFault(line: line + max(error.line - 1, 0), reason: error.reason, isLimit: error.isLimit)
    }
  }

  /// Decodes the text between quotation marks in place, and returns where it is; `nil` for any other value.
  static func text(_ value: Range<Int>, in bytes: UnsafeMutableRawBufferPointer) -> Range<Int>? {
    guard value.count >= 2, bytes[value.lowerBound] == UInt8(ascii: "\"") else { return nil }
    return decoded(value.lowerBound + 1..<value.upperBound - 1, in: bytes)
  }

  private mutating func items() throws(PlainFault) -> [Item] {
    let isObject = text.skip(UInt8(ascii: "{"))
    guard isObject || text.skip(UInt8(ascii: "[")) else { throw text.malformed("no object and no list") }
    let end = UInt8(ascii: isObject ? "}" : "]")
    var items: [Item] = []
    skipSpace()
    if text.skip(end) { return items }
    repeat {
      skipSpace()
      var name: String?
      if isObject {
        guard text.skip(UInt8(ascii: "\"")) else { throw text.malformed("expected a name") }
        name = try self.name()
        skipSpace()
        guard name != nil, text.skip(UInt8(ascii: ":")) else { throw text.malformed("expected a colon") }
        skipSpace()
      }
      guard items.count < PlainRecords.most else { throw text.malformed("more than \(PlainRecords.most) values") }
      let start = text.position
      try value(.index(0), in: nil)
      items.append(Item(name: name, value: start..<text.position))
      skipSpace()
    } while text.skip(UInt8(ascii: ","))
    guard text.skip(end) else { throw text.malformed("an object or a list that does not end") }
    return items
  }

  /// Whether `bytes` are one JSON value.
  static func isValue(_ bytes: UnsafeMutableRawBufferPointer) -> Bool {
    guard isUTF8(UnsafeRawBufferPointer(bytes)) else { return false }
    var parser = GuardedJSONParser(text: InputText(bytes))
    do throws(PlainFault) {
      try parser.value(.index(0), in: nil)
      parser.skipSpace()
      return parser.text.next == nil
    } catch { return false }
  }

  private init(text: InputText) { self.text = text }

  private mutating func value(_ component: JSONPosition.Component, in outer: JSONPosition?) throws(PlainFault) {
    skipSpace()
    let place = JSONPosition(component, in: outer)
    guard place.depth <= Self.deepest else { throw .limit("nested more than \(Self.deepest) deep", line: text.line) }
    guard discarded > 0 || place.nameBytes <= InputText.longestName else {
      return try discard(
        .limit("nested names of more than \(InputText.longestName) bytes", line: text.line), in: outer)
    }
    guard leaves.count < PlainRecords.most else {
      throw .limit("more than \(PlainRecords.most) values", line: text.line)
    }
    let (line, start, index) = (text.line, text.position, leaves.count)
    let kind: JSONLeaf.LeafKind
    switch text.next {
    case UInt8(ascii: "{"):
      _ = text.take()
      let faultCount = faults.count
      try members(of: place)
      // An object all of whose members are bad is not empty.
      guard leaves.count == index, faults.count == faultCount else { return }
      kind = .emptyObject
    case UInt8(ascii: "["):
      _ = text.take()
      // In front of its elements.
      add(JSONLeaf(place: place, kind: .array, bytes: start..<start, line: line))
      try elements(of: place)
      if discarded == 0 { leaves[index].bytes = start..<text.position }
      return
    case UInt8(ascii: "\""):
      _ = text.take()
      try string { _ in }
      return add(JSONLeaf(place: place, kind: .text, bytes: start + 1..<text.position - 1, line: line))
    default: kind = try literal()
    }
    add(JSONLeaf(place: place, kind: kind, bytes: start..<text.position, line: line))
  }

  private mutating func add(_ leaf: JSONLeaf) { if discarded == 0 { leaves.append(leaf) } }

  /// Reads the next value, and leaves it out. The fault has the name of the object around it.
  private mutating func discard(_ fault: PlainFault, in outer: JSONPosition?) throws(PlainFault) {
    if discarded == 0 {
      guard faults.count < PlainRecords.most else {
        throw .tooMuch("more than \(PlainRecords.most) bad members", line: fault.line)
      }
      let name = outer.map { $0.path.map(\.text).joined(separator: ".") } ?? ""
      faults.append(
        PlainFault(line: fault.line, name: PlainRecords.shown(name), reason: fault.reason, isLimit: fault.isLimit))
    }
    discarded += 1
    try value(.index(0), in: outer)
    discarded -= 1
  }

  private mutating func members(of place: JSONPosition?) throws(PlainFault) {
    skipSpace()
    if text.skip(UInt8(ascii: "}")) { return }
    repeat {
      skipSpace()
      guard text.skip(UInt8(ascii: "\"")) else { throw text.malformed("expected a name") }
      let line = text.line
      let name = try name()
      skipSpace()
      guard text.skip(UInt8(ascii: ":")) else { throw text.malformed("expected a colon") }
      if let name {
        try value(.name(name), in: place)
      } else {
        try discard(.limit("a name of more than \(InputText.longestName) bytes", line: line), in: place)
      }
      skipSpace()
    } while text.skip(UInt8(ascii: ","))
    guard text.skip(UInt8(ascii: "}")) else { throw text.malformed("an object that does not end") }
  }

  private mutating func elements(of place: JSONPosition) throws(PlainFault) {
    skipSpace()
    if text.skip(UInt8(ascii: "]")) { return }
    var index = 0
    repeat {
      try value(.index(index), in: place)
      index += 1
      skipSpace()
    } while text.skip(UInt8(ascii: ","))
    guard text.skip(UInt8(ascii: "]")) else { throw text.malformed("an array that does not end") }
  }

  mutating func skipSpace() { text.skip(while: InputText.isSpace) }
}
