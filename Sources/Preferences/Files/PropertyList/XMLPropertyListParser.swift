import FoundationEssentials

/// Parses the XML format: the elements of property lists, in UTF-8, and no other XML.
///
/// No external or declared entities are expanded, and text is kept byte for byte. Errors contain positions, not text
/// from the file, which could be part of a value.
struct XMLPropertyListParser {
  private var scanner: XMLScanner
  private var budget = ValueBudget()

  init(_ bytes: [UInt8]) throws(PreferencesError) {
    scanner = try XMLScanner(bytes)
  }

  mutating func parse() throws(PreferencesError) -> PreferenceValue {
    try scanner.skipProlog()
    let root = try scanner.readTag()
    guard root.name == "plist", root.form == .opening else { throw scanner.malformed("no plist element") }
    let value = try value(try scanner.readTag(), depth: 0)
    try close("plist")
    try scanner.skipMisc()
    guard scanner.isAtEnd else { throw scanner.malformed("text after the plist element") }
    return value
  }

  private mutating func value(_ tag: XMLScanner.ElementTag, depth: Int) throws(PreferencesError) -> PreferenceValue {
    guard tag.form != .closing else { throw scanner.malformed("unexpected closing tag") }
    switch tag.name {
    case "dict":
      try budget.spend(0, depth: depth)
      return .dictionary(tag.form == .empty ? [:] : try entries(depth: depth + 1))
    case "array":
      try budget.spend(0, depth: depth)
      return .array(tag.form == .empty ? [] : try elements(depth: depth + 1))
    case "string":
      return .string(try text(tag, depth: depth))
    case "true", "false":
      guard try text(tag, depth: depth).isEmpty else { throw scanner.malformed("text in a boolean") }
      return .bool(tag.name == "true")
    case "integer":
      return try parsed(Self.integer, tag, depth: depth)
    case "real":
      return try parsed({ PreferenceValue(parsing: $0, as: .double) }, tag, depth: depth)
    case "date":
      // Foundation writes years of any length; its `Date.distantPast` is in the year 0.
      return try parsed({ PreferenceTimestamp.date($0, ofAnyYear: true).map(PreferenceValue.date) }, tag, depth: depth)
    case "data":
      return try parsed(Self.data, tag, depth: depth)
    default:
      throw scanner.malformed("unknown element")
    }
  }

  private mutating func elements(depth: Int) throws(PreferencesError) -> [PreferenceValue] {
    var elements: [PreferenceValue] = []
    while true {
      let tag = try scanner.readTag()
      if tag == XMLScanner.ElementTag(name: "array", form: .closing) { return elements }
      elements.append(try value(tag, depth: depth))
    }
  }

  private mutating func entries(depth: Int) throws(PreferencesError) -> [String: PreferenceValue] {
    var entries = EqualNames()
    while true {
      let tag = try scanner.readTag()
      if tag == XMLScanner.ElementTag(name: "dict", form: .closing) { return entries.members }
      guard tag.name == "key", tag.form != .closing else { throw scanner.malformed("expected a key element") }
      let key = try text(tag, depth: depth)
      let value = try value(try scanner.readTag(), depth: depth)
      // Choosing one of two values would be a guess.
      guard entries.add(value, named: key) else { throw scanner.malformed("repeated key") }
    }
  }

  private mutating func text(_ tag: XMLScanner.ElementTag, depth: Int) throws(PreferencesError) -> String {
    var text = ""
    if tag.form == .opening {
      text = try scanner.readText()
      try close(tag.name)
    }
    try budget.spend(text.utf8.count, depth: depth)
    return text
  }

  private mutating func parsed(
    _ parse: (String) -> PreferenceValue?, _ tag: XMLScanner.ElementTag, depth: Int
  ) throws(PreferencesError) -> PreferenceValue {
    var text = try text(tag, depth: depth)[...]
    while text.first?.isWhitespace == true { text.removeFirst() }
    while text.last?.isWhitespace == true { text.removeLast() }
    guard let value = parse(String(text)) else { throw scanner.malformed("text that is no \(tag.name)") }
    return value
  }

  private mutating func close(_ name: String) throws(PreferencesError) {
    guard try scanner.readTag() == XMLScanner.ElementTag(name: name, form: .closing) else {
      throw scanner.malformed("unexpected tag")
    }
  }

  private static func data(_ text: String) -> PreferenceValue? {
    PreferenceValue(parsing: text.filter { !$0.isWhitespace }, as: .data)
  }

  /// Decimal, or hexadecimal after `0x`, as the format allows.
  private static func integer(_ text: String) -> PreferenceValue? {
    let isNegative = text.hasPrefix("-")
    let digits = text.hasPrefix("+") || isNegative ? text.dropFirst() : text[...]
    guard digits.hasPrefix("0x") || digits.hasPrefix("0X") else {
      return PreferenceValue(parsing: text, as: .integer)
    }
    let hexadecimal = digits.dropFirst(2)
    guard hexadecimal.first?.isHexDigit == true else { return nil }
    if let integer = Int64((isNegative ? "-" : "") + hexadecimal, radix: 16) { return .integer(integer) }
    return isNegative ? nil : UInt64(hexadecimal, radix: 16).map(PreferenceValue.unsignedInteger)
  }
}
