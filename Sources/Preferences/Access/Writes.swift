// Each write is one `edit`.

extension PreferencesStore {
  /// Stores `value` under `key`, replacing the previous value.
  ///
  /// - Throws: ``PreferencesError/Code/invalidKey``, and any error of the store, with the previous value intact unless
  ///   the store documents otherwise.
  @discardableResult
  public func set(_ value: PreferenceValue, forKey key: String) throws -> WriteOutcome {
    try edit(try PreferenceEdits(key, to: value))
  }

  /// The asynchronous form of `set(_:forKey:)`; does not block the calling thread.
  @discardableResult
  public func set(_ value: PreferenceValue, forKey key: String) async throws -> WriteOutcome {
    try await edit(try PreferenceEdits(key, to: value))
  }

  /// Stores `value` under `key`, replacing the previous value.
  @discardableResult
  public func set(_ value: some PreferenceConvertible, forKey key: String) throws -> WriteOutcome {
    try edit(try PreferenceEdits(key, to: value.preferenceValue))
  }

  /// The asynchronous form of `set(_:forKey:)`; does not block the calling thread.
  @discardableResult
  public func set(_ value: some PreferenceConvertible, forKey key: String) async throws -> WriteOutcome {
    try await edit(try PreferenceEdits(key, to: value.preferenceValue))
  }

  /// Stores `value` under a declared key; `nil` for an optional key removes the stored value. A secret is written to
  /// sealed layers only.
  ///
  /// - Throws: ``PreferencesError/Code/invalidKey``, ``PreferencesError/Code/noStore`` if no layer accepts values of
  ///   the key's secrecy, and any error of the store.
  @discardableResult
  public func set<Value>(_ value: Value, for key: PreferenceKey<Value>) throws -> WriteOutcome {
    try edit(try edits(key, to: value))
  }

  /// The asynchronous form of `set(_:for:)`; does not block the calling thread.
  @discardableResult
  public func set<Value>(_ value: Value, for key: PreferenceKey<Value>) async throws -> WriteOutcome {
    try await edit(try edits(key, to: value))
  }

  private func edits<Value>(_ key: PreferenceKey<Value>, to value: Value) throws(PreferencesError) -> PreferenceEdits {
    let name = try key.checkedName()
    return PreferenceEdits(PreferenceEdits.Edit(name, to: try key.encoded(value, for: self), secrecy: key.secrecy))
  }

  /// Stores all of `values` in one transaction; other keys keep their values.
  @discardableResult
  public func set(_ values: [String: PreferenceValue]) throws -> WriteOutcome {
    try edit(try PreferenceEdits(values))
  }

  /// The asynchronous form of `set(_:)`; does not block the calling thread.
  @discardableResult
  public func set(_ values: [String: PreferenceValue]) async throws -> WriteOutcome {
    try await edit(try PreferenceEdits(values))
  }

  /// Removes the value under `key`; if it is absent, nothing changes and no error is thrown.
  @discardableResult
  public func removeValue(forKey key: String) throws -> WriteOutcome { try edit(try PreferenceEdits(key, to: nil)) }

  /// The asynchronous form of `removeValue(forKey:)`; does not block the calling thread.
  @discardableResult
  public func removeValue(forKey key: String) async throws -> WriteOutcome {
    try await edit(try PreferenceEdits(key, to: nil))
  }

  /// Removes the values of declared keys in one transaction, so that they read as their defaults.
  @discardableResult
  public func reset<Value, each Other: Sendable>(
    _ key: PreferenceKey<Value>, _ others: repeat PreferenceKey<each Other>
  ) throws -> WriteOutcome {
    try edit { edits in
      try edits.reset(key)
      for key in repeat each others { try edits.reset(key) }
    }
  }

  /// The asynchronous form of `reset(_:_:)`; does not block the calling thread.
  @discardableResult
  public func reset<Value, each Other: Sendable>(
    _ key: PreferenceKey<Value>, _ others: repeat PreferenceKey<each Other>
  ) async throws -> WriteOutcome {
    try await edit { edits in
      try edits.reset(key)
      for key in repeat each others { try edits.reset(key) }
    }
  }

  /// Removes the values of declared keys of one type in one transaction, so that they read as their defaults.
  @discardableResult
  public func reset<Value>(_ keys: [PreferenceKey<Value>]) throws -> WriteOutcome {
    try edit { edits in for key in keys { try edits.reset(key) } }
  }

  /// The asynchronous form of `reset(_:)`; does not block the calling thread.
  @discardableResult
  public func reset<Value>(_ keys: [PreferenceKey<Value>]) async throws -> WriteOutcome {
    try await edit { edits in for key in keys { try edits.reset(key) } }
  }

  /// Removes all values of this store. In a composite, see ``CompositePreferences/WriteMode``.
  @discardableResult
  public func removeAll() throws -> WriteOutcome { try edit { $0.removeAll() } }

  /// The asynchronous form of `removeAll()`; does not block the calling thread.
  @discardableResult
  public func removeAll() async throws -> WriteOutcome { try await edit { $0.removeAll() } }
}
