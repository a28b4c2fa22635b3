public import Preferences

/// Preferences from two closures: which keys there are, and what each has.
public struct KeysPreferences: PreferencesReader {
  public let name: String
  public let custody: Custody
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
    (self.name, custody, list, read) = (name, isSealed ? .sealed : .plain, keys, value)
  }

  /// - Throws: what the closure throws.
  public func value(for query: PreferenceQuery) throws -> PreferenceValue? { try read(query.name.text) }

  /// - Throws: what the closure throws.
  public func names(of secrecy: Secrecy) throws -> [PreferenceName] {
    var seen: Set<PreferenceName> = []
    return PreferenceName.valid(try list()).filter { seen.insert($0).inserted }
  }
}

extension KeysPreferences: CustomStringConvertible, CustomReflectable {}
