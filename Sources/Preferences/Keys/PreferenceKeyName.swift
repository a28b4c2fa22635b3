/// The rule for names of preferences.
///
/// A name is 1 to 1024 bytes of UTF-8 without control characters (U+0000 to U+001F, U+007F to U+009F).
/// Dots, spaces and every other character are fine. Names are not rewritten; two names are one key when
/// they are equal as Swift strings, so composed and decomposed accents are the same.
public enum PreferenceKeyName {
  /// The longest name, in bytes of UTF-8.
  public static let maximumByteCount = 1024

  /// Returns when `name` follows the rule; the same in debug and release.
  ///
  /// - Throws: ``PreferencesError/Code/invalidKey``.
  public static func validate(_ name: String) throws(PreferencesError) {
    guard !name.isEmpty else { throw PreferencesError(.invalidKey, "the key is empty") }
    let count = name.utf8.count
    guard count <= maximumByteCount else {
      throw PreferencesError(.invalidKey, "the key has \(count) bytes, more than \(maximumByteCount)")
    }
    guard !name.unicodeScalars.contains(where: isControl) else {
      throw PreferencesError(.invalidKey, "key \"\(name)\": control characters are not allowed")
    }
  }

  static func isValid(_ name: String) -> Bool {
    do {
      try validate(name)
      return true
    } catch {
      return false
    }
  }

  private static func isControl(_ scalar: Unicode.Scalar) -> Bool {
    scalar.value < 0x20 || (0x7F...0x9F).contains(scalar.value)
  }
}
