import Preferences

// Handles are compared by their values, and reading can fail. So these operators throw, and a handle is neither
// `Equatable` nor `Comparable`. Handles of the same preference have equal `id`s.

extension Preference where Value: Equatable {
  /// Whether both values are equal; two absent values are equal.
  public static func == (a: Self, b: Self) throws -> Bool { try a.get() == b.get() }
  /// Whether the handle's value equals `b`; `nil` means absent.
  public static func == (a: Self, b: Value?) throws -> Bool { try a.get() == b }
  /// Whether the values differ.
  public static func != (a: Self, b: Self) throws -> Bool { try a.get() != b.get() }
  /// Whether the handle's value differs from `b`; `nil` means absent.
  public static func != (a: Self, b: Value?) throws -> Bool { try a.get() != b }

  /// Matches a handle whose value equals `value`, in the cases of a `switch`. An absent value never matches. A failure
  /// never matches either and is reported to `PreferenceFailures`.
  public static func ~= (value: Value, preference: Self) -> Bool { preference.value == value }
}

// An absent value is less than every value.
extension Preference where Value: Comparable {
  /// Whether the first value is less than the second; an absent value is less than every value.
  public static func < (a: Self, b: Self) throws -> Bool { try precedes(a.get(), b.get()) }
  /// Whether the handle's value is less than `b`; an absent value is less than every value.
  public static func < (a: Self, b: Value?) throws -> Bool { try precedes(a.get(), b) }
  /// Whether the first value is greater than the second.
  public static func > (a: Self, b: Self) throws -> Bool { try precedes(b.get(), a.get()) }
  /// Whether the handle's value is greater than `b`.
  public static func > (a: Self, b: Value?) throws -> Bool { try precedes(b, a.get()) }
  /// Whether the first value is not greater than the second.
  public static func <= (a: Self, b: Self) throws -> Bool { try !precedes(b.get(), a.get()) }
  /// Whether the handle's value is not greater than `b`.
  public static func <= (a: Self, b: Value?) throws -> Bool { try !precedes(b, a.get()) }
  /// Whether the first value is not less than the second.
  public static func >= (a: Self, b: Self) throws -> Bool { try !precedes(a.get(), b.get()) }
  /// Whether the handle's value is not less than `b`.
  public static func >= (a: Self, b: Value?) throws -> Bool { try !precedes(a.get(), b) }

  /// Whether a handle's value is in `range`; an absent value is in no range.
  public static func ~= <Range: RangeExpression<Value>>(range: Range, preference: Self) -> Bool {
    preference.value.map(range.contains) ?? false
  }

  private static func precedes(_ a: Value?, _ b: Value?) -> Bool {
    guard let b else { return false }
    return a.map { $0 < b } ?? true
  }
}
