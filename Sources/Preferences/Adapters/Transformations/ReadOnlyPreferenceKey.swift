/// A key for reading only: its transformation cannot convert a value back to the stored form.
///
/// ```swift
/// let length = PreferenceKey<String?>("motd").read(through: ReadingTransformation { text in text.count })
/// try preferences.value(for: length)   // Int?
/// ```
public struct ReadOnlyPreferenceKey<Value: Sendable>: Sendable {
  private let key: PreferenceKey<Value>

  init(_ key: PreferenceKey<Value>) { self.key = key }

  /// The name of the preference.
  public var name: String { key.name }
  /// The kind that the value is stored as.
  public var kind: PreferenceValue.Kind { key.kind }
  /// Whether the value is a secret.
  public var secrecy: Secrecy { key.secrecy }
  /// The value of a key that is not set, computed at each access.
  public var defaultValue: Value { key.defaultValue }

  fileprivate var readable: PreferenceKey<Value> { key }
}

extension PreferenceKey {
  /// The same key with its value converted by `transformation`, for reading.
  public func read<Other>(
    through transformation: some PreferenceReadTransformation<Value, Other>, default defaultValue: Other
  ) -> ReadOnlyPreferenceKey<Other> {
    reading(makeDefault: { defaultValue }) { value throws(PreferencesError) in try transformation.reading(value) }
  }

  /// The same key with its value converted by `transformation`, for reading; `nil` stays `nil`.
  public func read<Wrapped, Other>(
    through transformation: some PreferenceReadTransformation<Wrapped, Other>
  ) -> ReadOnlyPreferenceKey<Other?> where Value == Wrapped? {
    reading(makeDefault: { nil }) { value throws(PreferencesError) in
      guard let value else { return nil }
      return try transformation.reading(value)
    }
  }

  private func reading<Other>(
    makeDefault: @escaping @Sendable () -> Other,
    _ transform: @escaping @Sendable (Value) throws(PreferencesError) -> Other
  ) -> ReadOnlyPreferenceKey<Other> {
    ReadOnlyPreferenceKey(
      PreferenceKey<Other>(
        name, kind: kind, secrecy: secrecy, makeDefault: makeDefault,
        decode: { [decode] stored throws(PreferencesError) in try transform(decode(stored)) },
        // Never called: only methods that read accept this key.
        encode: { _ throws(PreferencesError) in throw PreferencesError(.notStorable, "the key is for reading only") }))
  }
}

extension PreferencesReader {
  /// The value of a read-only key, or the default of the key if the value is absent.
  public func value<Value>(for key: ReadOnlyPreferenceKey<Value>) throws -> Value { try value(for: key.readable) }

  /// The stored value of a read-only key; `nil` if it is absent, even if the key has a default.
  public func storedValue<Value>(for key: ReadOnlyPreferenceKey<Value>) throws -> Value? {
    try storedValue(for: key.readable)
  }
}
