extension PreferencesStore {
  /// Removes what is stored under several declared keys, so that they read as their defaults.
  public func reset<First, Second, each Rest: Sendable>(
    _ first: PreferenceKey<First>, _ second: PreferenceKey<Second>, _ rest: repeat PreferenceKey<each Rest>
  ) throws {
    try edit { edits in
      try edits.reset(first)
      try edits.reset(second)
      for key in repeat each rest { try edits.reset(key) }
    }
  }

  /// Removes what is stored under declared keys of one type, so that they read as their defaults.
  public func reset<Value>(_ keys: [PreferenceKey<Value>]) throws {
    try edit { edits in for key in keys { try edits.reset(key) } }
  }
}

extension PreferencesReader {
  /// Whether a declared key reads as its default, stored or not.
  public func isDefault<Value: Equatable>(_ key: PreferenceKey<Value>) throws -> Bool {
    try value(for: key) == key.defaultValue
  }
}
