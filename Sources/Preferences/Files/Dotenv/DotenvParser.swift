/// Parses a dotenv file; ``DotenvFormat`` has the syntax. Errors contain the number of a line and no text.
///
/// Values are decoded in place, because a value is never longer than its spelling: a secret needs no second buffer.
package struct DotenvParser {
  let bytes: UnsafeMutableRawBufferPointer
  var position = 0
  var line = 1
  /// The line that an error names: the first line of the current entry.
  private var firstLine = 1
  /// Whether forms are read that only some programs have.
  let readsForeignForms: Bool
  /// The names that have no value, and their lines. Only foreign forms have them.
  package private(set) var names: [(name: String, line: Int)] = []
  /// The line, the name and the reason of the error that was thrown last. The name is empty if the line has none.
  package private(set) var failure = (line: 0, name: "", reason: "")
  /// The name in the current line, once its sign was found.
  private var currentName = ""
  /// The number of the line that was read last. A line feed belongs to the line that it ends.
  package var lastLine: Int {
    position > 0 && bytes[position - 1] == UInt8(ascii: "\n") ? max(line - 1, 1) : line
  }

  /// - Parameters:
  ///   - bytes: the file, which outlives the parser.
  ///   - readsForeignForms: whether forms are read that only some of the programs have: `NAME: value`, `export NAME`,
  ///     backquotes, and quoted parts without blanks between them, as in a shell.
  package init(_ bytes: UnsafeMutableRawBufferPointer, readingForeignForms readsForeignForms: Bool = false) {
    self.bytes = bytes
    self.readsForeignForms = readsForeignForms
  }

  /// The next assignment; `nil` at the end.
  package mutating func nextEntry() throws(PreferencesError) -> DotenvEntry? {
    if position == 0, bytes.starts(with: [0xEF, 0xBB, 0xBF]) { position = 3 }
    while position < bytes.count {
      let start = position
      firstLine = line
      currentName = ""
      skipBlanks()
      if next == UInt8(ascii: "#") { skipComment() }
      if skipLineEnd() { continue }
      if let entry = try entry(from: start) { return entry }
    }
    return nil
  }

  /// Skips the rest of the line in which the last error was found, so that parsing can go on behind it.
  package mutating func skipLine() {
    skipComment()
    _ = skipLineEnd()
  }

  package static func isName(_ name: String) -> Bool {
    guard let first = name.utf8.first, isLetter(first) else { return false }
    return name.utf8.allSatisfy(isInName)
  }

  /// Reads an assignment; `nil` for `export NAME`, which has no value.
  private mutating func entry(from start: Int) throws(PreferencesError) -> DotenvEntry? {
    var name = word()
    var isExported = false
    if name == "export", let next, Self.isBlank(next) {
      isExported = true
      skipBlanks()
      name = word()
    }
    let isForeign = readsForeignForms && Self.isName(name)
    if isForeign, next == UInt8(ascii: ":"), position + 1 == bytes.count || Self.isSpace(bytes[position + 1]) {
      return try entry(name, from: start, isExported: false, doubt: "only npm's dotenv reads NAME: value")
    }
    skipBlanks()
    if isForeign, isExported, next == UInt8(ascii: "#") || isAtLineEnd {
      names.append((name, firstLine))
      skipLine()
      return nil
    }
    guard Self.isName(name), next == UInt8(ascii: "=") else { throw malformed("not NAME=value") }
    return try entry(name, from: start, isExported: isExported)
  }

  /// Reads the sign and the value.
  private mutating func entry(
    _ name: String, from start: Int, isExported: Bool, doubt: String? = nil
  ) throws(PreferencesError) -> DotenvEntry {
    currentName = name
    position += 1
    let (text, value, own) = try value(isExported: isExported)
    return DotenvEntry(
      name: name, text: text, line: firstLine, lines: start..<position, value: value, doubt: doubt ?? own)
  }

  /// Reads the rest of the line, or of several lines.
  private mutating func value(
    isExported: Bool
  ) throws(PreferencesError) -> (text: Range<Int>, place: Range<Int>, doubt: String?) {
    let afterEquals = position
    skipBlanks()
    let first = position
    let text: Range<Int>
    var doubt: String?
    switch next {
    case UInt8(ascii: "`") where !readsForeignForms: throw malformed("a value that begins with a backquote")
    case UInt8(ascii: "`"):
      text = try quoted()
      doubt = "only node reads backquotes as quotes; a shell runs the text, and docker and systemd keep them"
    case UInt8(ascii: "'"), UInt8(ascii: "\""):
      doubt = quotedDoubt()
      let part = try quoted()
      text = readsForeignForms ? try joined(part, doubt: &doubt) : part
    default:
      text = unquoted(after: afterEquals)
      doubt = unquotedDoubt(text, isExported: isExported)
      // Some programs would continue with the next line.
      guard readsForeignForms || bytes[text].last != UInt8(ascii: "\\") else {
        throw malformed("a backslash at the end")
      }
      guard !bytes[text].contains(UInt8(ascii: "\r")) else {
        throw malformed("a carriage return that ends no line")
      }
    }
    // Before the line end is read, behind which parsing goes on after an error.
    guard !bytes[text].contains(0) else { throw malformed("a NUL byte") }
    // A new value replaces an empty one directly after the equals sign, before the blanks of a comment.
    let place = text.isEmpty && position == first ? afterEquals..<afterEquals : first..<position
    let end = position
    skipBlanks()
    if next == UInt8(ascii: "#"), position > end || position == first {
      doubt = doubt ?? "docker and systemd read the # as a part of the value"
      skipComment()
    }
    guard skipLineEnd() else { throw malformed("text behind the value") }
    return (text, place, doubt)
  }

  /// Reads a text in quotes, and decodes it in place. A line in it ends with LF, also if the file has CR LF.
  mutating func quoted() throws(PreferencesError) -> Range<Int> {
    let quote = bytes[position]
    position += 1
    let start = position
    var end = start
    while var byte = next {
      position += 1
      if byte == quote { return start..<end }
      if byte == UInt8(ascii: "\r"), next == UInt8(ascii: "\n") { continue }
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

  var next: UInt8? { position < bytes.count ? bytes[position] : nil }

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

  var isAtLineEnd: Bool {
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

  static func isBlank(_ byte: UInt8) -> Bool { byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") }

  static func isLetter(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "_"): true
    default: false
    }
  }

  static func isSpace(_ byte: UInt8) -> Bool {
    isBlank(byte) || byte == UInt8(ascii: "\n") || byte == UInt8(ascii: "\r")
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

  private mutating func malformed(_ what: String) -> PreferencesError {
    failure = (firstLine, currentName, what)
    let lines = lastLine > firstLine ? "lines \(firstLine) to \(lastLine)" : "line \(firstLine)"
    return PreferencesError(.malformed, "\(lines): \(what)")
  }
}
