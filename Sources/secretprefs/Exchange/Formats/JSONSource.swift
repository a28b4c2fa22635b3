internal import PreferenceFiles
internal import Preferences

/// Parses a JSON document whose top level is an object. Errors name the line and contain no text of the document.
struct JSONSource {
  private static let deepest = 64

  private var text: SourceText
  private var leaves: [JSONLeaf] = []

  static func leaves(of bytes: UnsafeMutableRawBufferPointer) throws(PreferencesError) -> [JSONLeaf] {
    guard isUTF8(UnsafeRawBufferPointer(bytes)) else { throw PreferencesError(.malformed, "not UTF-8") }
    var source = JSONSource(text: SourceText(bytes))
    source.skipSpace()
    guard source.text.next == UInt8(ascii: "{") else { throw source.text.malformed("the top level is not an object") }
    _ = source.text.take()
    try source.members(of: nil)
    source.skipSpace()
    guard source.text.next == nil else { throw source.text.malformed("text after the object") }
    return source.leaves
  }

  private init(text: SourceText) { self.text = text }

  private mutating func value(_ component: JSONPlace.Component, in outer: JSONPlace?) throws(PreferencesError) {
    skipSpace()
    let place = JSONPlace(component, in: outer)
    guard place.depth <= Self.deepest else { throw .limit("nested more than \(Self.deepest) deep", line: text.line) }
    guard place.nameBytes <= SourceText.longestName else {
      throw .limit("nested names of more than \(SourceText.longestName) bytes", line: text.line)
    }
    if text.skip(UInt8(ascii: "{")) { return try members(of: place) }
    if text.skip(UInt8(ascii: "[")) { return try elements(of: place) }
    guard leaves.count < PlainRecords.most else {
      throw .limit("more than \(PlainRecords.most) values", line: text.line)
    }
    let line = text.line
    if text.skip(UInt8(ascii: "\"")) {
      return leaves.append(JSONLeaf(place: place, kind: .text, bytes: try string(), line: line))
    }
    let start = text.position
    let kind = try literal()
    leaves.append(JSONLeaf(place: place, kind: kind, bytes: start..<text.position, line: line))
  }

  private mutating func members(of place: JSONPlace?) throws(PreferencesError) {
    skipSpace()
    if text.skip(UInt8(ascii: "}")) { return }
    repeat {
      skipSpace()
      guard text.skip(UInt8(ascii: "\"")) else { throw text.malformed("expected a name") }
      let name = try text.name(try string())
      skipSpace()
      guard text.skip(UInt8(ascii: ":")) else { throw text.malformed("expected a colon") }
      try value(.name(name), in: place)
      skipSpace()
    } while text.skip(UInt8(ascii: ","))
    guard text.skip(UInt8(ascii: "}")) else { throw text.malformed("an object that does not end") }
  }

  private mutating func elements(of place: JSONPlace) throws(PreferencesError) {
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

  // MARK: Scalars

  private mutating func literal() throws(PreferencesError) -> JSONLeaf.ScalarKind {
    if text.skip("true") || text.skip("false") { return .bool }
    if text.skip("null") { return .null }
    _ = text.skip(UInt8(ascii: "-"))
    guard text.skip(UInt8(ascii: "0")) || skipDigits() else { throw text.malformed("expected a value") }
    if text.skip(UInt8(ascii: ".")) {
      guard skipDigits() else { throw text.malformed("a number that does not end") }
    }
    if text.skip(UInt8(ascii: "e")) || text.skip(UInt8(ascii: "E")) {
      if !text.skip(UInt8(ascii: "+")) { _ = text.skip(UInt8(ascii: "-")) }
      guard skipDigits() else { throw text.malformed("a number that does not end") }
    }
    return .number
  }

  private mutating func skipDigits() -> Bool {
    let start = text.position
    text.skip { (0x30...0x39).contains($0) }
    return text.position > start
  }

  /// The string up to its closing quotation mark, decoded in place.
  private mutating func string() throws(PreferencesError) -> Range<Int> {
    let start = text.position
    var end = start
    while let byte = text.take() {
      switch byte {
      case UInt8(ascii: "\""): return start..<end
      case UInt8(ascii: "\\"):
        for unit in UTF8.encode(try escape())! {
          text.bytes[end] = unit
          end += 1
        }
      case 0..<0x20: throw text.malformed("a control character in a string")
      default:
        text.bytes[end] = byte
        end += 1
      }
    }
    throw text.malformed("a string that does not end")
  }

  private mutating func escape() throws(PreferencesError) -> Unicode.Scalar {
    switch text.take() {
    case UInt8(ascii: "\""): return "\""
    case UInt8(ascii: "\\"): return "\\"
    case UInt8(ascii: "/"): return "/"
    case UInt8(ascii: "b"): return "\u{8}"
    case UInt8(ascii: "f"): return "\u{C}"
    case UInt8(ascii: "n"): return "\n"
    case UInt8(ascii: "r"): return "\r"
    case UInt8(ascii: "t"): return "\t"
    case UInt8(ascii: "u"): break
    default: throw text.malformed("an unknown escape")
    }
    let unit = try codeUnit()
    guard (0xD800...0xDBFF).contains(unit) else {
      guard let scalar = Unicode.Scalar(unit) else { throw text.malformed("half a character") }
      return scalar
    }
    guard text.skip("\\u") else { throw text.malformed("half a character") }
    let low = try codeUnit()
    guard (0xDC00...0xDFFF).contains(low),
      let scalar = Unicode.Scalar(0x10000 + (unit - 0xD800) << 10 + (low - 0xDC00))
    else { throw text.malformed("half a character") }
    return scalar
  }

  private mutating func codeUnit() throws(PreferencesError) -> UInt32 {
    var unit: UInt32 = 0
    for _ in 0..<4 {
      guard let digit = text.take().flatMap(DecodedText.hexDigit) else { throw text.malformed("an unknown escape") }
      unit = unit << 4 | UInt32(digit)
    }
    return unit
  }

  private mutating func skipSpace() { text.skip(while: SourceText.isSpace) }
}
