extension PreferencesStore {
  /// Removes what is stored under several declared keys, so that they read as their defaults.
  public func reset<First, Second, each Rest: Sendable>(
    _ first: PreferenceKey<First>, _ second: PreferenceKey<Second>, _ rest: repeat PreferenceKey<each Rest>
  ) throws {
    try reset(first)
    try reset(second)
    for key in repeat each rest { try reset(key) }
  }

  /// Removes what is stored under declared keys of one type, so that they read as their defaults.
  public func reset<Value>(_ keys: [PreferenceKey<Value>]) throws {
    for key in keys { try reset(key) }
  }
}

extension PreferencesReader {
  /// Whether a declared key reads as its default, stored or not.
  public func isDefault<Value: Equatable>(_ key: PreferenceKey<Value>) throws -> Bool {
    try value(for: key) == key.defaultValue
  }
}
