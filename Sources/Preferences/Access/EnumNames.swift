// Names declared as the cases of an enum: `enum Name: String { case port = "server.port" }`.

extension PreferencesReader {
  /// The value under the raw name of `name`; nil when absent.
  public func value(forKey name: some RawRepresentable<String>) throws -> PreferenceValue? {
    try value(forKey: name.rawValue)
  }

  /// Whether the raw name of `name` has a value, of whatever kind.
  public func contains(_ name: some RawRepresentable<String>) throws -> Bool { try contains(name.rawValue) }
}

extension PreferencesStore {
  /// Stores `value` under the raw name of `name`.
  @discardableResult
  public func set(_ value: PreferenceValue, forKey name: some RawRepresentable<String>) throws -> WriteOutcome {
    try set(value, forKey: name.rawValue)
  }

  /// Removes the value under the raw name of `name`.
  @discardableResult
  public func removeValue(forKey name: some RawRepresentable<String>) throws -> WriteOutcome {
    try removeValue(forKey: name.rawValue)
  }
}

extension PreferenceKey where Value: PreferenceConvertible {
  /// Creates a key under the raw name of `name` that reads as `defaultValue` while it is not set.
  public init(_ name: some RawRepresentable<String>, default defaultValue: Value) {
    self.init(name.rawValue, default: defaultValue)
  }
}

extension PreferenceKey {
  /// Creates a key under the raw name of `name` that reads as nil while it is not set.
  public init<Wrapped: PreferenceConvertible>(_ name: some RawRepresentable<String>) where Value == Wrapped? {
    self.init(name.rawValue)
  }
}
