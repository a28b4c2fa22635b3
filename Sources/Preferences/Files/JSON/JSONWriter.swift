import FoundationEssentials

/// Writes values as JSON represents them, with the members of an object in ascending order. ``ValueMarks`` represents
/// dates, data and URLs; what then is data is the text of ``JSONText``.
enum JSONWriter {
  /// Indented for people.
  static func document(_ values: [String: PreferenceValue]) -> [UInt8] {
    var text = ""
    write(.dictionary(values), indent: "\n", to: &text)
    return Array((text + "\n").utf8)
  }

  /// Without spaces.
  static func line(_ value: PreferenceValue) -> [UInt8] {
    var text = ""
    write(value, indent: nil, to: &text)
    return Array(text.utf8)
  }

  /// - Parameter indent: the line break and the spaces before each line; `nil` writes one line.
  private static func write(_ value: PreferenceValue, indent: String?, to text: inout String) {
    // One line is read by a parser that accepts no null.
    if indent != nil, let foreign = JSONText.text(of: value) { return text += foreign }
    switch value {
    case .string(let string): text += quoted(string)
    case .bool(let flag): text += flag ? "true" : "false"
    case .integer(let number): text += "\(number)"
    case .unsignedInteger(let number): text += "\(number)"
    // Always has a point or an exponent, unlike an integer.
    case .double(let number): text += "\(number)"
    case .array(let items):
      write(items, in: ("[", "]"), indent: indent, to: &text) { item, inner, text in
        write(item, indent: inner, to: &text)
      }
    case .dictionary(let members):
      let members = members.sorted { $0.key < $1.key }
      write(members, in: ("{", "}"), indent: indent, to: &text) { member, inner, text in
        if inner != nil, let foreign = JSONText.members(of: member.value, named: member.key) { return text += foreign }
        text += quoted(member.key) + (inner == nil ? ":" : ": ")
        write(member.value, indent: inner, to: &text)
      }
    case .data(let data): text += quoted(data.base64EncodedString())
    case .date(let date): text += "\(date.timeIntervalSinceReferenceDate)"
    case .url(let url): text += quoted(url.absoluteString)
    }
  }

  private static func write<Element>(
    _ elements: [Element], in brackets: (open: String, close: String), indent: String?, to text: inout String,
    each: (Element, String?, inout String) -> Void
  ) {
    text += brackets.open
    // No deeper than 32 spaces, so that deep nesting does not multiply the size.
    let inner = indent.map { $0.utf8.count > 32 ? $0 : $0 + "  " }
    for (index, element) in elements.enumerated() {
      text += (index == 0 ? "" : ",") + (inner ?? "")
      each(element, inner, &text)
    }
    if let indent, !elements.isEmpty { text += indent }
    text += brackets.close
  }

  private static func quoted(_ string: String) -> String {
    var quoted = "\"".unicodeScalars
    for scalar in string.unicodeScalars {
      switch scalar {
      case "\"", "\\": quoted.append(contentsOf: ["\\", scalar])
      case "\n": quoted.append(contentsOf: "\\n".unicodeScalars)
      case "\t": quoted.append(contentsOf: "\\t".unicodeScalars)
      case "\0"..<" ", "\u{7F}":
        let digits = String(scalar.value, radix: 16)
        quoted.append(contentsOf: ("\\u" + String(repeating: "0", count: 4 - digits.count) + digits).unicodeScalars)
      default: quoted.append(scalar)
      }
    }
    quoted.append("\"")
    return String(quoted)
  }
}
