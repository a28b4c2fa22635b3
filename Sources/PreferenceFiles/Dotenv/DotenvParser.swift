package import Preferences

/// One assignment of a dotenv file, and where it is.
package struct DotenvEntry {
  package let name: String
  /// The decoded value in the parsed buffer. Contains no NUL, but possibly bytes that are not UTF-8.
  package let text: Range<Int>
  /// The number of its first line, from 1.
  package let line: Int
  /// The bytes from the beginning of the first line to the end of the last, with the line ending.
  let lines: Range<Int>
  /// The bytes of the value in the file, with its quotes.
  let value: Range<Int>
}

/// Parses a dotenv file; ``DotenvFormat`` has the syntax. Errors contain the number of a line and no text.
///
/// Values are decoded in place, because a value is never longer than its spelling: a secret needs no second buffer.
package struct DotenvParser {
  private let bytes: UnsafeMutableRawBufferPointer
  private var position = 0
  private var line = 1
  /// The line that an error names: the first line of the current entry.
  private var firstLine = 1

  /// - Parameter bytes: the file, which outlives the parser.
  package init(_ bytes: UnsafeMutableRawBufferPointer) { self.bytes = bytes }

  /// The next assignment; `nil` at the end.
  package mutating func nextEntry() throws(PreferencesError) -> DotenvEntry? {
    if position == 0, bytes.starts(with: [0xEF, 0xBB, 0xBF]) { position = 3 }
    while position < bytes.count {
      let start = position
      firstLine = line
      skipBlanks()
      if next == UInt8(ascii: "#") { skipComment() }
      if skipLineEnd() { continue }
      return try entry(from: start)
    }
    return nil
  }

  package static func isName(_ name: String) -> Bool {
    guard let first = name.utf8.first, isLetter(first) else { return false }
    return name.utf8.allSatisfy(isInName)
  }

  private mutating func entry(from start: Int) throws(PreferencesError) -> DotenvEntry {
    var name = word()
    if name == "export", let next, Self.isBlank(next) {
      skipBlanks()
      name = word()
    }
    skipBlanks()
    guard Self.isName(name), next == UInt8(ascii: "=") else { throw malformed("not NAME=value") }
    position += 1
    let (text, value) = try value()
    guard !bytes[text].contains(0) else { throw malformed("a NUL byte") }
    return DotenvEntry(name: name, text: text, line: firstLine, lines: start..<position, value: value)
  }

  /// Reads the rest of the line, or of several lines.
  private mutating func value() throws(PreferencesError) -> (text: Range<Int>, place: Range<Int>) {
    let afterEquals = position
    skipBlanks()
    let first = position
    let text: Range<Int>
    switch next {
    case UInt8(ascii: "`"): throw malformed("a value that begins with a backquote")
    case UInt8(ascii: "'"), UInt8(ascii: "\""): text = try quoted()
    default:
      text = unquoted(after: afterEquals)
      // Some programs would continue with the next line.
      guard bytes[text].last != UInt8(ascii: "\\") else { throw malformed("a backslash at the end") }
      guard !bytes[text].contains(UInt8(ascii: "\r")) else {
        throw malformed("a carriage return that ends no line")
      }
    }
    // A new value replaces an empty one directly after the equals sign, before the blanks of a comment.
    let place = text.isEmpty && position == first ? afterEquals..<afterEquals : first..<position
    let end = position
    skipBlanks()
    if next == UInt8(ascii: "#"), position > end || position == first { skipComment() }
    guard skipLineEnd() else { throw malformed("text behind the value") }
    return (text, place)
  }

  private mutating func quoted() throws(PreferencesError) -> Range<Int> {
    let quote = bytes[position]
    position += 1
    let start = position
    var end = start
    while var byte = next {
      position += 1
      if byte == quote { return start..<end }
      if byte == UInt8(ascii: "\n") { line += 1 }
      if byte == UInt8(ascii: "\\"), quote == UInt8(ascii: "\""), let escaped = next.flatMap(Self.escaped) {
        byte = escaped
        position += 1
      }
      bytes[end] = byte
      end += 1
    }
    throw malformed("a quote that is not closed")
  }

  /// The value up to a comment or the end of the line, without the blanks around it.
  private mutating func unquoted(after equals: Int) -> Range<Int> {
    let first = position
    var end = first
    while !isAtLineEnd, let byte = next {
      if byte == UInt8(ascii: "#"), position > equals, Self.isBlank(bytes[position - 1]) { break }
      position += 1
      if !Self.isBlank(byte) { end = position }
    }
    position = end
    return first..<end
  }

  // MARK: Bytes

  private var next: UInt8? { position < bytes.count ? bytes[position] : nil }

  private mutating func word() -> String {
    let start = position
    while let next, Self.isInName(next) { position += 1 }
    return String(decoding: bytes[start..<position], as: UTF8.self)
  }

  private mutating func skipBlanks() {
    while let next, Self.isBlank(next) { position += 1 }
  }

  private mutating func skipComment() {
    while let next, next != UInt8(ascii: "\n") { position += 1 }
  }

  private var isAtLineEnd: Bool {
    guard let next else { return true }
    return next == UInt8(ascii: "\n")
      || (next == UInt8(ascii: "\r") && position + 1 < bytes.count && bytes[position + 1] == UInt8(ascii: "\n"))
  }

  /// Skips the line ending; false if there is none.
  private mutating func skipLineEnd() -> Bool {
    guard isAtLineEnd else { return false }
    if next == UInt8(ascii: "\r") { position += 1 }
    if next != nil {
      position += 1
      line += 1
    }
    return true
  }

  private static func isBlank(_ byte: UInt8) -> Bool { byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") }

  private static func isLetter(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "_"): true
    default: false
    }
  }

  private static func isInName(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."): true
    default: isLetter(byte)
    }
  }

  private static func escaped(_ byte: UInt8) -> UInt8? {
    switch byte {
    case UInt8(ascii: "n"): UInt8(ascii: "\n")
    case UInt8(ascii: "r"): UInt8(ascii: "\r")
    case UInt8(ascii: "t"): UInt8(ascii: "\t")
    case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "$"), UInt8(ascii: "`"): byte
    default: nil
    }
  }

  private func malformed(_ what: String) -> PreferencesError {
    PreferencesError(.malformed, "line \(firstLine): \(what)")
  }
}
