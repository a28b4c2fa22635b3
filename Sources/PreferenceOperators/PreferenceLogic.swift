public import Preferences

infix operator &&= : AssignmentPrecedence
infix operator ||= : AssignmentPrecedence

// An absent truth value is false. What stands on the right is computed only when it matters.
extension Preference<Bool> {
  /// Stays true only if `other` is; absent counts as false.
  public static func &&= (preference: Self, other: @autoclosure () throws -> Bool) throws {
    try preference.apply { try ($0 ?? false) && other() }
  }

  /// Becomes true if `other` is; absent counts as false.
  public static func ||= (preference: Self, other: @autoclosure () throws -> Bool) throws {
    try preference.apply { try ($0 ?? false) || other() }
  }

  /// As `&&=`, with the right side always computed.
  public static func &= (preference: Self, other: Bool) throws { try preference &&= other }

  /// As `||=`, with the right side always computed.
  public static func |= (preference: Self, other: Bool) throws { try preference ||= other }

  /// Whether both are true; absent counts as false.
  public static func && (a: Self, b: @autoclosure () throws -> Self) throws -> Bool {
    try (a.get() ?? false) && (b().get() ?? false)
  }

  /// Whether one is true; absent counts as false.
  public static func || (a: Self, b: @autoclosure () throws -> Self) throws -> Bool {
    try (a.get() ?? false) || (b().get() ?? false)
  }

  /// Turns true into false, and false or absent into true.
  public func toggle() throws { try apply { !($0 ?? false) } }
}
