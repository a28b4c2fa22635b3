// Keys of types with a raw value, which need no conformance.

extension PreferenceKey where Value: RawRepresentable, Value.RawValue: PreferenceConvertible {
  /// Creates a key of a type that a different package declares, without a conformance: the raw value is stored.
  ///
  /// ```swift
  /// extension PreferenceKey<Logger.Level> {
  ///   static let logLevel = Self("log.level", rawValue: Logger.Level.self, default: .info)
  /// }
  /// ```
  ///
  /// A stored raw value without an instance throws ``PreferencesError/Code/outOfRange``.
  public init(_ name: String, rawValue type: Value.Type, default defaultValue: Value) {
    self.init(
      name, kind: Value.RawValue.preferenceKind, makeDefault: { defaultValue },
      decode: { stored throws(PreferencesError) in try instance(of: stored) },
      encode: { value throws(PreferencesError) in value.rawValue.preferenceValue })
  }
}

extension PreferenceKey {
  /// As ``init(_:rawValue:default:)``, for an optional type: reads as `nil` while it is not set; setting `nil` removes
  /// it.
  public init<Wrapped: RawRepresentable>(_ name: String, rawValue type: Wrapped.Type)
  where Value == Wrapped?, Wrapped.RawValue: PreferenceConvertible {
    self.init(
      name, kind: Wrapped.RawValue.preferenceKind, makeDefault: { nil },
      decode: { stored throws(PreferencesError) in try instance(of: stored) as Wrapped },
      encode: { value throws(PreferencesError) in value?.rawValue.preferenceValue })
  }
}

private func instance<Value: RawRepresentable>(
  of stored: PreferenceValue
) throws(PreferencesError) -> Value where Value.RawValue: PreferenceConvertible {
  guard let known = Value(rawValue: try Value.RawValue(preferenceValue: stored)) else {
    throw PreferencesError(.outOfRange, "the value is not a raw value of \(Value.self)")
  }
  return known
}
