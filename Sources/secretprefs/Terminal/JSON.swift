/// A JSON answer. Members stay in the order given, so that output can be compared; not for secrets, which must
/// not become strings.
enum JSON {
  case string(String)
  case integer(Int64)
  case unsigned(UInt64)
  /// A number that is already text.
  case number(String)
  case bool(Bool)
  case null
  case array([JSON])
  case members([Member])

  struct Member {
    let name: String
    let value: JSON
  }

  // Not a case: with a tuple of itself in an enum, the compiler now and then sees a circle.
  static func object(_ members: [(String, JSON)]) -> JSON {
    .members(members.map { Member(name: $0, value: $1) })
  }

  /// Milliseconds since 1970 as RFC 3339 text.
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

  /// Escapes what JSON asks for, and what would mislead whoever reads it on a terminal.
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
