public import Preferences

extension StoredPreference {
  /// Wraps a declared key of the shared store.
  public init(_ key: PreferenceKey<Value>) { self.init(key, in: SharedPreferences()) }

  /// Wraps a name of the shared store. Reads as the property's initial value while nothing is stored.
  public init(wrappedValue: Value, _ name: String) where Value: PreferenceConvertible {
    self.init(wrappedValue: wrappedValue, name, in: SharedPreferences())
  }

  /// Wraps a name of the shared store. Reads as `nil` while nothing is stored.
  public init<Wrapped: PreferenceConvertible>(_ name: String) where Value == Wrapped? {
    self.init(name, in: SharedPreferences())
  }
}

extension ReadPreference {
  /// Wraps a declared key of the shared store.
  public init(_ key: PreferenceKey<Value>) { self.init(key, in: SharedPreferences()) }

  /// Wraps a name of the shared store. Reads as `nil` while nothing is stored.
  public init<Wrapped: PreferenceConvertible>(_ name: String) where Value == Wrapped? {
    self.init(name, in: SharedPreferences())
  }
}
