/// The name, type and default of one preference, declared once.
///
/// ```swift
/// extension PreferenceKey<Int> {
///   static var serverPort: Self { .init("server.port", default: 8080) }
/// }
/// extension PreferenceKey<String?> {
///   static var proxyHost: Self { .init("proxy.host") }
/// }
/// let port = try preferences.value(for: .serverPort)
/// ```
///
/// The name is checked when the key is used, see ``PreferenceKeyName``.
public struct PreferenceKey<Value: Sendable>: Sendable {
  public let name: String
  /// What an absent value reads as; it is never stored.
  public let defaultValue: Value
  /// The kind that the value is stored as.
  public let kind: PreferenceValue.Kind

  let decode: @Sendable (PreferenceValue) throws(PreferencesError) -> Value
  /// Nil means: store nothing, remove what is there.
  let encode: @Sendable (Value) -> PreferenceValue?
}

extension PreferenceKey where Value: PreferenceConvertible {
  /// Creates a key that reads as `defaultValue` while it is not set.
  public init(_ name: String, default defaultValue: Value) {
    self.name = name
    self.defaultValue = defaultValue
    kind = Value.preferenceKind
    decode = { value throws(PreferencesError) in try Value(preferenceValue: value) }
    encode = { value in value.preferenceValue }
  }
}

extension PreferenceKey {
  /// Creates a key that reads as nil while it is not set, and is removed by setting nil.
  ///
  /// There is no optional key with another default: its stored nil could not be told from *not set*.
  public init<Wrapped: PreferenceConvertible>(_ name: String) where Value == Wrapped? {
    self.name = name
    defaultValue = nil
    kind = Wrapped.preferenceKind
    decode = { value throws(PreferencesError) in try Wrapped(preferenceValue: value) }
    encode = { value in value?.preferenceValue }
  }
}
