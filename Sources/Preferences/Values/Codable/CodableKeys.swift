// Keys for anything `Codable`, which needs no conformance of ours.

extension PreferenceKey where Value: Codable {
  /// Creates a key whose value is stored with structure: a struct as a dictionary, a sequence as an array, and dates,
  /// data, URLs, booleans and numbers as their own kinds. See ``PreferenceValueEncoder``.
  ///
  /// The key says how its value is stored, so a type with a raw value that is `Codable` as well is stored as the raw
  /// value by ``init(_:default:)-(String,_)``, and as its coding says by this one. `alsoReading(_:)` reads what the
  /// other has written.
  ///
  /// An optional type does not compile, since its stored nil could not be told from *not set*: it is for
  /// ``codable(_:kind:encoder:decoder:)``.
  ///
  /// - Parameters:
  ///   - kind: what a type with coding of its own is stored as, so that layers of text can read it: `.string` for one that
  ///     encodes a string.
  ///   - encoder: has what the type's own coding looks up.
  ///   - decoder: has what the type's own coding looks up.
  public static func codable(
    _ name: String, default defaultValue: @autoclosure () -> Value, kind: PreferenceValue.Kind? = nil,
    encoder: PreferenceValueEncoder = PreferenceValueEncoder(),
    decoder: PreferenceValueDecoder = PreferenceValueDecoder()
  ) -> Self {
    let defaultValue = defaultValue()
    return codable(name, kind: kind, encoder: encoder, decoder: decoder) { defaultValue }
  }

  /// As ``codable(_:default:kind:encoder:decoder:)``, with a default that is computed at each read that finds nothing, and
  /// never stored.
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
  /// As ``codable(_:default:kind:encoder:decoder:)``, reading as nil while it is not set, and removed by setting nil.
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

// An optional of a `Codable` type is `Codable`, and no constraint excludes it. These two fit an optional equally well, so
// that a call with an optional is ambiguous and does not compile; an unavailable function would be passed over. The
// default is an autoclosure, which is called at once: of functions that take a value, the compiler chooses one.
extension PreferenceKey where Value: Decodable & ExpressibleByNilLiteral {
  /// Makes an optional key with a default ambiguous. For a type that can only be decoded, the key is for reading.
  @_documentation(visibility: internal)
  public static func codable(
    _ name: String, default defaultValue: @autoclosure () -> Value, kind: PreferenceValue.Kind? = nil,
    encoder: PreferenceValueEncoder = PreferenceValueEncoder(),
    decoder: PreferenceValueDecoder = PreferenceValueDecoder()
  ) -> Self {
    let defaultValue = defaultValue()
    return codable(name, kind: kind, encoder: encoder, decoder: decoder) { defaultValue }
  }

  /// Makes an optional key with a computed default ambiguous. For a type that can only be decoded, the key is for reading.
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
  /// The value under `key`, decoded; nil when absent.
  ///
  /// - Throws: ``PreferencesError/Code/typeMismatch``, ``PreferencesError/Code/outOfRange`` or
  ///   ``PreferencesError/Code/malformed`` when what is stored is no `Value`.
  public func value<Value: Codable & Sendable>(forKey key: String, decoding type: Value.Type) throws -> Value? {
    try value(for: PreferenceKey<Value?>.codable(key))
  }
}

extension PreferencesStore {
  /// Stores `value` under `key`, encoded as ``PreferenceKey/codable(_:default:kind:encoder:decoder:)`` says.
  ///
  /// - Throws: ``PreferencesError/Code/notStorable`` when it cannot be encoded, with the old value still there.
  @discardableResult
  public func set<Value: Codable & Sendable>(encoding value: Value, forKey key: String) throws -> WriteOutcome {
    try set(value, for: PreferenceKey<Value?>.codable(key))
  }
}

extension PreferenceValue.Kind {
  /// What a type is stored as by coding, unless it codes itself in another way.
  fileprivate static func coded(_ type: Any.Type) -> Self {
    if let type = type as? any StoredDirectly.Type { return type.preferenceKind }
    if let type = type as? any RawRepresentable.Type { return raw(type) }
    if type is any ExpressibleByArrayLiteral.Type { return .array }
    return (type as? any PreferenceConvertible.Type)?.preferenceKind ?? .dictionary
  }

  private static func raw<Type: RawRepresentable>(_ type: Type.Type) -> Self {
    coded(Type.RawValue.self)
  }
}
