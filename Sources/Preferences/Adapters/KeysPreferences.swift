/// Preferences from two closures: one lists the keys, the other returns the value of a key.
public struct KeysPreferences: PreferencesReader {
  public let name: String
  public let custody: Custody
  private let list: @Sendable () throws -> [String]
  private let read: @Sendable (String) throws -> PreferenceValue?

  /// - Parameters:
  ///   - isSealed: whether the values are stored sealed.
  ///   - keys: returns the keys that have a value; repeated keys are listed once.
  ///   - value: returns the value of a key; `nil` if it has none. Also called for keys that are not listed.
  public init(
    name: String = "keys", isSealed: Bool = false, keys: @escaping @Sendable () throws -> [String],
    value: @escaping @Sendable (String) throws -> PreferenceValue?
  ) {
    self.name = name
    custody = isSealed ? .sealed : .plain
    list = keys
    read = value
  }

  /// - Throws: the error of the closure.
  public func value(for query: PreferenceQuery) throws -> PreferenceValue? { try read(query.name.text) }

  /// - Throws: the error of the closure.
  public func names(of secrecy: Secrecy) throws -> [PreferenceName] {
    var seen: Set<PreferenceName> = []
    return PreferenceName.valid(try list()).filter { seen.insert($0).inserted }
  }
}

extension KeysPreferences: CustomStringConvertible, CustomReflectable {}
