/// A possible change in a reader. Contains keys and never values.
public struct PreferenceChange: Sendable, Hashable {
  private enum Extent: Hashable {
    /// One key, which most changes are: a set would be allocated and hashed for each notification.
    case key(String)
    /// Another number of keys than one.
    case keys(Set<String>)
    /// Any key but these, which are known to be unchanged, or whose changes are not reported.
    case anything(except: Set<String>)
  }

  private let extent: Extent

  private init(_ extent: Extent) { self.extent = extent }

  /// A change of these keys.
  public init(keys: Set<String>) {
    extent = if keys.count == 1, let key = keys.first { .key(key) } else { .keys(keys) }
  }

  /// A change of this key.
  init(key: String) { extent = .key(key) }

  /// A change that may affect any key.
  public static let anything = anything(except: [])

  /// A change that may affect any key except `keys`.
  public static func anything(except keys: Set<String>) -> PreferenceChange {
    PreferenceChange(.anything(except: keys))
  }

  /// The keys whose values may have changed; `nil` if any key may have changed.
  public var keys: Set<String>? {
    switch extent {
    case .key(let key): [key]
    case .keys(let keys): keys
    case .anything: nil
    }
  }

  private var exceptions: Set<String> { if case .anything(let exceptions) = extent { exceptions } else { [] } }

  /// Whether the value of `key` may have changed.
  public func concerns(_ key: String) -> Bool {
    switch extent {
    case .key(let changed): changed == key
    case .keys(let keys): keys.contains(key)
    case .anything(let exceptions): !exceptions.contains(key)
    }
  }

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
