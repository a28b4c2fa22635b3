/// A property whose value is a preference of something that can only be read, such as the environment.
///
/// As ``StoredPreference``, without what changes the value.
@propertyWrapper
public struct ReadPreference<Value: Sendable>: Sendable {
  private let tracked: TrackedPreference<Value>

  /// Wraps a declared key.
  public init(_ key: PreferenceKey<Value>, in reader: any PreferencesReader) {
    tracked = TrackedPreference(reader, key)
  }

  /// Wraps a name; reads as nil while there is no value.
  public init<Wrapped: PreferenceConvertible>(_ name: String, in reader: any PreferencesReader)
  where Value == Wrapped? {
    self.init(PreferenceKey(name), in: reader)
  }

  /// What the key reads as now; its default when that fails, which is told to the reader.
  public var wrappedValue: Value { tracked.value }

  /// The wrapper itself, for what a value cannot do.
  public var projectedValue: Self { self }

  /// The value, or what keeps the reader from knowing.
  public func get() throws -> Value { try tracked.reader.value(for: tracked.key) }

  /// The values, from the present one on.
  public var updates: AsyncStream<Value> { tracked.reader.updates(for: tracked.key) }
}
