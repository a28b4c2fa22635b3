import FoundationEssentials

/// Writes the XML format, with the keys of a dictionary in ascending order.
struct XMLPropertyListWriter {
  /// Whether control characters are written, although XML does not allow them.
  let writesControlCharacters: Bool

  /// - Throws: `unsupportedByFormat` for strings that XML cannot represent.
  func document(_ values: [String: PreferenceValue]) throws(PreferencesError) -> [UInt8] {
    var text = """
      <?xml version="1.0" encoding="UTF-8"?>
      <!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
      <plist version="1.0">

      """
    let style = DocumentStyle(unit: XMLPropertyListSyntax.usualUnit, newline: "\n", colon: "", indent: "\n")
    try write(.dictionary(values), style, to: &text)
    return Array((text + "\n</plist>\n").utf8)
  }

  /// A value or a member in a document.
  ///
  /// - Throws: `unsupportedByFormat` for strings that XML cannot represent.
  func text(
    _ value: PreferenceValue, named name: String?, _ style: DocumentStyle
  ) throws(PreferencesError) -> [UInt8] {
    var text = ""
    if let name { text += "<key>\(try escaped(name))</key>" + (style.indent ?? "") }
    try write(value, style, to: &text)
    return Array(text.utf8)
  }

  private func write(
    _ value: PreferenceValue, _ style: DocumentStyle, to text: inout String
  ) throws(PreferencesError) {
    let inner = style.inner
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
      text += "<array>"
      for item in items {
        text += inner.indent ?? ""
        try write(item, inner, to: &text)
      }
      text += (style.indent ?? "") + "</array>"
    case .dictionary(let members):
      text += "<dict>"
      for (key, member) in EqualNames.entries(of: members) {
        text += (inner.indent ?? "") + "<key>\(try escaped(key))</key>" + (inner.indent ?? "")
        try write(member, inner, to: &text)
      }
      text += (style.indent ?? "") + "</dict>"
    }
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
          throw PreferencesError(
            .unsupportedByFormat, "XML cannot hold text with control characters; a binary file can")
        }
        escaped.append(scalar)
      default: escaped.append(scalar)
      }
    }
    return String(escaped)
  }
}
