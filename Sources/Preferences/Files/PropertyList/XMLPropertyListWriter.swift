import FoundationEssentials

/// Writes the XML format, with the keys of a dictionary in ascending order.
struct XMLPropertyListWriter {
  /// Whether control characters are written, although XML does not allow them.
  let writesControlCharacters: Bool

  /// - Throws: `unstorable` for strings that XML cannot represent.
  func document(_ values: [String: PreferenceValue]) throws(PreferencesError) -> [UInt8] {
    var text = """
      <?xml version="1.0" encoding="UTF-8"?>
      <!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
      <plist version="1.0">

      """
    try write(.dictionary(values), indent: "", to: &text)
    return Array((text + "</plist>\n").utf8)
  }

  private func write(
    _ value: PreferenceValue, indent: String, to text: inout String
  ) throws(PreferencesError) {
    // No deeper than 32 tabs, so that deep nesting does not multiply the size.
    let inner = indent.utf8.count < 32 ? indent + "\t" : indent
    text += indent
    switch value {
    case .string(let string): text += "<string>\(try escaped(string))</string>"
    case .data(let data): text += "<data>\(data.base64EncodedString())</data>"
    case .bool(let flag): text += flag ? "<true/>" : "<false/>"
    case .integer(let number): text += "<integer>\(number)</integer>"
    case .unsignedInteger(let number): text += "<integer>\(number)</integer>"
    case .double(let number): text += "<real>\(number.isNaN ? .nan : number)</real>"
    case .date(let date): text += "<date>\(PreferenceTimestamp.text(date) ?? "")</date>"
    case .url(let url): text += "<string>\(try escaped(url.absoluteString))</string>"
    case .array(let items):
      text += "<array>\n"
      for item in items { try write(item, indent: inner, to: &text) }
      text += "\(indent)</array>"
    case .dictionary(let members):
      text += "<dict>\n"
      for (key, member) in EqualNames.entries(of: members) {
        text += "\(inner)<key>\(try escaped(key))</key>\n"
        try write(member, indent: inner, to: &text)
      }
      text += "\(indent)</dict>"
    }
    text += "\n"
  }

  private func escaped(_ text: String) throws(PreferencesError) -> String {
    var escaped = String.UnicodeScalarView()
    for scalar in text.unicodeScalars {
      switch scalar {
      case "&": escaped.append(contentsOf: "&amp;".unicodeScalars)
      case "<": escaped.append(contentsOf: "&lt;".unicodeScalars)
      case ">": escaped.append(contentsOf: "&gt;".unicodeScalars)
      // Other parsers read a bare carriage return as a line feed.
      case "\r": escaped.append(contentsOf: "&#13;".unicodeScalars)
      case "\t", "\n": escaped.append(scalar)
      case "\0"..<" ", "\u{FFFE}", "\u{FFFF}":
        guard writesControlCharacters else {
          throw PreferencesError(.unstorable, "XML cannot hold text with control characters; a binary file can")
        }
        escaped.append(scalar)
      default: escaped.append(scalar)
      }
    }
    return String(escaped)
  }
}
