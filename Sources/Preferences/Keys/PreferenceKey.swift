/// The name, type and default of one preference, declared once.
///
/// ```swift
/// extension PreferenceKey<Int> {
///   static let serverPort = Self("server.port", default: 8080)
/// }
/// extension PreferenceKey<String?> {
///   static let proxyHost = Self("proxy.host")
/// }
/// let port = try preferences.value(for: .serverPort)
/// ```
///
/// The name is hashed and checked when the key is created, so declare it with `static let`. A name that breaks the rule
/// of ``PreferenceName`` is an error when the key is used. Two keys are equal when their names are.
public struct PreferenceKey<Value: Sendable>: Sendable {
  /// The name of the preference.
  public var name: String { untyped.name }
  /// The kind that the value is stored as.
  public var kind: PreferenceValue.Kind { untyped.kind }
  /// Whether the value is a secret; ``Secrecy/plain`` unless the key has a secret type.
  public var secrecy: Secrecy { untyped.secrecy }

  let untyped: UntypedKey
  let makeDefault: @Sendable () -> Value
  /// Converts a stored value.
  public let decode: @Sendable (PreferenceValue) throws(PreferencesError) -> Value
  /// Converts a value for storing. `nil` removes the preference.
  public let encode: @Sendable (Value) throws(PreferencesError) -> PreferenceValue?
  /// The conversions of values in guarded memory; nil for a key of ordinary values.
  package let guarding: GuardedConversion<Value>?
  /// Returns what tells the values of the key apart; `nil` if that is what a store receives. A sealed value is sealed
  /// differently each time.
  package var comparison: (@Sendable (Value) throws(PreferencesError) -> PreferenceContent?)?

  /// The value of a key that is not set, computed at each access; it is never stored.
  public var defaultValue: Value { makeDefault() }

  /// Creates a key with custom conversions. Most keys need none: see ``PreferenceConvertible``.
  ///
  /// - Parameters:
  ///   - kind: the kind of the values that `encode` returns.
  ///   - secrecy: whether the value is a secret.
  ///   - guarding: the conversions of values in guarded memory: used to store a value, and to read a value that the
  ///     reader returns in guarded memory.
  ///   - makeDefault: returns the default; called for each lookup that finds no value.
  ///   - decode: converts a stored value; its message must not contain the value.
  ///   - encode: converts a value for storing; `nil` removes the stored value.
  public init(
    _ name: String, kind: PreferenceValue.Kind, secrecy: Secrecy = .plain, guarding: GuardedConversion<Value>? = nil,
    makeDefault: @escaping @Sendable () -> Value,
    decode: @escaping @Sendable (PreferenceValue) throws(PreferencesError) -> Value,
    encode: @escaping @Sendable (Value) throws(PreferencesError) -> PreferenceValue?
  ) {
    untyped = UntypedKey(name, kind: kind, secrecy: secrecy, isGuarded: guarding != nil)
    self.guarding = guarding
    self.makeDefault = makeDefault
    self.decode = decode
    self.encode = encode
  }

  func checkedName() throws(PreferencesError) -> PreferenceName { try untyped.checkedName() }

  /// Returns the query for the value of the key.
  ///
  /// - Throws: ``PreferencesError/Code/invalidKey``.
  public func query() throws(PreferencesError) -> PreferenceQuery {
    try untyped.query()
  }

  /// Converts a stored value to the key's type.
  ///
  /// - Throws: What the key's conversion throws, with the key's name; for a secret, without anything of the value.
  public func decoded(_ stored: PreferenceValue) throws(PreferencesError) -> Value {
    do { return try decode(stored) } catch { throw named(error) }
  }

  /// Converts stored content to the key's type. A key of guarded values makes no copy in ordinary memory.
  ///
  /// - Throws: As ``decoded(_:)-(PreferenceValue)``.
  public func decoded(_ content: PreferenceContent) throws -> Value {
    switch content {
    case .value(let value): return try decoded(value)
    case .guarded(let guarded):
      // In guarded memory is a secret, whose error has nothing of the value.
      do {
        guard let guarding else { return try decode(try guarded.value()) }
        return try guarding.decode(guarded)
      } catch let error as PreferencesError { throw error.withoutValues.about(key: name) }
    }
  }

