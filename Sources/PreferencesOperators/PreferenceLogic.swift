public import Preferences

infix operator &&= : AssignmentPrecedence
infix operator ||= : AssignmentPrecedence

// An absent boolean counts as false. The right operand is evaluated only if the result depends on it.
extension Preference<Bool> {
  /// Replaces the value with the logical AND of the value and `other`; absent counts as false.
  public static func &&= (preference: Self, other: @autoclosure () throws -> Bool) throws {
    preference.report(try preference.apply { try ($0 ?? false) && other() })
  }

  /// Replaces the value with the logical OR of the value and `other`; absent counts as false.
  public static func ||= (preference: Self, other: @autoclosure () throws -> Bool) throws {
    preference.report(try preference.apply { try ($0 ?? false) || other() })
  }

  /// Like `&&=`, but always evaluates `other`.
  public static func &= (preference: Self, other: Bool) throws { try preference &&= other }

  /// Like `||=`, but always evaluates `other`.
  public static func |= (preference: Self, other: Bool) throws { try preference ||= other }

  /// The asynchronous form of `preference &&= other`; does not block the calling thread.
  public static func &&= (preference: Self, other: @autoclosure () throws -> Bool) async throws {
    preference.report(try await preference.apply { try ($0 ?? false) && other() })
  }

  /// The asynchronous form of `preference ||= other`; does not block the calling thread.
  public static func ||= (preference: Self, other: @autoclosure () throws -> Bool) async throws {
    preference.report(try await preference.apply { try ($0 ?? false) || other() })
  }

  /// The asynchronous form of `preference &= other`; does not block the calling thread.
  public static func &= (preference: Self, other: Bool) async throws { try await preference &&= other }

  /// The asynchronous form of `preference |= other`; does not block the calling thread.
  public static func |= (preference: Self, other: Bool) async throws { try await preference ||= other }

  /// Whether both are true; absent counts as false.
  public static func && (a: Self, b: @autoclosure () throws -> Self) throws -> Bool {
    try (a.get() ?? false) && (b().get() ?? false)
  }

  /// Whether at least one is true; absent counts as false.
  public static func || (a: Self, b: @autoclosure () throws -> Self) throws -> Bool {
    try (a.get() ?? false) || (b().get() ?? false)
  }

  /// Replaces true with false, and false or an absent value with true.
  ///
  /// - Returns: the outcome of the write, which says whether a lookup returns the new value.
  /// - Throws: the error of the store, and `typeMismatch` if the value is no Boolean.
  @discardableResult
  public func toggle() throws -> WriteOutcome { try apply { !($0 ?? false) } }

  /// The asynchronous form of `toggle()`; does not block the calling thread.
  @discardableResult
  public func toggle() async throws -> WriteOutcome { try await apply { !($0 ?? false) } }
}
