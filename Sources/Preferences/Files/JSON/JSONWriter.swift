import FoundationEssentials

/// Writes values as JSON represents them, with the members of an object in ascending order. ``ValueMarks`` represents
/// dates, data and URLs; what then is data is the text of ``JSONText``.
enum JSONWriter {
  /// Indented for people.
  static func document(_ values: [String: PreferenceValue]) -> [UInt8] {
    let style = DocumentStyle(unit: JSONSyntax.usualUnit, newline: "\n", colon: ": ", indent: "\n")
    return self.text(.dictionary(values), named: nil, style) + [UInt8(ascii: "\n")]
  }

  /// A value or a member in a document.
  static func text(_ value: PreferenceValue, named name: String?, _ style: DocumentStyle) -> [UInt8] {
    var text = ""
    if let name { writeMember(name, value, style, to: &text) } else { write(value, style, to: &text) }
    return Array(text.utf8)
  }

  /// Without spaces.
  static func line(_ value: PreferenceValue) -> [UInt8] {
    var text = ""
    write(value, nil, to: &text)
    return Array(text.utf8)
  }

  private static func writeMember(
    _ name: String, _ value: PreferenceValue, _ style: DocumentStyle?, to text: inout String
  ) {
    if style != nil, let foreign = JSONText.members(of: value, named: name) { return text += foreign }
    text += quoted(name) + (style?.colon ?? ":")
    write(value, style, to: &text)
  }

  /// - Parameter style: `nil` for one line without spaces, for a parser that accepts no null.
  private static func write(_ value: PreferenceValue, _ style: DocumentStyle?, to text: inout String) {
    if style != nil, let foreign = JSONText.text(of: value) { return text += foreign }
    switch value {
    case .string(let string): text += quoted(string)
    case .bool(let flag): text += flag ? "true" : "false"
    case .integer(let number): text += "\(number)"
    case .unsignedInteger(let number): text += "\(number)"
    // Always has a point or an exponent, unlike an integer.
    case .double(let number): text += "\(number)"
    case .array(let items):
      write(items, in: ("[", "]"), style, to: &text) { item, inner, text in write(item, inner, to: &text) }
    case .dictionary(let members):
      write(members.sorted { $0.key < $1.key }, in: ("{", "}"), style, to: &text) { member, inner, text in
        writeMember(member.key, member.value, inner, to: &text)
      }
    case .data(let data): text += quoted(data.base64EncodedString())
    case .date(let date): text += "\(date.timeIntervalSinceReferenceDate)"
    case .url(let url): text += quoted(url.absoluteString)
    }
  }

  private static func write<Element>(
    _ elements: [Element], in brackets: (open: String, close: String), _ style: DocumentStyle?, to text: inout String,
    each: (Element, DocumentStyle?, inout String) -> Void
  ) {
    text += brackets.open
    let inner = style?.inner
    // In one line, a space follows each comma if one follows each colon.
    let gap = inner?.indent ?? (inner?.colon.hasSuffix(" ") == true ? " " : "")
    for (index, element) in elements.enumerated() {
      text += index == 0 ? inner?.indent ?? "" : "," + gap
      each(element, inner, &text)
    }
    if let indent = style?.indent, !elements.isEmpty { text += indent }
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
