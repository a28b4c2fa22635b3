internal import Preferences

/// A `.netrc` file: `machine`, `default`, `login`, `password`, `account`. As in curl, a value may be in double quotes,
/// in which a backslash escapes. Macros are skipped, and so is the rest of a line after a `#` where a keyword could be.
struct NetrcSource {
  private var text: SourceText

  static func parse(_ bytes: UnsafeMutableRawBufferPointer) throws(PreferencesError) -> PlainRecords {
    var source = NetrcSource(text: SourceText(bytes))
    return try source.records()
  }

  private init(text: SourceText) { self.text = text }

  private mutating func records() throws(PreferencesError) -> PlainRecords {
    var records = PlainRecords()
    var machine: (name: String, line: Int)?
    var fields: [(name: String, bytes: Range<Int>)] = []
    while true {
      text.skip(while: SourceText.isSpace)
      let line = text.line
      guard let word = try keyword() else { break }
      switch word {
      case "machine", "default":
        if let machine { try records.add(entry: machine.name, fields, line: machine.line) }
        machine = (word == "default" ? word : try text.name(try value()), line)
        fields = []
      case "macdef":
        try records.skip(try text.name(try value()), "a macro", line: line)
        skipMacro()
      case "login", "password", "account":
        guard machine != nil else { throw text.malformed("a \(word) before the first machine") }
        guard fields.count < PlainRecords.most else {
          throw .limit("more than \(PlainRecords.most) values", line: line)
        }
        fields.append((word == "login" ? "username" : word, try value()))
      default: throw text.malformed("not a keyword of a netrc file")
      }
    }
    if let machine { try records.add(entry: machine.name, fields, line: machine.line) }
    return records
  }

  /// The next keyword; `nil` at the end. Skips comments.
  private mutating func keyword() throws(PreferencesError) -> String? {
    while text.next == UInt8(ascii: "#") {
      text.skip { $0 != UInt8(ascii: "\n") }
      text.skip(while: SourceText.isSpace)
    }
    guard text.next != nil else { return nil }
    let start = text.position
    text.skip { !SourceText.isSpace($0) }
    // A longer word may be a misplaced password. No keyword is that long.
    return try text.name(start..<min(text.position, start + 10))
  }

  private mutating func value() throws(PreferencesError) -> Range<Int> {
    let line = text.line
    text.skip(while: SourceText.isSpace)
    let start = text.position
    guard text.skip(UInt8(ascii: "\"")) else {
      text.skip { !SourceText.isSpace($0) }
      guard text.position > start else { throw text.malformed("a keyword without a value", line: line) }
      return start..<text.position
    }
    var end = start
    while var byte = text.take() {
      if byte == UInt8(ascii: "\"") { return start..<end }
      if byte == UInt8(ascii: "\\"), let escaped = text.take() {
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
    throw text.malformed("a quote that is not closed", line: line)
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