  /// Returns `value` as a store receives it, a secret in guarded memory; `nil` removes the preference.
  ///
  /// - Throws: What the key's conversion throws, with the key's name; for a secret, without anything of the value.
  public func content(of value: Value) throws(PreferencesError) -> PreferenceContent? {
    do { return try unnamedContent(of: value) } catch { throw named(error) }
  }

  /// Returns what tells `value` apart from other values of the key. Throws as ``content(of:)``.
  package func compared(_ value: Value) throws(PreferencesError) -> PreferenceContent? {
    guard let comparison else { return try content(of: value) }
    return try comparison(value)
  }

  /// The comparison for a key whose values `writing` converts to values of this one, and which removes a value for
  /// `nil`.
  package func comparing<Other>(
    through writing: @escaping @Sendable (Other) throws(PreferencesError) -> Value?
  ) -> (@Sendable (Other) throws(PreferencesError) -> PreferenceContent?)? {
    guard let comparison else { return nil }
    return { other throws(PreferencesError) in
      guard let value = try writing(other) else { return nil }
      return try comparison(value)
    }
  }

  private func named(_ error: PreferencesError) -> PreferencesError {
    (secrecy == .secret ? error.withoutValues : error).about(key: name)
  }

  func unnamedContent(of value: Value) throws(PreferencesError) -> PreferenceContent? {
    guard let guarding else { return try encode(value).map(PreferenceContent.value) }
    return try guarding.encode(value).map(PreferenceContent.guarded)
  }
}

/// A key without its type. Generic code uses it to avoid looking up the metadata of `PreferenceKey<Value>`, which takes
/// longer than looking up a value.
struct UntypedKey: Sendable {
  let name: String
  let kind: PreferenceValue.Kind
  let secrecy: Secrecy
  /// Whether the values stay in guarded memory.
  let isGuarded: Bool
  // The hash and the validity of the name: a declared key is hashed and checked once.
  private let fingerprint: Int
  private let isValid: Bool

  init(_ name: String, kind: PreferenceValue.Kind, secrecy: Secrecy, isGuarded: Bool) {
    self.name = name
    self.kind = kind
    self.secrecy = secrecy
    self.isGuarded = isGuarded
    fingerprint = name.hashValue
    isValid = PreferenceName.isValid(name)
  }

  func checkedName() throws(PreferencesError) -> PreferenceName {
    guard isValid else { return try PreferenceName(name) }
    return PreferenceName(checked: name, fingerprint: fingerprint)
  }

  func query() throws(PreferencesError) -> PreferenceQuery {
    PreferenceQuery(try checkedName(), as: kind, secrecy: secrecy)
  }
}

/// Converts the values of a key from and to values in guarded memory.
public final class GuardedConversion<Value: Sendable>: Sendable {
  let decode: @Sendable (any GuardedValue) throws -> Value
  let encode: @Sendable (Value) throws(PreferencesError) -> (any GuardedValue)?

  /// - Parameters:
  ///   - decode: converts a value in guarded memory; its message must not contain the value.
  ///   - encode: converts a value for storing; `nil` removes the stored value.
  public init(
    decode: @escaping @Sendable (any GuardedValue) throws -> Value,
    encode: @escaping @Sendable (Value) throws(PreferencesError) -> (any GuardedValue)?
  ) {
    self.decode = decode
    self.encode = encode
  }

  /// The same conversion with an optional type; `nil` removes the value.
  package var lifted: GuardedConversion<Value?> {
    GuardedConversion<Value?>(
      decode: { [decode] value in try decode(value) },
      encode: { [encode] value throws(PreferencesError) in
        guard let value else { return nil }
        return try encode(value)
      })
  }
}

extension PreferenceKey where Value: PreferenceConvertible {
  /// Creates a key that reads as `defaultValue` while it is not set.
  public init(_ name: String, default defaultValue: Value) {
    self.init(name) { defaultValue }
  }

  /// Creates a key whose default is computed for each lookup that finds no value, and never stored.
  public init(_ name: String, makeDefault: @escaping @Sendable () -> Value) {
    self.init(
      name, kind: Value.preferenceKind, makeDefault: makeDefault,
      decode: { value throws(PreferencesError) in try Value(preferenceValue: value) },
      encode: { value throws(PreferencesError) in value.preferenceValue })
  }
}

extension PreferenceKey {
  /// Creates a key that reads as `nil` while it is not set, and is removed by setting `nil`.
  ///
  /// An optional key cannot have a different default: a stored `nil` could not be distinguished from *not set*.
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
