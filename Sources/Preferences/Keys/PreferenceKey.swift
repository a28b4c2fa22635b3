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
/// The name is checked when the key is used, see ``PreferenceKeyName``. Two keys are equal when their names are.
public struct PreferenceKey<Value: Sendable>: Sendable {
  /// What the preference is called.
  public let name: String
  /// The kind that the value is stored as.
  public let kind: PreferenceValue.Kind
  /// Which layers may answer; ``Secrecy/plain`` unless ``allowingSealed()`` or a secret type says otherwise.
  public let secrecy: Secrecy

  let makeDefault: @Sendable () -> Value
  let decode: @Sendable (PreferenceValue) throws(PreferencesError) -> Value
  /// Nil means: store nothing, remove what is there.
  let encode: @Sendable (Value) throws(PreferencesError) -> PreferenceValue?

  /// What an absent value reads as now; it is never stored.
  public var defaultValue: Value { makeDefault() }

  /// Creates a key with conversions of its own. Most keys need none: see ``PreferenceConvertible``.
  ///
  /// - Parameters:
  ///   - kind: what `encode` gives.
  ///   - secrecy: which layers may answer.
  ///   - makeDefault: is called at each miss, and never before.
  ///   - decode: converts a stored value; its message must not hold the value.
  ///   - encode: converts a value for storing; nil removes what is stored.
  public init(
    _ name: String, kind: PreferenceValue.Kind, secrecy: Secrecy = .plain,
    makeDefault: @escaping @Sendable () -> Value,
    decode: @escaping @Sendable (PreferenceValue) throws(PreferencesError) -> Value,
    encode: @escaping @Sendable (Value) throws(PreferencesError) -> PreferenceValue?
  ) {
    (self.name, self.kind, self.secrecy) = (name, kind, secrecy)
    (self.makeDefault, self.decode, self.encode) = (makeDefault, decode, encode)
  }

  /// The value that a stored one stands for. An error names the key.
  func decoded(_ stored: PreferenceValue) throws(PreferencesError) -> Value {
    do { return try decode(stored) } catch { throw error.about(key: name) }
  }

  /// The value as it is stored; nil for removing. An error names the key.
  func encoded(_ value: Value) throws(PreferencesError) -> PreferenceValue? {
    do { return try encode(value) } catch { throw error.about(key: name) }
  }

  /// The same key, which sealed layers may answer for, too. A secret one stays as it is.
  public func allowingSealed() -> Self {
    guard secrecy != .secret else { return self }
    return Self(name, kind: kind, secrecy: .any, makeDefault: makeDefault, decode: decode, encode: encode)
  }
}

extension PreferenceKey where Value: PreferenceConvertible {
  /// Creates a key that reads as `defaultValue` while it is not set.
  public init(_ name: String, default defaultValue: Value) {
    self.init(name) { defaultValue }
  }

  /// Creates a key whose default is computed at each read that finds nothing, and never stored.
  public init(_ name: String, makeDefault: @escaping @Sendable () -> Value) {
    self.init(
      name, kind: Value.preferenceKind, makeDefault: makeDefault,
      decode: { value throws(PreferencesError) in try Value(preferenceValue: value) },
      encode: { value throws(PreferencesError) in value.preferenceValue })
  }
}

extension PreferenceKey {
  /// Creates a key that reads as nil while it is not set, and is removed by setting nil.
  ///
  /// There is no optional key with another default: its stored nil could not be told from *not set*.
  public init<Wrapped: PreferenceConvertible>(_ name: String) where Value == Wrapped? {
    self.init(
      name, kind: Wrapped.preferenceKind, makeDefault: { nil },
      decode: { value throws(PreferencesError) in try Wrapped(preferenceValue: value) },
      encode: { value throws(PreferencesError) in value?.preferenceValue })
  }
}

extension PreferenceKey: Hashable {
  public static func == (a: Self, b: Self) -> Bool { a.name == b.name }
  public func hash(into hasher: inout Hasher) { hasher.combine(name) }
}
