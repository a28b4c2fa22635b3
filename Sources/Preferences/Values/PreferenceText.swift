import FoundationEssentials

extension PreferenceValue {
  /// Parses `text` as a value of `kind`. This is the one rule by which text becomes a value, in layers of text, such as
  /// the environment, and where a key of a different type finds a string.
  ///
  /// Booleans are yes, no, true, false, on, off, 1 and 0 in any case; numbers are decimal, or `inf` and `nan`; dates
  /// are ISO 8601 with seconds and time zone; data is Base64. A number that only the other kind of integer can hold
  /// becomes that kind. An array is a JSON array, or the parts between commas without the blanks around them, unless
  /// the text begins as a JSON array; empty text is the empty array. A dictionary is a JSON object.
  ///
  /// `nil` if the whole text does not match.
  public init?(parsing text: String, as kind: Kind) {
    let value: Self? =
      switch kind {
      case .string: .string(text)
      case .data: Data(base64Encoded: text).map(Self.data)
      case .bool: Self.bool(text).map(Self.bool)
      case .integer: Int64(text).map(Self.integer) ?? UInt64(text).map(Self.unsignedInteger)
      case .unsignedInteger: UInt64(text).map(Self.unsignedInteger) ?? Int64(text).map(Self.integer)
      case .double: Self.double(text).map(Self.double)
      case .date: PreferenceTimestamp.date(text).map(Self.date)
      // Without the flag, `http://a b` would be changed by escaping.
      case .url: URL(string: text, encodingInvalidCharacters: false).map(Self.url)
      case .array: Self.array(text)
      case .dictionary: Self.json(text, openedBy: "{")
      }
    guard let value else { return nil }
    self = value
  }

  private static func bool(_ text: String) -> Bool? {
    switch text.lowercased() {
    case "true", "yes", "on", "1": true
    case "false", "no", "off", "0": false
    default: nil
    }
  }

  private static func double(_ text: String) -> Double? {
    guard isDecimal(text.utf8), let double = Double(text) else { return nil }
    // `1e999` would parse as infinity, and `1e-999` as zero.
    let significand = text.utf8.prefix { $0 != UInt8(ascii: "e") && $0 != UInt8(ascii: "E") }
    if double.isInfinite, significand.contains(where: isDigit) { return nil }
    if double.isZero, significand.contains(where: { (0x31...0x39).contains($0) }) { return nil }
    return double
  }

  /// Whether the text is a decimal number, infinity or NaN. `Double` also reads `0x10`, `0x1p3`, `snan` and `nan(0x1)`.
  private static func isDecimal(_ text: String.UTF8View) -> Bool {
    var rest = text[...]
    if let sign = rest.first, sign == UInt8(ascii: "-") || sign == UInt8(ascii: "+") { rest.removeFirst() }
    if !rest.contains(where: isDigit) {
      return ["inf", "infinity", "nan"].contains(String(Substring(rest)).lowercased())
    }
    return rest.allSatisfy { isDigit($0) || ".eE+-".utf8.contains($0) }
  }

  private static func isDigit(_ byte: UInt8) -> Bool { (0x30...0x39).contains(byte) }

  private static func array(_ text: String) -> Self? {
    if let array = json(text, openedBy: "[") { return array }
    // A list such as `[::1],[::2]` is none of JSON.
    if isMeantAsJSON(text) { return nil }
    if text.allSatisfy(\.isWhitespace) { return .array([]) }
    return .array(
      text.split(separator: ",", omittingEmptySubsequences: false).map { part in
        let rest = part.drop(while: \.isWhitespace)
        return .string(String(rest.prefix(rest.count - rest.reversed().prefix(while: \.isWhitespace).count)))
      })
  }

  /// Whether a text begins as a JSON array: with a quotation mark or brace in its bracket, or a bracket that is open
  /// at a comma.
  private static func isMeantAsJSON(_ text: String) -> Bool {
    let rest = text.drop(while: \.isWhitespace)
    guard rest.first == "[" else { return false }
    if let next = rest.dropFirst().first(where: { !$0.isWhitespace }), "\"{".contains(next) { return true }
    var depth = 0
    for character in rest {
      switch character {
      case "[": depth += 1
      case "]": depth -= 1
      case ",": if depth != 0 { return true }
      default: break
      }
    }
    return false
  }

  /// The JSON array or object that the text is.
  private static func json(_ text: String, openedBy bracket: Character) -> Self? {
    guard text.first(where: { !$0.isWhitespace }) == bracket else { return nil }
    do {
      var parser = try JSONParser(Array(text.utf8))
      return try parser.parseValue()
    } catch { return nil }
  }
}

extension PreferenceValue {
  /// The value, or the JSON array or object that a string is. A list between commas is parsed only where all values are
  /// text: any string is such a list.
  package var unfolded: Self {
    guard case .string(let text) = self else { return self }
    return Self.json(text, openedBy: "[") ?? Self.json(text, openedBy: "{") ?? self
  }
}

extension PreferenceConvertible {
  /// The value as the kind that this type is stored as: a string is parsed. Other values stay as they are.
  ///
  /// - Throws: ``PreferencesError/Code/typeMismatch`` if the string does not parse.
  static func parsed(_ value: PreferenceValue) throws(PreferencesError) -> PreferenceValue {
    guard case .string(let text) = value else { return value }
    if let value = PreferenceValue(parsing: text, as: preferenceKind) { return value }
    throw .mismatch(expected: preferenceKind, found: .string)
  }
}

extension PreferencesError {
  /// The error for text that does not parse; `name` is what the error calls the text.
  public static func unparsable(_ name: String, as kind: PreferenceValue.Kind, key: String) -> PreferencesError {
    PreferencesError(.typeMismatch, "\(name) does not parse as \(kind)").about(key: key)
  }
}
