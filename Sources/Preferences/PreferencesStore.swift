/// A reader that can also be changed.
public protocol PreferencesStore: PreferencesReader {
  /// Stores `value` under `key`, replacing what was there.
  ///
  /// When it throws, the old value is still there.
  @discardableResult
  func set(_ value: PreferenceValue, forKey key: String) throws -> WriteOutcome

  /// Removes the value under `key`; removing an absent key changes nothing and is no error.
  @discardableResult
  func removeValue(forKey key: String) throws -> WriteOutcome

  /// Removes every value of this store, and of no other.
  func removeAll() throws
}

extension PreferencesStore {
  /// Stores `value` under `key`, replacing what was there.
  @discardableResult
  public func set(_ value: some PreferenceConvertible, forKey key: String) throws -> WriteOutcome {
    try set(value.preferenceValue, forKey: key)
  }

  /// Stores `value` under a declared key; setting an optional key to nil removes it.
  ///
  /// - Throws: ``PreferencesError/Code/invalidKey`` for a name against the rule, and whatever keeps the store
  ///   from writing.
  @discardableResult
  public func set<Value>(_ value: Value, for key: PreferenceKey<Value>) throws -> WriteOutcome {
    try PreferenceKeyName.validate(key.name)
    guard let value = key.encode(value) else { return try removeValue(forKey: key.name) }
    return try set(value, forKey: key.name)
  }
}
