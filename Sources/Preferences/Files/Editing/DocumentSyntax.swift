/// The text of a file that is valid, taken apart level by level.
protocol DocumentSyntax {
  var bytes: [UInt8] { get }
  /// Where the value at the top level is.
  var root: Range<Int> { get }
  /// What is between two items, besides white space.
  static var separator: String { get }
  /// How each level is indented in a file that does not show it.
  static var usualUnit: String { get }

  /// The array or dictionary that the value is; `nil` if it is neither, or is written anew when it gets an item.
  func container(_ value: Range<Int>) throws(PreferencesError) -> DocumentContainer?
  /// What is between the name and the value of a member.
  func colon(_ member: DocumentItem) -> String?
  /// The text of a value, or of a member, at a place of a style. It does not begin with the place's line break.
  func text(_ value: PreferenceValue, named name: String?, _ style: DocumentStyle) throws(PreferencesError) -> [UInt8]
}

extension DocumentSyntax {
  /// The line break of the file.
  var newline: String {
    guard let end = bytes.firstIndex(of: UInt8(ascii: "\n")), end > 0, bytes[end - 1] == UInt8(ascii: "\r") else {
      return "\n"
    }
    return "\r\n"
  }

  /// The white space at the beginning of the line on which the range begins, if nothing else is before the range.
  func indent(of range: Range<Int>) -> String? {
    let blanks = bytes[..<range.lowerBound].reversed().prefix { $0 == 0x20 || $0 == 0x09 }.count
    let start = range.lowerBound - blanks
    guard start == 0 || bytes[start - 1] == UInt8(ascii: "\n") else { return nil }
    return String(decoding: bytes[start..<range.lowerBound], as: UTF8.self)
  }

  /// The style of the items of a container.
  func style(of container: DocumentContainer, in outer: DocumentStyle, isTop: Bool) -> DocumentStyle {
    var style = outer.inner
    guard let first = container.items.first else { return style }
    style.colon = colon(first) ?? style.colon
    guard let indent = indent(of: first.range) else {
      style.indent = nil
      return style
    }
    style.indent = outer.newline + indent
    let outside = outer.indent?.drop { $0.isNewline } ?? ""
    if isTop, indent.hasPrefix(outside), indent.utf8.count > outside.utf8.count {
      style.unit = String(indent.dropFirst(outside.count))
    }
    return style
  }
}
