internal import Preferences

/// Reads XML from front to back, and decodes texts in place. Foundation's parser would leave them in strings.
///
/// Declarations of entities are refused, so a text never becomes longer than its spelling.
struct GuardedXMLParser {
  private static let longestName = 100

  private(set) var text: InputText
  /// Where the names of the elements that are open are.
  private var open: [Range<Int>] = []
  /// Whether the innermost element has the form `<name/>`.
  private var isEmpty = false
  /// The attributes of the element that `child` returned last.
  private var attributes = 0..<0
  private var hasSkippedText = false

  init(_ bytes: UnsafeMutableRawBufferPointer) { text = InputText(bytes) }

  /// Opens the next child of the innermost open element and returns its name. At the end of that element, closes it
  /// and returns `nil`.
  ///
  /// - Throws: `malformed` if there is text between the elements.
  mutating func child() throws(PlainFault) -> String? { try child(skippingText: false) }

  /// Returns the text of the innermost element and closes it. It must have no children.
  mutating func content() throws(PlainFault) -> Range<Int> {
    let start = text.position
    guard !isEmpty else {
      close()
      return start..<start
    }
    var end = start
    while let byte = text.take() {
      switch byte {
      case UInt8(ascii: "<"):
        if text.skip("![CDATA[") {
          while !text.skip("]]>") {
            let byte = try required(text.take())
            appendText(byte, at: &end)
          }
        } else if text.skip("!--") {
          try skip(past: "-->")
        } else {
          guard text.skip("/") else { throw text.malformed("an element where text is expected") }
          try endTag()
          return start..<end
        }
      case UInt8(ascii: "&"): try reference(at: &end)
      default: appendText(byte, at: &end)
      }
    }
    throw unfinished()
  }

  /// Skips what is left of the innermost element, and closes it. Changes nothing in it.
  ///
  /// - Returns: whether it has text that is not blank.
  @discardableResult mutating func skip() throws(PlainFault) -> Bool {
    let depth = open.count
    hasSkippedText = false
    while open.count >= depth { _ = try child(skippingText: true) }
    return hasSkippedText
  }

  /// Whether the element that `child` returned last has an attribute with the value True. Does not decode references in
  /// it.
  func isTrue(_ attribute: String) -> Bool {
    ["\"", "'"].contains { quote in
      text.bytes[attributes].firstRange(of: Array(" \(attribute)=\(quote)True\(quote)".utf8)) != nil
    }
  }

  // MARK: Tags

  private mutating func child(skippingText: Bool) throws(PlainFault) -> String? {
    guard !isEmpty else {
      close()
      return nil
    }
    while true {
      text.skip(while: InputText.isSpace)
      if skippingText, text.next != UInt8(ascii: "<"), text.next != nil {
        hasSkippedText = true
        text.skip { $0 != UInt8(ascii: "<") }
      }
      guard let byte = text.take() else {
        guard open.isEmpty else { throw unfinished() }
        return nil
      }
      guard byte == UInt8(ascii: "<") else { throw text.malformed("text between the elements") }
      if text.skip("!--") {
        try skip(past: "-->")
      } else if text.skip("?") {
        try skip(past: "?>")
      } else if skippingText, text.skip("![CDATA[") {
        hasSkippedText = true
        try skip(past: "]]>")
      } else if text.skip("/") {
        try endTag()
        return nil
      } else {
        return try startTag()
      }
    }
  }

  private mutating func startTag() throws(PlainFault) -> String {
    let tag = try tagName()
    let start = text.position
    var quote: UInt8?
    while true {
      let byte = try required(text.take())
      if byte == quote {
        quote = nil
      } else if quote == nil {
        if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "'") { quote = byte }
        if byte == UInt8(ascii: ">") { break }
      }
    }
    attributes = start..<text.position - 1
    isEmpty = text.bytes[attributes].last == UInt8(ascii: "/")
    open.append(tag)
    guard open.count <= 200 else { throw text.malformed("elements nested too deeply") }
    return try name(tag)
  }

  /// The name of an element, or the beginning of one that is too long to be known.
  private func name(_ tag: Range<Int>) throws(PlainFault) -> String {
    guard tag.count > Self.longestName else { return try text.name(tag) }
    return String(decoding: text.bytes[tag.prefix(40)], as: UTF8.self) + "…"
  }

  private mutating func endTag() throws(PlainFault) {
    let tag = try tagName()
    guard let start = open.last, text.bytes[tag].elementsEqual(text.bytes[start]), text.skip(">") else {
      throw text.malformed("an element that is not closed")
    }
    open.removeLast()
  }

  private mutating func tagName() throws(PlainFault) -> Range<Int> {
    let start = text.position
    text.skip { !InputText.isSpace($0) && $0 != UInt8(ascii: ">") && $0 != UInt8(ascii: "/") }
    guard text.position > start, text.bytes[start] != UInt8(ascii: "!") else { throw text.malformed("not an element") }
    return start..<text.position
  }

  private mutating func close() {
    isEmpty = false
    open.removeLast()
  }

  // MARK: Text

  private func append(_ byte: UInt8, at end: inout Int) {
    text.bytes[end] = byte
    end += 1
  }

  /// Appends a byte as it is written. XML reads CR LF, and CR, as LF, also in CDATA.
  private func appendText(_ byte: UInt8, at end: inout Int) {
    guard byte == UInt8(ascii: "\r") else { return append(byte, at: &end) }
    if text.next != UInt8(ascii: "\n") { append(UInt8(ascii: "\n"), at: &end) }
  }

  /// Decodes a reference whose `&` was read.
  private mutating func reference(at end: inout Int) throws(PlainFault) {
    for (name, byte) in Self.entities where text.skip(name) { return append(byte, at: &end) }
    guard text.skip("#") else { throw text.malformed("an entity that XML does not define") }
    let radix: UInt8 = text.skip("x") ? 16 : 10
    var code: UInt32 = 0
    while let byte = text.take(), byte != UInt8(ascii: ";") {
      guard let digit = DecodedText.hexDigit(byte), digit < radix, code < 0x11_0000 else { throw notACharacter() }
      code = code * UInt32(radix) + UInt32(digit)
    }
    guard code > 0, let character = Unicode.Scalar(code) else { throw notACharacter() }
    for byte in UTF8.encode(character)! { append(byte, at: &end) }
  }

  private static let entities: [(StaticString, UInt8)] = [
    ("amp;", UInt8(ascii: "&")), ("lt;", UInt8(ascii: "<")), ("gt;", UInt8(ascii: ">")),
    ("quot;", UInt8(ascii: "\"")), ("apos;", UInt8(ascii: "'")),
  ]

  private mutating func skip(past end: StaticString) throws(PlainFault) {
    while !text.skip(end) { _ = try required(text.take()) }
  }

  private func required(_ byte: UInt8?) throws(PlainFault) -> UInt8 {
    guard let byte else { throw unfinished() }
    return byte
  }

  private func unfinished() -> PlainFault { text.malformed("the text ends within an element") }
  private func notACharacter() -> PlainFault { text.malformed("a reference to no character") }
}
