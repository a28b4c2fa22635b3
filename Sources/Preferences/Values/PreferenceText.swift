import FoundationEssentials

extension PreferenceValue {
  /// Parses `text` as a value of `kind`, as layers of text do: the environment, launch arguments, cookies.
  ///
  /// Booleans are yes, no, true, false, on, off, 1 and 0 in any case; integers are decimal; dates are ISO 8601 with
  /// seconds and time zone; data is Base64. A number that only the other kind of integer can hold becomes that kind.
  /// `nil` if the whole text does not match, and for arrays and dictionaries, which have no text form.
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
      case .array, .dictionary: nil
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
    guard let double = Double(text) else { return nil }
    // `1e999` would parse as infinity.
    if double.isInfinite && text.utf8.contains(where: { (0x30...0x39).contains($0) }) { return nil }
    return double
  }
}

extension PreferencesError {
  /// The error for text that does not parse; `name` is what the error calls the text.
  public static func unparsable(_ name: String, as kind: PreferenceValue.Kind, key: String) -> PreferencesError {
    PreferencesError(.typeMismatch, "\(name) does not parse as \(kind)").about(key: key)
  }
}
