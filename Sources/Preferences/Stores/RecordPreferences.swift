/// Preferences kept in something else, such as the row of a database: three closures list, read and write it.
///
/// Changes are told to observers when they are made here. What the closures do at the same time in several threads is
/// theirs to settle.
public final class RecordPreferences: PreferencesStore {
  public let name: String
  /// Whether the values are sealed where they are kept.
  public let isSealed: Bool
  private let reader: KeysPreferences
  private let write: @Sendable (PreferenceValue?, String) throws -> Void
  private let changes = ChangeBroadcast()

  /// - Parameters:
  ///   - isSealed: whether the values are sealed where they are kept.
  ///   - keys: the keys that have a value.
  ///   - get: the value of a key; nil for none.
  ///   - set: stores a value or, with nil, removes it. When it throws, the old value is to be there still.
  public init(
    name: String = "record", isSealed: Bool = false, keys: @escaping @Sendable () throws -> [String],
    get: @escaping @Sendable (String) throws -> PreferenceValue?,
    set: @escaping @Sendable (PreferenceValue?, String) throws -> Void
  ) {
    (self.name, self.isSealed, write) = (name, isSealed, set)
    reader = KeysPreferences(name: name, isSealed: isSealed, keys: keys, value: get)
  }

  /// - Throws: ``PreferencesError/Code/invalidKey``, and what the closure throws.
  public func value(forKey key: String) throws -> PreferenceValue? { try reader.value(forKey: key) }

  /// - Throws: what the closure throws.
  public func keys() throws -> [String] { try reader.keys() }

  /// - Returns: ``WriteOutcome/visible``.
  /// - Throws: ``PreferencesError/Code/invalidKey``, and what the closure throws.
  @discardableResult
  public func set(_ value: PreferenceValue, forKey key: String) throws -> WriteOutcome { try change(key, to: value) }

  /// - Returns: ``WriteOutcome/visible``.
  /// - Throws: ``PreferencesError/Code/invalidKey``, and what the closure throws.
  @discardableResult
  public func removeValue(forKey key: String) throws -> WriteOutcome { try change(key, to: nil) }

  /// Removes the values one after another.
  /// - Throws: what the closures throw; those before are removed then.
  public func removeAll() throws {
    for key in try keys() { try removeValue(forKey: key) }
  }

  public func observe(_ notify: @escaping @Sendable (PreferenceChange) -> Void) -> PreferenceObservation {
    changes.observe(notify)
  }

  private func change(_ key: String, to value: PreferenceValue?) throws -> WriteOutcome {
    try PreferenceKeyName.validate(key)
    try write(value, key)
    changes.send(PreferenceChange(keys: [key]))
    return .visible
  }
}

extension RecordPreferences: CustomStringConvertible, CustomReflectable {}
