// Keys for anything `Codable`, which needs no conformance of ours.

extension PreferenceKey where Value: Codable {
  /// Creates a key whose value is stored with structure: a struct as a dictionary, a sequence as an array, and dates,
  /// data, URLs, booleans and numbers as their own kinds. See ``PreferenceValueEncoder``.
  ///
  /// The key says how its value is stored, so a type with a raw value that is `Codable` as well is stored as the raw
  /// value by ``init(_:default:)-(String,_)``, and as its coding says by this one. ``alsoReading(_:)`` reads what the
  /// other has written.
  ///
  /// An optional type is for ``codable(_:)``: with a default of its own its nil could not be stored.
  public static func codable(_ name: String, default defaultValue: Value) -> Self {
    codable(name, default: defaultValue, kind: .coded(Value.self))
  }

  /// As ``codable(_:default:)``, for a type that codes itself.
  ///
  /// - Parameters:
  ///   - kind: what the type is stored as, so that layers of text can read it: `.string` for one that encodes a string.
  ///   - encoder: what the type's own coding can ask.
  ///   - decoder: what the type's own coding can ask.
  public static func codable(
    _ name: String, default defaultValue: Value, kind: PreferenceValue.Kind,
    encoder: PreferenceValueEncoder = PreferenceValueEncoder(),
    decoder: PreferenceValueDecoder = PreferenceValueDecoder()
  ) -> Self {
    Self(
      name, kind: kind, makeDefault: { defaultValue },
      through: StructuredTransformation(Value.self, encoder: encoder, decoder: decoder))
  }
}

extension PreferenceKey {
  /// As ``codable(_:default:)``, reading as nil while it is not set, and removed by setting nil.
  public static func codable<Wrapped: Codable>(_ name: String) -> Self where Value == Wrapped? {
    codable(name, kind: .coded(Wrapped.self))
  }

  /// As ``codable(_:default:kind:encoder:decoder:)``, reading as nil while it is not set, and removed by setting nil.
  public static func codable<Wrapped: Codable>(
    _ name: String, kind: PreferenceValue.Kind, encoder: PreferenceValueEncoder = PreferenceValueEncoder(),
    decoder: PreferenceValueDecoder = PreferenceValueDecoder()
  ) -> Self where Value == Wrapped? {
    Self(name, kind: kind, through: StructuredTransformation(Wrapped.self, encoder: encoder, decoder: decoder))
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
  /// Stores `value` under `key`, encoded as ``PreferenceKey/codable(_:default:)`` says.
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
