import Synchronization

/// Preferences in memory, such as defaults at the end of a composite or a store for a test.
///
/// Shared by reference: whoever holds the object sees the same values. Every call is atomic and may come
/// from any thread. A name against the rule of ``PreferenceKeyName`` in the initial dictionary stays
/// unreachable.
public final class DictionaryPreferences: PreferencesStore {
  public let name: String
  private let values: Mutex<[String: PreferenceValue]>

  /// Creates a store with its own copy of `values`.
  public init(_ values: [String: PreferenceValue], name: String = "dictionary") {
    self.name = name
    self.values = Mutex(values)
  }

  /// Creates an empty store.
  public convenience init() {
    self.init([:])
  }

  /// - Throws: ``PreferencesError/Code/invalidKey``.
  public func value(forKey key: String) throws(PreferencesError) -> PreferenceValue? {
    try PreferenceKeyName.validate(key)
    return values.withLock { $0[key] }
  }

  /// The keys in ascending order.
  public func keys() -> [String] {
    values.withLock { Array($0.keys) }.filter(PreferenceKeyName.isValid).sorted()
  }

  /// - Returns: ``WriteOutcome/visible``.
  /// - Throws: ``PreferencesError/Code/invalidKey``.
  @discardableResult
  public func set(_ value: PreferenceValue, forKey key: String) throws(PreferencesError) -> WriteOutcome {
    try PreferenceKeyName.validate(key)
    values.withLock { $0[key] = value }
    return .visible
  }

  /// - Returns: ``WriteOutcome/visible``.
  /// - Throws: ``PreferencesError/Code/invalidKey``.
  @discardableResult
  public func removeValue(forKey key: String) throws(PreferencesError) -> WriteOutcome {
    try PreferenceKeyName.validate(key)
    values.withLock { $0[key] = nil }
    return .visible
  }

  public func removeAll() {
    values.withLock { $0.removeAll() }
  }
}

extension DictionaryPreferences: ExpressibleByDictionaryLiteral {
  /// Creates a store; of a repeated key the last value counts.
  public convenience init(dictionaryLiteral elements: (String, PreferenceValue)...) {
    self.init(Dictionary(elements, uniquingKeysWith: { _, last in last }))
  }
}

extension DictionaryPreferences: CustomStringConvertible, CustomReflectable {}
