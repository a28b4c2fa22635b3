/// A change of the value under a key. Prints, and dumps, without the values.
public struct KeyChange<Value: Sendable>: Sendable {
  /// What the key read as before: its default when it was not set.
  public let oldValue: Value
  /// What the key reads as now: its default when it was removed.
  public let newValue: Value
  /// Whether this is the notice of ``ObservationOptions/initial``: both values are the present one then.
  public internal(set) var isInitial = false
  /// Whether this is the notice of ``ObservationOptions/prior``. It has the same values as the notice that follows it.
  public internal(set) var isPrior = false
}

// The values may be secret.
extension KeyChange: CustomStringConvertible, CustomReflectable {
  public var description: String { isInitial ? "initial value" : isPrior ? "change to come" : "change" }
  public var customMirror: Mirror { Mirror(self, children: EmptyCollection<Mirror.Child>()) }
}

/// What a callback is told besides changes.
public struct ObservationOptions: OptionSet, Sendable {
  public let rawValue: Int
  public init(rawValue: Int) { self.rawValue = rawValue }

  /// The present value, at once.
  public static let initial = ObservationOptions(rawValue: 1)
  /// A further notice right before that of the change, see ``KeyChange/isPrior``. The store has the new value already.
  public static let prior = ObservationOptions(rawValue: 2)
}
