public import Preferences

// Handles are compared by what they read as, and reading may fail: so these throw, and a handle is neither `Equatable` nor
// `Comparable`. Whether two mean the same preference is told by their `id`.

extension Preference where Value: Equatable {
  /// Whether both read as the same; two absent ones do.
  public static func == (a: Self, b: Self) throws -> Bool { try a.get() == b.get() }
  /// Whether the handle reads as the value, nil meaning absent.
  public static func == (a: Self, b: Value?) throws -> Bool { try a.get() == b }
  /// Whether they read as different.
  public static func != (a: Self, b: Self) throws -> Bool { try a.get() != b.get() }
  /// Whether the handle reads as another value.
  public static func != (a: Self, b: Value?) throws -> Bool { try a.get() != b }

  /// Whether a handle reads as `value`, in the cases of a `switch`. Absent matches no value; neither does a failure, which
  /// goes to `PreferenceFailures`.
  public static func ~= (value: Value, preference: Self) -> Bool { preference.value == value }
}

// Absent comes before every value.
extension Preference where Value: Comparable {
  /// Whether the first comes before the second; absent comes first.
  public static func < (a: Self, b: Self) throws -> Bool { try precedes(a.get(), b.get()) }
  /// Whether the handle comes before the value; absent comes first.
  public static func < (a: Self, b: Value?) throws -> Bool { try precedes(a.get(), b) }
  /// Whether the first comes behind the second.
  public static func > (a: Self, b: Self) throws -> Bool { try precedes(b.get(), a.get()) }
  /// Whether the handle comes behind the value.
  public static func > (a: Self, b: Value?) throws -> Bool { try precedes(b, a.get()) }
  /// Whether the first does not come behind the second.
  public static func <= (a: Self, b: Self) throws -> Bool { try !precedes(b.get(), a.get()) }
  /// Whether the handle does not come behind the value.
  public static func <= (a: Self, b: Value?) throws -> Bool { try !precedes(b, a.get()) }
  /// Whether the first does not come before the second.
  public static func >= (a: Self, b: Self) throws -> Bool { try !precedes(a.get(), b.get()) }
  /// Whether the handle does not come before the value.
  public static func >= (a: Self, b: Value?) throws -> Bool { try !precedes(a.get(), b) }

  /// Whether a handle's value lies in `range`; absent lies in none.
  public static func ~= <Range: RangeExpression<Value>>(range: Range, preference: Self) -> Bool {
    preference.value.map(range.contains) ?? false
  }

  private static func precedes(_ a: Value?, _ b: Value?) -> Bool {
    guard let b else { return false }
    return a.map { $0 < b } ?? true
  }
}
