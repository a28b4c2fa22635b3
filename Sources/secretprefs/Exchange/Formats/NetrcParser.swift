internal import Preferences

/// A `.netrc` file as curl reads it: `machine`, `default`, `login`, `password`, in any case of their letters, and
/// `account`, between blanks and line ends. A value may be in double quotes, in which a backslash escapes; they end in
/// their line. A line that begins with `#` is a comment. Macros are skipped.
struct NetrcParser {
  /// The words of other programs, which have a value and which curl ignores together with it.
  private static let ignored = ["method", "port", "protocol", "scheme", "user"]

  private var text: InputText
  private var records = PlainRecords()
  private var machine: (name: String, line: Int)?
  private var fields: [PlainRecords.Field] = []
  /// Whether the last value was in quotes.
  private var isQuoted = false
  /// The line of the last word. A later word in the same line cannot begin a comment.
  private var lineOfWord = 0

  static func parse(_ bytes: UnsafeMutableRawBufferPointer) throws(PlainFault) -> PlainRecords {
    var parser = NetrcParser(text: InputText(bytes))
    try parser.parse()
    return parser.records
  }

  private init(text: InputText) { self.text = text }

  private mutating func parse() throws(PlainFault) {
    while true {
      skipToWord()
      guard text.next != nil else { break }
      let line = text.line
      do throws(PlainFault) { try part(line) } catch {
        guard !error.isFatal else { throw error }
        try records.refuse(error)
        // What follows in the line may be a part of the value.
        text.skip { $0 != UInt8(ascii: "\n") }
      }
    }
    try addMachine()
  }

  private mutating func part(_ line: Int) throws(PlainFault) {
    if text.next == UInt8(ascii: "#") { return try trailingComment() }
    let word = try keyword()
    switch word {
    case "machine", "default":
      try addMachine()
      // Without its name, the logins that follow belong to no machine.
      machine = ("", line)
      machine = (word == "default" ? word : try text.name(try value()), line)
    case "macdef":
      let name = try text.name(try value())
      skipMacro()
      try records.skip(name, "a macro", line: line, through: text.lastLine)
    case "login", "password", "account":
      guard machine != nil else { throw text.malformed("a \(word) before the first machine", line: line) }
      guard fields.count < PlainRecords.most else {
        throw .tooMuch("more than \(PlainRecords.most) values", line: line)
      }
      let value = try value()
      let isMark = value.first.map { text.bytes[$0] == UInt8(ascii: "#") && !isQuoted } ?? false
      fields.append(
        PlainRecords.Field(
          word == "login" ? "username" : word, value, isSecret: word != "login",
          note: isMark ? "older versions of curl take it for a comment, because it begins with #" : nil))
    default:
      guard Self.ignored.contains(word) else {
        throw text.malformed("not a keyword of a netrc file", line: line)
      }
      _ = try value()
      try records.skip("\(machine?.name ?? "")/\(word)", "curl ignores it", line: line)
    }
  }

  private mutating func addMachine() throws(PlainFault) {
    guard let found = machine else { return }
    machine = nil
    let fields = fields
    self.fields = []
    try records.add(entry: found.name, fields, line: found.line)
  }

  // MARK: Words

  /// Skips blanks, line ends and the lines that are comments.
  private mutating func skipToWord() {
    while true {
      text.skip(while: InputText.isSpace)
      guard text.next == UInt8(ascii: "#"), text.line != lineOfWord else { return }
      text.skip { $0 != UInt8(ascii: "\n") }
    }
  }

  /// Skips a `#` and the words behind it in a line. curl ignores each of them unless it is a keyword.
  private mutating func trailingComment() throws(PlainFault) {
    let line = text.line
    while let next = text.next, next != UInt8(ascii: "\n") {
      let start = text.position
      text.skip { !InputText.isSpace($0) }
      let word = String(decoding: text.bytes[start..<min(text.position, start + 10)], as: UTF8.self).lowercased()
      guard !["machine", "default", "login", "password", "macdef"].contains(word) else {
        throw text.malformed("curl reads the words behind a # that does not begin the line", line: line)
      }
      text.skip(while: InputText.isBlank)
      if text.isAtLineEnd { return }
    }
  }

  private mutating func keyword() throws(PlainFault) -> String {
    lineOfWord = text.line
    let start = text.position
    text.skip { !InputText.isSpace($0) }
    // A longer word may be a misplaced password. No keyword is that long.
    return String(decoding: text.bytes[start..<min(text.position, start + 10)], as: UTF8.self).lowercased()
  }

  private mutating func value() throws(PlainFault) -> Range<Int> {
    let line = text.line
    skipToWord()
    lineOfWord = text.line
    let start = text.position
    isQuoted = text.skip(UInt8(ascii: "\""))
    guard isQuoted else {
      text.skip { !InputText.isSpace($0) }
      guard text.position > start else { throw text.malformed("a keyword without a value", line: line) }
      return start..<text.position
    }
    var end = start
    let first = text.line
    while var byte = text.next, byte != UInt8(ascii: "\n") {
      _ = text.take()
      if byte == UInt8(ascii: "\"") {
        guard text.next.map(InputText.isSpace) ?? true else { throw text.malformed("text behind a quoted value") }
        return start..<end
      }
      if byte == UInt8(ascii: "\\"), let escaped = text.next, escaped != UInt8(ascii: "\n") {
        _ = text.take()
        byte =
          switch escaped {
          case UInt8(ascii: "n"): UInt8(ascii: "\n")
          case UInt8(ascii: "r"): UInt8(ascii: "\r")
          case UInt8(ascii: "t"): UInt8(ascii: "\t")
          default: escaped
          }
      }
      text.bytes[end] = byte
      end += 1
    }
    throw text.malformed("a quote that is not closed in its line", line: first)
  }

  /// A macro ends with an empty line.
  private mutating func skipMacro() {
    text.skip { $0 != UInt8(ascii: "\n") }
    repeat {
      _ = text.skipLineEnd()
      if text.isAtLineEnd { return }
      text.skip { $0 != UInt8(ascii: "\n") }
    } while text.next != nil
  }
}
