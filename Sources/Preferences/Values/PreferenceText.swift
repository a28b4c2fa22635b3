import FoundationEssentials

/// Parses values for text-backed layers.
package enum PreferenceText {
  /// The whole of `text` parsed as `kind`; `nil` if it does not parse.
  package static func value(_ text: String, as kind: PreferenceValue.Kind) -> PreferenceValue? {
    switch kind {
    case .string: .string(text)
    case .data: Data(base64Encoded: text).map(PreferenceValue.data)
    case .bool: bool(text).map(PreferenceValue.bool)
    case .integer, .unsignedInteger: integer(text, as: kind)
    case .double: double(text).map(PreferenceValue.double)
    case .date: Timestamp.date(text).map(PreferenceValue.date)
    // Without the flag, `http://a b` would be changed by escaping.
    case .url: URL(string: text, encodingInvalidCharacters: false).map(PreferenceValue.url)
    case .array, .dictionary: nil
    }
  }

  /// The whole of `text` parsed as `kind`.
  ///
  /// - Parameter name: the name of the text in errors.
  /// - Throws: `typeMismatch` if it does not parse.
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

  /// A decimal integer, of the `preferred` kind if both kinds can hold it.
  ///
  /// An integer of the other kind is returned, too, so that the caller's exact conversion throws `outOfRange`.
  static func integer(_ text: String, as preferred: PreferenceValue.Kind) -> PreferenceValue? {
    let signed = Int64(text).map(PreferenceValue.integer)
    let unsigned = UInt64(text).map(PreferenceValue.unsignedInteger)
    return preferred == .unsignedInteger ? unsigned ?? signed : signed ?? unsigned
  }

  package static func double(_ text: String) -> Double? {
    guard let double = Double(text) else { return nil }
    // `1e999` would parse as infinity.
    if double.isInfinite && text.utf8.contains(where: { (0x30...0x39).contains($0) }) { return nil }
    return double
  }
}
