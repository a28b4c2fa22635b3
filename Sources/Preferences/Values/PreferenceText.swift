import FoundationEssentials

/// Reads values from text, for layers that hold nothing else.
package enum PreferenceText {
  /// The value that `text` spells as `kind`; nil when it spells none. The whole text must match.
  package static func value(_ text: String, as kind: PreferenceValue.Kind) -> PreferenceValue? {
    switch kind {
    case .string: .string(text)
    case .data: Data(base64Encoded: text).map(PreferenceValue.data)
    case .bool: bool(text).map(PreferenceValue.bool)
    case .integer, .unsignedInteger: integer(text, as: kind)
    case .double: double(text).map(PreferenceValue.double)
    case .date: Timestamp.date(text).map(PreferenceValue.date)
    // Without the flag `http://a b` would come back as another text than the one that was written.
    case .url: URL(string: text, encodingInvalidCharacters: false).map(PreferenceValue.url)
    case .array, .dictionary: nil
    }
  }

  /// The value that `text` spells as `kind`.
  ///
  /// - Parameter name: what an error calls the text.
  /// - Throws: `typeMismatch` when it spells none.
  package static func parse(
    _ text: String, as kind: PreferenceValue.Kind, of key: String, calling name: String
  ) throws(PreferencesError) -> PreferenceValue {
    guard let value = value(text, as: kind) else {
      throw PreferencesError(.typeMismatch, "\(name) does not parse as \(kind)").about(key: key)
    }
    return value
  }

  static func bool(_ text: String) -> Bool? {
    switch text.lowercased() {
    case "true", "yes", "on", "1": true
    case "false", "no", "off", "0": false
    default: nil
    }
  }

  /// A decimal integer of either kind, `preferred` where both can hold it.
  ///
  /// A number of the other kind is still an integer: the caller's exact conversion then says `outOfRange`.
  static func integer(_ text: String, as preferred: PreferenceValue.Kind) -> PreferenceValue? {
    let signed = Int64(text).map(PreferenceValue.integer)
    let unsigned = UInt64(text).map(PreferenceValue.unsignedInteger)
    return preferred == .unsignedInteger ? unsigned ?? signed : signed ?? unsigned
  }

  package static func double(_ text: String) -> Double? {
    guard let double = Double(text) else { return nil }
    // `1e999` parses as infinity, which nobody wrote.
    if double.isInfinite && text.utf8.contains(where: { (0x30...0x39).contains($0) }) { return nil }
    return double
  }
}
