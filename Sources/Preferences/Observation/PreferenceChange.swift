/// A possible change in a reader. Contains keys and never values.
public struct PreferenceChange: Sendable, Hashable {
  /// The keys whose values may have changed; `nil` if any key may have changed.
  public let keys: Set<String>?
  /// If any key may have changed: the keys that are known to be unchanged, or whose changes are not reported.
  private var exceptions: Set<String> = []

  /// A change of these keys.
  public init(keys: Set<String>) { self.keys = keys }

  private init() { keys = nil }

  /// A change that may affect any key.
  public static let anything = PreferenceChange()

  /// A change that may affect any key except `keys`.
  public static func anything(except keys: Set<String>) -> PreferenceChange {
    var change = anything
    change.exceptions = keys
    return change
  }

  /// Whether the value of `key` may have changed.
  public func concerns(_ key: String) -> Bool { keys?.contains(key) ?? !exceptions.contains(key) }

  /// The change without these keys; `nil` if no key is left.
  package func without(_ others: Set<String>) -> PreferenceChange? {
    guard let keys else { return .anything(except: exceptions.union(others)) }
    let rest = keys.subtracting(others)
    return rest.isEmpty ? nil : PreferenceChange(keys: rest)
  }

  func merged(with other: PreferenceChange) -> PreferenceChange {
    switch (keys, other.keys) {
    case (let keys?, let others?): PreferenceChange(keys: keys.union(others))
    case (let keys?, nil): .anything(except: other.exceptions.subtracting(keys))
    case (nil, let others?): .anything(except: exceptions.subtracting(others))
    case (nil, nil): .anything(except: exceptions.intersection(other.exceptions))
    }
  }

  /// Translates the change to the key names of another reader.
  ///
  /// - Parameter name: the name of a key in that reader; `nil` for a key that the reader does not have.
  /// - Returns: `nil` if no key is left.
  func mapKeys(_ name: (String) -> String?) -> PreferenceChange? {
    guard let keys else { return .anything(except: Set(exceptions.compactMap(name))) }
    let mapped = Set(keys.compactMap(name))
    return mapped.isEmpty ? nil : PreferenceChange(keys: mapped)
  }
}
