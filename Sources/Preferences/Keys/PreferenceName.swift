/// The name of a preference, checked once and with its hash, so that no layer checks or hashes it again.
///
/// Two names are equal when they are equal as Swift strings: composed and decomposed accents are the same.
public struct PreferenceName: Sendable {
  /// The name as it was written.
  public let text: String
  private let fingerprint: Int

  /// Checks a name.
  ///
  /// - Throws: ``PreferencesError/Code/invalidKey`` for a name that breaks the rule of ``PreferenceKeyName``.
  public init(_ text: String) throws(PreferencesError) {
    try PreferenceKeyName.validate(text)
    self.init(checked: text)
  }

  /// Creates a name from text that is known to follow the rule.
  init(checked text: String) { self.init(checked: text, fingerprint: text.hashValue) }

  init(checked text: String, fingerprint: Int) { (self.text, self.fingerprint) = (text, fingerprint) }

  /// Returns the names that follow the rule, in the given order.
  public static func valid(_ texts: some Sequence<String>) -> [PreferenceName] {
    texts.lazy.filter(PreferenceKeyName.isValid).map { PreferenceName(checked: $0) }
  }
}

extension PreferenceName: Hashable {
  public static func == (a: Self, b: Self) -> Bool { a.fingerprint == b.fingerprint && a.text == b.text }
  public func hash(into hasher: inout Hasher) { hasher.combine(fingerprint) }
  /// Mixes the fingerprint with a dictionary's seed. The fingerprint is already a keyed hash, and hashing it again
  /// takes a third of a lookup through four layers. Both halves are folded, so that two dictionaries have different
  /// orders.
  public func _rawHashValue(seed: Int) -> Int {
    let mixed = UInt(bitPattern: fingerprint ^ seed) &* 0x9E37_79B9_7F4A_7C15
    return Int(bitPattern: mixed ^ mixed >> 32)
  }
}

extension PreferenceName: Comparable {
  public static func < (a: Self, b: Self) -> Bool { a.text < b.text }
}

extension PreferenceName: CustomStringConvertible {
  /// The name, on one line.
  public var description: String { escapedForDisplay(text) }
}
