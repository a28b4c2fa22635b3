/// A change of a key's value. Its description and its dump do not contain the values.
public struct KeyChange<Value: Sendable>: Sendable {
  /// The value before the change; the default if the key was not set.
  public let oldValue: Value
  /// The value after the change; the default if the key was removed.
  public let newValue: Value
  /// Whether this is the initial notification. Both values are then the current value.
  public internal(set) var isInitial = false
  /// Whether this is the first of two notifications of one change. Both have the same values.
  public internal(set) var isPrior = false
}

// The values may be secret.
extension KeyChange: CustomStringConvertible, CustomReflectable {
  public var description: String { isInitial ? "initial value" : isPrior ? "change to come" : "change" }
  public var customMirror: Mirror { Mirror(self, children: EmptyCollection<Mirror.Child>()) }
}
