import FoundationEssentials

// Keys for `Codable` types, which need no conformance.

extension PreferenceKey where Value: Codable {
  /// Creates a key whose value is stored with structure: a struct as a dictionary, a sequence as an array, and dates,
  /// data, URLs, booleans and numbers as their own kinds. See ``PreferenceValueEncoder``.
  ///
  /// For a `Codable` type with a raw value, ``PreferenceKey/init(_:default:)-(String,_)`` stores the raw value, and
  /// this key the result of the type's coding. `alsoReading(_:)` makes a key that reads both.
  ///
  /// An optional type does not compile, since a stored `nil` could not be distinguished from *not set*; use
  /// ``codable(_:kind:encoder:decoder:)``.
  ///
  /// - Parameters:
  ///   - kind: the kind that a type with custom coding is stored as, so that text-backed layers can parse it.
  ///   - encoder: the encoder, with the user info that the type's coding uses.
  ///   - decoder: the decoder, with the user info that the type's coding uses.
  public static func codable(
    _ name: String, default defaultValue: @autoclosure () -> Value, kind: PreferenceValue.Kind? = nil,
    encoder: PreferenceValueEncoder = PreferenceValueEncoder(),
    decoder: PreferenceValueDecoder = PreferenceValueDecoder()
  ) -> Self {
    let defaultValue = defaultValue()
    return codable(name, kind: kind, encoder: encoder, decoder: decoder) { defaultValue }
  }

  /// As ``codable(_:default:kind:encoder:decoder:)``, with a default that is computed for each lookup that finds no
  /// value, and never stored.
  public static func codable(
    _ name: String, kind: PreferenceValue.Kind? = nil, encoder: PreferenceValueEncoder = PreferenceValueEncoder(),
    decoder: PreferenceValueDecoder = PreferenceValueDecoder(), makeDefault: @escaping @Sendable () -> Value
  ) -> Self {
    Self(
      name, kind: kind ?? .coded(Value.self), makeDefault: makeDefault,
      decode: { stored throws(PreferencesError) in try decoder.decode(from: stored) },
      encode: { value throws(PreferencesError) in try encoder.encode(value) })
  }
}

extension PreferenceKey {
  /// As ``codable(_:default:kind:encoder:decoder:)``, for an optional type: reads as `nil` while it is not set; setting
  /// `nil` removes it.
  public static func codable<Wrapped: Codable>(
    _ name: String, kind: PreferenceValue.Kind? = nil, encoder: PreferenceValueEncoder = PreferenceValueEncoder(),
    decoder: PreferenceValueDecoder = PreferenceValueDecoder()
  ) -> Self where Value == Wrapped? {
    Self(
      name, kind: kind ?? .coded(Wrapped.self), makeDefault: { nil },
      decode: { stored throws(PreferencesError) in try decoder.decode(Wrapped.self, from: stored) },
      encode: { value throws(PreferencesError) in
        guard let value else { return nil }
        return try encoder.encode(value)
      })
  }
}

// These two repeat the signatures of the first two, so that an optional key with a default does not compile. An
// optional of a `Codable` type is `Codable`, and no constraint excludes it; but for an optional both overloads fit
// equally well, and the call is ambiguous (Tests/Refusals/CodableKeys.swift). The compiler passes over unavailable
// overloads, and it does choose between overloads whose default is a plain parameter: hence the autoclosures. The
// bodies must work, since types other than optionals can be made from nil too.
extension PreferenceKey where Value: Decodable & ExpressibleByNilLiteral {
  /// Makes an optional key with a default ambiguous. For a type that is only `Decodable`, creates a key for reading.
  @_documentation(visibility: internal)
  public static func codable(
    _ name: String, default defaultValue: @autoclosure () -> Value, kind: PreferenceValue.Kind? = nil,
    encoder: PreferenceValueEncoder = PreferenceValueEncoder(),
    decoder: PreferenceValueDecoder = PreferenceValueDecoder()
  ) -> Self {
    let defaultValue = defaultValue()
    return codable(name, kind: kind, encoder: encoder, decoder: decoder) { defaultValue }
  }

