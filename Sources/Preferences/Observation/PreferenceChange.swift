/// That something may have changed in a reader. Tells keys and never values.
public struct PreferenceChange: Sendable, Hashable {
  /// The keys that may have another value; nil when any may.
  public let keys: Set<String>?

  /// A change of these keys.
  public init(keys: Set<String>) { self.keys = keys }

  private init() { keys = nil }

  /// A change of nobody knows what.
  public static let anything = PreferenceChange()

  /// Whether `key` may have another value.
  public func concerns(_ key: String) -> Bool { keys?.contains(key) ?? true }

  /// Both changes as one.
  func merged(with other: PreferenceChange) -> PreferenceChange {
    guard let keys, let others = other.keys else { return .anything }
    return PreferenceChange(keys: keys.union(others))
  }

  /// The same change as a reader sees it that calls keys otherwise.
  ///
  /// - Parameter name: the reader's name of a key; nil for one that it does not have.
  /// - Returns: nil when no key is left.
  public func mapKeys(_ name: (String) -> String?) -> PreferenceChange? {
    guard let keys else { return self }
    let mapped = Set(keys.compactMap(name))
    return mapped.isEmpty ? nil : PreferenceChange(keys: mapped)
  }
}
