/// That something may have changed in a reader. Tells keys and never values.
public struct PreferenceChange: Sendable, Hashable {
  /// The keys that may have another value; nil when any may.
  public let keys: Set<String>?
  /// Where any key may have another value: those that are known to be as they were, or are not to be told.
  private var exceptions: Set<String> = []

  /// A change of these keys.
  public init(keys: Set<String>) { self.keys = keys }

  private init() { keys = nil }

  /// A change of nobody knows what.
  public static let anything = PreferenceChange()

  /// A change of nobody knows what, but not of these keys.
  package static func anything(except keys: Set<String>) -> PreferenceChange {
    var change = anything
    change.exceptions = keys
    return change
  }

  /// Whether `key` may have another value.
  public func concerns(_ key: String) -> Bool { keys?.contains(key) ?? !exceptions.contains(key) }

  /// Both changes as one.
  func merged(with other: PreferenceChange) -> PreferenceChange {
    switch (keys, other.keys) {
    case (let keys?, let others?): PreferenceChange(keys: keys.union(others))
    case (let keys?, nil): .anything(except: other.exceptions.subtracting(keys))
    case (nil, let others?): .anything(except: exceptions.subtracting(others))
    case (nil, nil): .anything(except: exceptions.intersection(other.exceptions))
    }
  }

  /// The same change as a reader sees it that calls keys otherwise.
  ///
  /// - Parameter name: the reader's name of a key; nil for one that it does not have.
  /// - Returns: nil when no key is left.
  public func mapKeys(_ name: (String) -> String?) -> PreferenceChange? {
    guard let keys else { return .anything(except: Set(exceptions.compactMap(name))) }
    let mapped = Set(keys.compactMap(name))
    return mapped.isEmpty ? nil : PreferenceChange(keys: mapped)
  }
}
