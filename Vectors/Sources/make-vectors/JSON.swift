/// A JSON text in one spelling: members in the order given, a list or object of plain values on one line.
enum JSON {
  case text(String)
  case number(String)
  case bool(Bool)
  case list([JSON])
  case object([(String, JSON)])

  static func number(_ value: some BinaryInteger) -> JSON { .number(String(value)) }

  func written(indent: Int = 0) -> String {
    switch self {
    case .text(let text): return Self.quoted(text)
    case .number(let digits): return digits
    case .bool(let value): return value ? "true" : "false"
    case .list(let items):
      return Self.lines("[", items.map { $0.written(indent: indent + 1) }, "]", indent, isFlat: isFlat)
    case .object(let members):
      let lines = members.map { Self.quoted($0) + ": " + $1.written(indent: indent + 1) }
      return Self.lines("{", lines, "}", indent, isFlat: isFlat)
    }
  }

  private var isFlat: Bool {
    switch self {
    case .list(let items): items.allSatisfy(\.isPlain)
    case .object(let members): members.allSatisfy(\.1.isPlain)
    default: true
    }
  }

  private var isPlain: Bool {
    switch self {
    case .list, .object: false
    default: true
    }
  }

  private static func lines(_ open: String, _ items: [String], _ close: String, _ indent: Int, isFlat: Bool) -> String {
    if isFlat { return open + items.joined(separator: ", ") + close }
    let margin = "\n" + String(repeating: " ", count: indent)
    return open + items.map { margin + " " + $0 }.joined(separator: ",") + margin + close
  }

  private static func quoted(_ text: String) -> String {
    var out = "\""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\"", "\\": out += "\\" + String(scalar)
      case " "..."~": out.unicodeScalars.append(scalar)
      default:
        for unit in String(scalar).utf16 {
          out += "\\u" + Bytes([UInt8(unit >> 8), UInt8(unit & 255)]).hexadecimal
        }
      }
    }
    return out + "\""
  }
}
