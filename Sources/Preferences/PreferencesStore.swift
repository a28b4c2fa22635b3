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

  /// Stores all of `values` over what is there; other keys keep their values. A store that can makes it one transaction.
  func set(_ values: [String: PreferenceValue]) throws

  /// Whether a value of that secrecy may be written here.
  func accepts(_ secrecy: Secrecy) -> Bool

  /// The secrecy that a write really has which is asked for with `asked`: secret for a name that a composite lists as
  /// such, and for what is written by name when all that it goes to is sealed.
  func secrecy(ofWriting key: String, asked: Secrecy) -> Secrecy

  /// Stores or, with nil, removes the value of a key of that secrecy.
  ///
  /// - Throws: ``PreferencesError/Code/noStore`` when it may not be written here, and as
  ///   ``set(_:forKey:)-(PreferenceValue,_)``.
  @discardableResult
  func write(_ value: PreferenceValue?, forKey key: String, secrecy: Secrecy) throws -> WriteOutcome

  /// As ``write(_:forKey:secrecy:)``, but only when a lookup still gives `old`: what
  /// ``PreferencesStore/update(_:_:)`` is made of.
  ///
  /// Without one of its own a store gets one that keeps out other exchanges of this process and nothing else. One of its
  /// own compares with `isSame(as:)`: `==` never finds NaN again, and an update would try for ever.
  /// - Returns: nil when a lookup gives something else; then nothing is written.
  @discardableResult
  func exchange(
    _ old: PreferenceValue?, for new: PreferenceValue?, forKey key: String, as kind: PreferenceValue.Kind?,
    secrecy: Secrecy
  ) throws -> WriteOutcome?
}

extension PreferencesStore {
  public func set(_ values: [String: PreferenceValue]) throws {
    for key in values.keys { try PreferenceKeyName.validate(key) }
    for (key, value) in values { try set(value, forKey: key) }
  }

  public func accepts(_ secrecy: Secrecy) -> Bool { secrecy.admits(sealed: isSealed) }

  public func secrecy(ofWriting key: String, asked: Secrecy) -> Secrecy {
    asked == .any && isSealed && !isLayered ? .secret : asked
  }

  @discardableResult
  public func write(
    _ value: PreferenceValue?, forKey key: String, secrecy: Secrecy
  ) throws -> WriteOutcome {
    guard accepts(routed(secrecy)) else { throw PreferencesError.noStore(in: name, for: secrecy) }
    guard let value else { return try removeValue(forKey: key) }
    return try set(value, forKey: key)
  }

  /// Stores `value` under `key`, replacing what was there.
  @discardableResult
  public func set(_ value: some PreferenceConvertible, forKey key: String) throws -> WriteOutcome {
    try set(value.preferenceValue, forKey: key)
  }

  /// Stores `value` under a declared key; setting an optional key to nil removes it. A secret one is written to sealed
  /// layers only.
  ///
  /// - Throws: ``PreferencesError/Code/invalidKey`` for a name against the rule, ``PreferencesError/Code/noStore`` when
  ///   the key's secrecy allows no store here, and whatever keeps the store from writing.
  @discardableResult
  public func set<Value>(_ value: Value, for key: PreferenceKey<Value>) throws -> WriteOutcome {
    try PreferenceKeyName.validate(key.name)
    return try write(try key.encoded(value), forKey: key.name, secrecy: key.secrecy)
  }

  /// Removes what is stored under a declared key, so that it reads as its default.
  @discardableResult
  public func reset<Value>(_ key: PreferenceKey<Value>) throws -> WriteOutcome {
    try PreferenceKeyName.validate(key.name)
    return try write(nil, forKey: key.name, secrecy: key.secrecy)
  }
}
