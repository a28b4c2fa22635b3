// What writes one or several values. Each is one `edit`.

extension PreferencesStore {
  /// Stores `value` under `key`, replacing what was there.
  ///
  /// When it throws, the old value is still there.
  /// - Throws: ``PreferencesError/Code/invalidKey`` for a name against the rule, and whatever keeps the store from writing.
  @discardableResult
  public func set(_ value: PreferenceValue, forKey key: String) throws -> WriteOutcome {
    try edit(try PreferenceEdits(key, to: value))
  }

  /// The asynchronous form of `set(_:forKey:)`; does not block the calling thread.
  @discardableResult
  public func set(_ value: PreferenceValue, forKey key: String) async throws -> WriteOutcome {
    try await edit(try PreferenceEdits(key, to: value))
  }

  /// Stores `value` under `key`, replacing what was there.
  @discardableResult
  public func set(_ value: some PreferenceConvertible, forKey key: String) throws -> WriteOutcome {
    try edit(try PreferenceEdits(key, to: value.preferenceValue))
  }

  /// The asynchronous form of `set(_:forKey:)`; does not block the calling thread.
  @discardableResult
  public func set(_ value: some PreferenceConvertible, forKey key: String) async throws -> WriteOutcome {
    try await edit(try PreferenceEdits(key, to: value.preferenceValue))
  }

  /// Stores `value` under a declared key; setting an optional key to nil removes it. A secret one is written to sealed
  /// layers only.
  ///
  /// - Throws: ``PreferencesError/Code/invalidKey`` for a name against the rule, ``PreferencesError/Code/noStore`` when
  ///   there is no store for the key's secrecy here, and whatever keeps the store from writing.
  @discardableResult
  public func set<Value>(_ value: Value, for key: PreferenceKey<Value>) throws -> WriteOutcome {
    try edit(try PreferenceEdits(key, to: value))
  }

  /// The asynchronous form of `set(_:for:)`; does not block the calling thread.
  @discardableResult
  public func set<Value>(_ value: Value, for key: PreferenceKey<Value>) async throws -> WriteOutcome {
    try await edit(try PreferenceEdits(key, to: value))
  }

  /// Stores all of `values` over what is there, as one transaction; other keys keep their values.
  public func set(_ values: [String: PreferenceValue]) throws { try edit(try PreferenceEdits(merging: values)) }

  /// The asynchronous form of `set(_:)`; does not block the calling thread.
  public func set(_ values: [String: PreferenceValue]) async throws {
    try await edit(try PreferenceEdits(merging: values))
  }

  /// Removes the value under `key`; removing an absent key changes nothing and is no error.
  @discardableResult
  public func removeValue(forKey key: String) throws -> WriteOutcome { try edit(try PreferenceEdits(key, to: nil)) }

  /// The asynchronous form of `removeValue(forKey:)`; does not block the calling thread.
  @discardableResult
  public func removeValue(forKey key: String) async throws -> WriteOutcome {
    try await edit(try PreferenceEdits(key, to: nil))
  }

  /// Removes what is stored under a declared key, so that it reads as its default.
  @discardableResult
  public func reset<Value>(_ key: PreferenceKey<Value>) throws -> WriteOutcome {
    try edit(try PreferenceEdits(resetting: key))
  }

  /// The asynchronous form of `reset(_:)`; does not block the calling thread.
  @discardableResult
  public func reset<Value>(_ key: PreferenceKey<Value>) async throws -> WriteOutcome {
    try await edit(try PreferenceEdits(resetting: key))
  }

  /// Removes every value of this store, and of no other.
  public func removeAll() throws { try edit(.removal) }

  /// The asynchronous form of `removeAll()`; does not block the calling thread.
  public func removeAll() async throws { try await edit(.removal) }
}
