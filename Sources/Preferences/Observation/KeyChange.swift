/// A change of the value under a key. Prints, and dumps, without the values.
public struct KeyChange<Value: Sendable>: Sendable {
  /// What the key read as before: its default when it was not set.
  public let oldValue: Value
  /// What it reads as now; nil in a notice that comes before, see ``ObservationOptions/prior``.
  public let newValue: Value?
  /// Whether this is the notice of ``ObservationOptions/initial``: both values are the present one then.
  public let isInitial: Bool

  /// Whether this is the notice of ``ObservationOptions/prior``.
  public var isPrior: Bool { newValue == nil }
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
  /// The old value alone, in a notice of its own right before that of the change. The store has the new value already.
  public static let prior = ObservationOptions(rawValue: 2)
}
