extension PreferencesStore {
  /// Removes the values of several declared keys in one transaction, so that they read as their defaults.
  public func reset<First, Second, each Rest: Sendable>(
    _ first: PreferenceKey<First>, _ second: PreferenceKey<Second>, _ rest: repeat PreferenceKey<each Rest>
  ) throws {
    try edit { edits in
      try edits.reset(first)
      try edits.reset(second)
      for key in repeat each rest { try edits.reset(key) }
    }
  }

  /// Removes the values of declared keys of one type in one transaction, so that they read as their defaults.
  public func reset<Value>(_ keys: [PreferenceKey<Value>]) throws {
    try edit { edits in for key in keys { try edits.reset(key) } }
  }

  /// The asynchronous form of `reset(_:_:_:)`; does not block the calling thread.
  public func reset<First, Second, each Rest: Sendable>(
    _ first: PreferenceKey<First>, _ second: PreferenceKey<Second>, _ rest: repeat PreferenceKey<each Rest>
  ) async throws {
    try await edit { edits in
      try edits.reset(first)
      try edits.reset(second)
      for key in repeat each rest { try edits.reset(key) }
    }
  }

  /// The asynchronous form of `reset(_:)`; does not block the calling thread.
  public func reset<Value>(_ keys: [PreferenceKey<Value>]) async throws {
    try await edit { edits in for key in keys { try edits.reset(key) } }
  }
}
