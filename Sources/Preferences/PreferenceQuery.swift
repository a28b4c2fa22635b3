/// A lookup: the name, the kind of value that the caller wants, and whether the value is a secret.
public struct PreferenceQuery: Sendable {
  /// The name that is looked up.
  public let name: PreferenceName
  /// The kind of value that the caller wants; `nil` for any. Text-backed layers parse their text as this kind; other
  /// layers ignore it.
  public let kind: PreferenceValue.Kind?
  /// Whether the value is a secret.
  public let secrecy: Secrecy

  /// Creates a lookup.
  public init(_ name: PreferenceName, as kind: PreferenceValue.Kind? = nil, secrecy: Secrecy = .plain) {
    self.name = name
    self.kind = kind
    self.secrecy = secrecy
  }

  /// Creates a lookup.
  ///
  /// - Throws: ``PreferencesError/Code/invalidKey``.
  public init(
    _ name: String, as kind: PreferenceValue.Kind? = nil, secrecy: Secrecy = .plain
  ) throws(PreferencesError) {
    self.init(try PreferenceName(name), as: kind, secrecy: secrecy)
  }
}
