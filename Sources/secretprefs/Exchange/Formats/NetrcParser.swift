internal import Preferences

/// A `.netrc` file as curl reads it: `machine`, `default`, `login`, `password`, in any case of their letters, and
/// `account`, between blanks and line ends. A value may be in double quotes, in which a backslash escapes; they end in
/// their line. A word that begins with `#` begins a comment. Macros are skipped.
///
/// Since 7.84, curl also takes a value such as `#1` for a comment. Here it is a value, with a note: other programs read
/// it, and curl would take the next keyword for the value.
struct NetrcParser {
  private static let keywords = ["machine", "default", "login", "password", "account", "macdef"]
  /// The words of other programs, which have a value and which curl ignores together with it.
  private static let ignored = ["method", "port", "protocol", "scheme", "user"]

  private var text: InputText
  private var records = PlainRecords()
  private var machine: (name: String, line: Int)?
  private var fields: [PlainRecords.Field] = []
  /// Whether a part of the machine is bad, so that what is left may be half a login.
  private var isBroken = false
  /// Whether the present part is a bad word that begins a line behind a whole login, which curl reads all the same.
  private var isBehindLogin = false
  /// Whether the last value was in quotes.
  private var isQuoted = false
  /// The line of the last word.
  private var lineOfWord = 0

  static func parse(_ bytes: UnsafeMutableRawBufferPointer) throws(PlainFault) -> PlainRecords {
    var parser = NetrcParser(text: InputText(bytes))
    try parser.parse()
    return parser.records
  }

  private init(text: InputText) { self.text = text }

  private mutating func parse() throws(PlainFault) {
    while true {
      try skipToWord()
      guard text.next != nil else { break }
      let line = text.line
      isBehindLogin = false
      do throws(PlainFault) { try part(line) } catch {
        guard !error.isFatal else { throw error }
        isBroken = machine != nil && !isBehindLogin
        try records.refuse(error.through(lastLineBeforeMachine()))
      }
    }
    try addMachine()
  }

  /// Skips what follows something bad, up to a line that begins with a machine or a macro: it may be a part of it.
  ///
  /// - Returns: the last line of it with words.
  private mutating func lastLineBeforeMachine() -> Int {
    repeat {
      text.skip { $0 != UInt8(ascii: "\n") }
      lineOfWord = text.lastLine
      text.skip(while: InputText.isSpace)
      while text.next == UInt8(ascii: "#") {
        text.skip { $0 != UInt8(ascii: "\n") }
        text.skip(while: InputText.isSpace)
      }
    } while text.next != nil && !isAtMachine
    return lineOfWord
  }

  private var isAtMachine: Bool {
    var copy = self
    return ["machine", "default", "macdef"].contains(copy.word())
  }

  /// Whether a part of the present login follows, before the next machine.
  private var hasMoreOfLogin: Bool {
    var copy = self
    while true {
      copy.text.skip(while: InputText.isSpace)
      let word = copy.word()
      if ["login", "password", "account"].contains(word) { return true }
      if word.isEmpty || ["machine", "default", "macdef"].contains(word) { return false }
    }
  }

  private mutating func part(_ line: Int) throws(PlainFault) {
    let isFirst = lineOfWord != line
    let word = try keyword()
    switch word {
    case "machine", "default":
      try addMachine()
      // Without its name, the logins that follow belong to no machine.
      machine = ("", line)
      machine = (word == "default" ? word : try text.name(try value(mayBeMarked: false)), line)
    case "macdef":
      let name = try text.name(try value(mayBeMarked: true))
      skipMacro()
      try records.skip(name, "a macro", line: line, through: text.lastLine)
    case "account" where isBeforeComment && isAtLoneMark: return
    case "login", "password", "account":
      guard machine != nil else { throw text.malformed("a \(word) before the first machine", line: line) }
      guard fields.count < PlainRecords.most else {
        throw .tooMuch("more than \(PlainRecords.most) values", line: line)
      }
      let value = try value(mayBeMarked: true)
      let isMark = value.first.map { text.bytes[$0] == UInt8(ascii: "#") && !isQuoted } ?? false
      fields.append(
        PlainRecords.Field(
          word == "login" ? "username" : word, value, isSecret: word == "account" ? nil : word == "password",
          note: isMark ? "curl takes it for a comment since version 7.84, because it begins with #" : nil))
    default:
      guard Self.ignored.contains(word) else {
        // curl reads no more of a login that is whole.
        let names = Set(fields.map(\.name))
        isBehindLogin = isFirst && names.contains("password") && (names.contains("username") || !hasMoreOfLogin)
        throw text.malformed("not a keyword of a netrc file", line: line)
      }
      // curl does not know that the word has a value.
      if !isBeforeComment { _ = try value(mayBeMarked: false) }
      try records.skip("\(machine?.name ?? "")/\(word)", "curl ignores it", line: line)
    }
  }

  private mutating func addMachine() throws(PlainFault) {
    guard let found = machine else { return }
    machine = nil
    let fields = fields
    self.fields = []
    defer { isBroken = false }
    guard !isBroken else {
      // What has no name was named as bad.
      guard !found.name.isEmpty else { return }
      return try records.skip(found.name, "a part of it is bad", line: found.line)
    }
    try records.add(entry: PlainRecords.title(found.name), fields, line: found.line)
  }

  // MARK: Words

  /// Skips blanks, line ends and comments.
  ///
  /// - Parameter mayBeMarked: whether a word that begins with `#`, in the line of the last word, is a value.
  private mutating func skipToWord(mayBeMarked: Bool = false) throws(PlainFault) {
    while true {
      text.skip(while: InputText.isSpace)
      guard text.next == UInt8(ascii: "#") else { return }
      if mayBeMarked, text.line == lineOfWord, !isAtLoneMark { return }
      try comment()
    }
  }

  /// Whether the next word of the line begins with `#`.
  private var isBeforeComment: Bool {
    mutating get {
      text.skip(while: InputText.isBlank)
      return text.next == UInt8(ascii: "#")
    }
  }

  /// Whether the next word is `#` alone.
  private var isAtLoneMark: Bool {
    let next = text.position + 1
    return next == text.bytes.count || InputText.isSpace(text.bytes[next])
  }

  /// Skips a comment, and names one behind other words of its line that has a keyword.
  private mutating func comment() throws(PlainFault) {
    let line = text.line
    guard line == lineOfWord else { return text.skip { $0 != UInt8(ascii: "\n") } }
    var hasKeyword = false
    _ = text.skip(UInt8(ascii: "#"))
    while text.next != nil, !text.isAtLineEnd {
      text.skip(while: InputText.isBlank)
      hasKeyword = Self.keywords.contains(word()) || hasKeyword
      // A carriage return within the line.
      if !text.isAtLineEnd { _ = text.skip(UInt8(ascii: "\r")) }
    }
    guard hasKeyword else { return }
    try records.skip(machine?.name ?? "", "keywords in a comment, which begins with #", line: line)
  }

  private mutating func keyword() throws(PlainFault) -> String {
    lineOfWord = text.line
    return word()
  }

  /// The next word, without what is behind its first 10 bytes: it may be a misplaced password, and no keyword is that
  /// long.
  private mutating func word() -> String {
    let start = text.position
    text.skip { !InputText.isSpace($0) }
    return String(decoding: text.bytes[start..<min(text.position, start + 10)], as: UTF8.self).lowercased()
  }

  /// - Parameter mayBeMarked: whether it may begin with `#`.
  private mutating func value(mayBeMarked: Bool) throws(PlainFault) -> Range<Int> {
    let line = text.line
    try skipToWord(mayBeMarked: mayBeMarked)
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
