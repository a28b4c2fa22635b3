import Preferences

/// One assignment of a dotenv file, and where it is.
struct DotenvEntry {
  let name: String
  let text: String
  /// The bytes from the beginning of the first line to the end of the last, with the line ending.
  let lines: Range<Int>
  /// The bytes of the value, with its quotes.
  let value: Range<Int>
}

/// Parses a dotenv file; ``DotenvFormat`` has the syntax. Errors contain the number of a line and no text.
struct DotenvParser {
  private let bytes: [UInt8]
  private var position = 0

  init(_ bytes: [UInt8]) { self.bytes = bytes }

  mutating func entries() throws(PreferencesError) -> [DotenvEntry] {
    if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { position = 3 }
    var entries: [DotenvEntry] = []
    while position < bytes.count {
      let start = position
      skipBlanks()
      if next == UInt8(ascii: "#") { skipComment() }
      if skipLineEnd() { continue }
      entries.append(try entry(from: start))
    }
    return entries
  }

  static func isName(_ name: String) -> Bool {
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
    guard Self.isName(name), next == UInt8(ascii: "=") else { throw malformed("not NAME=value", at: start) }
    position += 1
    let (text, value) = try value(from: start)
    guard !text.contains(0) else { throw malformed("a NUL byte", at: start) }
    guard let text = String(validating: text, as: UTF8.self) else { throw malformed("not UTF-8", at: start) }
    return DotenvEntry(name: name, text: text, lines: start..<position, value: value)
  }

  /// Reads the rest of the line, or of several lines.
  private mutating func value(from start: Int) throws(PreferencesError) -> (text: [UInt8], place: Range<Int>) {
    let afterEquals = position
    skipBlanks()
    let first = position
    let text: [UInt8]
    switch next {
    case UInt8(ascii: "`"): throw malformed("a value that begins with a backquote", at: start)
    case UInt8(ascii: "'"), UInt8(ascii: "\""): text = try quoted(from: start)
    default:
      text = unquoted(after: afterEquals)
      // Some programs would continue with the next line.
      guard text.last != UInt8(ascii: "\\") else { throw malformed("a backslash at the end", at: start) }
      guard !text.contains(UInt8(ascii: "\r")) else {
        throw malformed("a carriage return that ends no line", at: start)
      }
    }
    // A new value is written directly behind the equals sign, in front of the blanks of a comment.
    let place = text.isEmpty && position == first ? afterEquals..<afterEquals : first..<position
    let end = position
    skipBlanks()
    if next == UInt8(ascii: "#"), position > end || position == first { skipComment() }
    guard skipLineEnd() else { throw malformed("text behind the value", at: start) }
    return (text, place)
  }

  private mutating func quoted(from start: Int) throws(PreferencesError) -> [UInt8] {
    let quote = bytes[position]
    position += 1
    var text: [UInt8] = []
    while let byte = next {
      position += 1
      if byte == quote { return text }
      if byte == UInt8(ascii: "\\"), quote == UInt8(ascii: "\""), let escaped = next.flatMap(Self.escaped) {
        text.append(escaped)
        position += 1
      } else {
        text.append(byte)
      }
    }
    throw malformed("a quote that is not closed", at: start)
  }

  /// The value up to a comment or the end of the line, without the blanks around it.
  private mutating func unquoted(after equals: Int) -> [UInt8] {
    let first = position
    var end = first
    while !isAtLineEnd, let byte = next {
      if byte == UInt8(ascii: "#"), position > equals, Self.isBlank(bytes[position - 1]) { break }
      position += 1
      if !Self.isBlank(byte) { end = position }
    }
    position = end
    return Array(bytes[first..<end])
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
    if next != nil { position += 1 }
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

  private func malformed(_ what: String, at start: Int) -> PreferencesError {
    let line = bytes[..<start].count { $0 == UInt8(ascii: "\n") } + 1
    return PreferencesError(.malformed, "line \(line): \(what)")
  }
}
