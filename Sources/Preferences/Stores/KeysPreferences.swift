/// Preferences from two closures: which keys there are, and what each has.
public struct KeysPreferences: PreferencesReader {
  public let name: String
  /// Whether the values are sealed where they are kept.
  public let isSealed: Bool
  private let list: @Sendable () throws -> [String]
  private let read: @Sendable (String) throws -> PreferenceValue?

  /// - Parameters:
  ///   - isSealed: whether the values are sealed where they are kept.
  ///   - keys: the keys that have a value; one that is given twice counts once.
  ///   - value: the value of a key; nil for none. It is asked for keys that are not listed, too.
  public init(
    name: String = "keys", isSealed: Bool = false, keys: @escaping @Sendable () throws -> [String],
    value: @escaping @Sendable (String) throws -> PreferenceValue?
  ) {
    (self.name, self.isSealed, list, read) = (name, isSealed, keys, value)
  }

  /// - Throws: ``PreferencesError/Code/invalidKey``, and what the closure throws.
  public func value(forKey key: String) throws -> PreferenceValue? {
    try PreferenceKeyName.validate(key)
    return try read(key)
  }

  /// - Throws: what the closure throws.
  public func keys() throws -> [String] {
    var seen: Set<String> = []
    return try list().filter { PreferenceKeyName.isValid($0) && seen.insert($0).inserted }
  }
}

extension KeysPreferences: CustomStringConvertible, CustomReflectable {}
