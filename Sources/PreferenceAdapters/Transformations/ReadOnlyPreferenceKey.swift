public import Preferences

/// A key that can be read and never written: nothing leads from its value back to what is stored.
///
/// ```swift
/// let length = PreferenceKey<String?>("motd").read(through: ReadingTransformation { text in text.count })
/// try preferences.value(for: length)   // Int?
/// ```
public struct ReadOnlyPreferenceKey<Value: Sendable>: Sendable {
  private let key: PreferenceKey<Value>

  init(_ key: PreferenceKey<Value>) { self.key = key }

  /// What the preference is called.
  public var name: String { key.name }
  /// The kind that the value is stored as.
  public var kind: PreferenceValue.Kind { key.kind }
  /// Which layers may answer.
  public var secrecy: Secrecy { key.secrecy }
  /// What an absent value reads as now.
  public var defaultValue: Value { key.defaultValue }

  fileprivate var readable: PreferenceKey<Value> { key }
}

extension PreferenceKey {
  /// The same key for what `transformation` makes of its value, for reading.
  public func read<Other>(
    through transformation: some PreferenceReadTransformation<Value, Other>, default defaultValue: Other
  ) -> ReadOnlyPreferenceKey<Other> {
    reading(makeDefault: { defaultValue }) { value throws(PreferencesError) in try transformation.reading(value) }
  }

  /// The same key for what `transformation` makes of its value, for reading; nil stays nil.
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
        // Never called: only readers take this key.
        encode: { _ throws(PreferencesError) in throw PreferencesError(.notStorable, "the key is for reading only") }))
  }
}

extension PreferencesReader {
  /// The value of a key for reading, or its default when it is absent.
  public func value<Value>(for key: ReadOnlyPreferenceKey<Value>) throws -> Value { try value(for: key.readable) }

  /// The value of a key for reading as it is stored; nil when it is absent, whatever the key's default.
  public func storedValue<Value>(for key: ReadOnlyPreferenceKey<Value>) throws -> Value? {
    try storedValue(for: key.readable)
  }
}
