/// A property whose value is a preference of a reader, such as the environment: a read-only ``StoredPreference``.
@propertyWrapper
public struct ReadPreference<Value: Sendable>: Sendable {
  private let tracked: TrackedPreference<Value>

  /// Wraps a declared key.
  public init(_ key: PreferenceKey<Value>, in reader: any PreferencesReader) {
    tracked = TrackedPreference(reader, key)
  }

  /// Wraps a name; reads as `nil` while there is no value.
  public init<Wrapped: PreferenceConvertible>(_ name: String, in reader: any PreferencesReader)
  where Value == Wrapped? {
    self.init(PreferenceKey(name), in: reader)
  }

  /// The current value. An error is reported to ``PreferenceFailures`` and returns the default.
  public var wrappedValue: Value { tracked.value }

  /// The wrapper, for ``get()`` and ``updates``.
  public var projectedValue: Self { self }

  /// Returns the current value.
  ///
  /// - Throws: as ``PreferencesReader/value(for:)-(PreferenceKey<Value>)``.
  public func get() throws -> Value { try tracked.reader.value(for: tracked.key) }

  /// The values, beginning with the current one.
  public var updates: AsyncStream<Value> { tracked.reader.updates(for: tracked.key) }
}
