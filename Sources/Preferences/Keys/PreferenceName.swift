/// The name of a preference, checked once and with its hash, so that no layer checks or hashes it again.
///
/// A name is 1 to 1024 bytes of UTF-8 without control characters (U+0000 to U+001F, U+007F to U+009F).
/// Dots, spaces and every other character are allowed. Names are not normalized. Two names are equal when they are
/// equal as Swift strings: composed and decomposed accents are the same.
public struct PreferenceName: Sendable {
  /// The longest name, in bytes of UTF-8.
  public static let maximumByteCount = 1024

  /// The name as it was written.
  public let text: String
  private let fingerprint: Int

  /// Checks a name.
  ///
  /// - Throws: ``PreferencesError/Code/invalidKey``.
  public init(_ text: String) throws(PreferencesError) {
    try Self.validate(text)
    self.init(checked: text)
  }

  /// Creates a name from text that is known to follow the rule.
  init(checked text: String) { self.init(checked: text, fingerprint: text.hashValue) }

  init(checked text: String, fingerprint: Int) {
    self.text = text
    self.fingerprint = fingerprint
  }

  /// Returns the names that follow the rule, in the given order.
  public static func valid(_ texts: some Sequence<String>) -> [PreferenceName] {
    texts.lazy.filter(isValid).map { PreferenceName(checked: $0) }
  }
}

extension PreferenceName {
  /// The ends of the names under which this package keeps what it needs for itself: the version of migrated
  /// preferences, and the times of a sync. In a file such a value is at the top level, whatever dictionaries its name
  /// leads into.
  package static let ownEnds = ["@version", "@written"]

  /// Whether the name ends in one of ``ownEnds``.
  package static func isOwn(_ text: some StringProtocol) -> Bool { ownEnds.contains { text.hasSuffix($0) } }
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