  /// Makes an optional key with a computed default ambiguous. For a type that is only `Decodable`, creates a key for
  /// reading.
  @_documentation(visibility: internal)
  public static func codable(
    _ name: String, kind: PreferenceValue.Kind? = nil, encoder: PreferenceValueEncoder = PreferenceValueEncoder(),
    decoder: PreferenceValueDecoder = PreferenceValueDecoder(), makeDefault: @escaping @Sendable () -> Value
  ) -> Self {
    Self(
      name, kind: kind ?? .coded(Value.self), makeDefault: makeDefault,
      decode: { stored throws(PreferencesError) in try decoder.decode(Value.self, from: stored) },
      encode: { _ throws(PreferencesError) in throw PreferencesError(.notStorable, "the key is for reading only") })
  }
}

extension PreferencesReader {
  /// The value under `key`, decoded; `nil` if it is absent.
  ///
  /// - Throws: ``PreferencesError/Code/typeMismatch``, ``PreferencesError/Code/outOfRange`` or
  ///   ``PreferencesError/Code/malformed`` if the stored value is not a `Value`.
  public func value<Value: Codable & Sendable>(forKey key: String, decoding type: Value.Type) throws -> Value? {
    try value(for: PreferenceKey<Value?>.codable(key))
  }
}

extension PreferencesStore {
  /// Stores `value` under `key`, encoded as by ``PreferenceKey/codable(_:default:kind:encoder:decoder:)``.
  ///
  /// - Throws: ``PreferencesError/Code/notStorable`` if it cannot be encoded, with the previous value intact.
  @discardableResult
  public func set<Value: Codable & Sendable>(encoding value: Value, forKey key: String) throws -> WriteOutcome {
    try set(value, for: PreferenceKey<Value?>.codable(key))
  }

  /// The asynchronous form of `set(encoding:forKey:)`; does not block the calling thread.
  @discardableResult
  public func set<Value: Codable & Sendable>(encoding value: Value, forKey key: String) async throws -> WriteOutcome {
    try await set(value, for: PreferenceKey<Value?>.codable(key))
  }
}

extension PreferenceValue.Kind {
  /// The kind that a type is stored as, unless it has custom coding.
  fileprivate static func coded(_ type: Any.Type) -> Self {
    if let type = type as? any StoredDirectly.Type { return type.preferenceKind }
    if let type = type as? any RawRepresentable.Type { return raw(type) }
    if let type = type as? any OptionalType.Type { return coded(type.wrapped) }
    // Text, which is parsed where it is decoded: a double would be rounded.
    if type == Decimal.self { return .string }
    if type is any BinaryFloatingPoint.Type { return .double }
    if type is any ExpressibleByArrayLiteral.Type { return .array }
    if let type = type as? any UnkeyedCoding.Type, type.isUnkeyed { return .array }
    return (type as? any PreferenceConvertible.Type)?.preferenceKind ?? .dictionary
  }

  private static func raw<Type: RawRepresentable>(_ type: Type.Type) -> Self {
    coded(Type.RawValue.self)
  }
}

private protocol OptionalType { static var wrapped: Any.Type { get } }
extension Optional: OptionalType { fileprivate static var wrapped: Any.Type { Wrapped.self } }

/// A type of the standard library whose coding may use an unkeyed container, and that is made from no array literal.
private protocol UnkeyedCoding { static var isUnkeyed: Bool { get } }
extension UnkeyedCoding { fileprivate static var isUnkeyed: Bool { true } }
extension Duration: UnkeyedCoding {}
extension Range: UnkeyedCoding {}
extension ClosedRange: UnkeyedCoding {}
extension PartialRangeFrom: UnkeyedCoding {}
extension PartialRangeUpTo: UnkeyedCoding {}
extension PartialRangeThrough: UnkeyedCoding {}
extension Dictionary: UnkeyedCoding {
  fileprivate static var isUnkeyed: Bool {
    Key.self != String.self && Key.self != Int.self && !(Key.self is any CodingKeyRepresentable.Type)
  }
}
