/// A JSON value for output. Members keep their order, so that output is reproducible. Not for secrets, because the text
/// is an ordinary string.
enum JSON: Sendable {
  case string(String)
  case integer(Int64)
  case unsigned(UInt64)
  /// A number that is already formatted.
  case number(String)
  case bool(Bool)
  case null
  case array([JSON])
  case members([Member])

  struct Member {
    let name: String
    let value: JSON
  }

  // Not a case with an array of tuples: the compiler sometimes rejects that as a circular reference.
  static func object(_ members: [(String, JSON)]) -> JSON {
    .members(members.map { Member(name: $0, value: $1) })
  }

  /// RFC 3339 text for milliseconds since 1970, or null if the time has none.
  static func time(_ milliseconds: Int64) -> JSON {
    Timestamp(milliseconds: milliseconds).map { .string($0.text) } ?? .null
  }

  var text: String {
    var text = ""
    write(to: &text)
    return text
  }

  private func write(to text: inout String) {
    switch self {
    case .string(let string): Self.write(string, to: &text)
    case .integer(let number): text += "\(number)"
    case .unsigned(let number): text += "\(number)"
    case .number(let number): text += number
    case .bool(let flag): text += flag ? "true" : "false"
    case .null: text += "null"
    case .array(let items):
      text += "["
      for (index, item) in items.enumerated() {
        if index > 0 { text += "," }
        item.write(to: &text)
      }
      text += "]"
    case .members(let members):
      text += "{"
      for (index, member) in members.enumerated() {
        if index > 0 { text += "," }
        Self.write(member.name, to: &text)
        text += ":"
        member.value.write(to: &text)
      }
      text += "}"
    }
  }

  /// Escapes what JSON requires, and characters that mislead a reader on a terminal.
  private static func write(_ string: String, to text: inout String) {
    text += "\""
    for scalar in string.unicodeScalars {
      if scalar == "\"" || scalar == "\\" {
        text += "\\"
        text.unicodeScalars.append(scalar)
      } else if isMisleading(scalar) {
        for unit in UTF16.encode(scalar)! {
          let digits = String(unit, radix: 16)
          text += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
        }
      } else {
        text.unicodeScalars.append(scalar)
      }
    }
    text += "\""
  }
}
