import Preferences

// The asynchronous forms of the operators that change a number or a collection; they do not block the calling thread.

extension Preference where Value: FixedWidthInteger {
  /// The asynchronous form of `preference += other`.
  public static func += (preference: Self, other: Value) async throws {
    try await preference.calculate { try preference.checked($0.addingReportingOverflow(other)) }
  }

  /// The asynchronous form of `preference -= other`.
  public static func -= (preference: Self, other: Value) async throws {
    try await preference.calculate { try preference.checked($0.subtractingReportingOverflow(other)) }
  }

  /// The asynchronous form of `preference *= other`.
  public static func *= (preference: Self, other: Value) async throws {
    try await preference.calculate { try preference.checked($0.multipliedReportingOverflow(by: other)) }
  }

  /// The asynchronous form of `preference /= other`.
  public static func /= (preference: Self, other: Value) async throws {
    try await preference.calculate { try preference.quotient($0, other) }
  }

  /// The asynchronous form of `preference %= other`.
  public static func %= (preference: Self, other: Value) async throws {
    try await preference.calculate { try preference.remainder($0, other) }
  }

  /// The asynchronous form of `preference &= other`.
  public static func &= (preference: Self, other: Value) async throws {
    try await preference.calculate { $0 & other }
  }

  /// The asynchronous form of `preference |= other`.
  public static func |= (preference: Self, other: Value) async throws {
    try await preference.calculate { $0 | other }
  }

  /// The asynchronous form of `preference ^= other`.
  public static func ^= (preference: Self, other: Value) async throws {
    try await preference.calculate { $0 ^ other }
  }

  /// The asynchronous form of `preference++`.
  public static postfix func ++ (preference: Self) async throws { try await preference += 1 }

  /// The asynchronous form of `preference--`.
  public static postfix func -- (preference: Self) async throws { try await preference -= 1 }
}

extension Preference where Value: BinaryFloatingPoint {
  /// The asynchronous form of `preference += other`.
  public static func += (preference: Self, other: Value) async throws {
    try await preference.calculate { try preference.finite($0 + other, of: $0, other) }
  }

  /// The asynchronous form of `preference -= other`.
  public static func -= (preference: Self, other: Value) async throws {
    try await preference.calculate { try preference.finite($0 - other, of: $0, other) }
  }

  /// The asynchronous form of `preference *= other`.
  public static func *= (preference: Self, other: Value) async throws {
    try await preference.calculate { try preference.finite($0 * other, of: $0, other) }
  }

  /// The asynchronous form of `preference /= other`.
  public static func /= (preference: Self, other: Value) async throws {
    try await preference.calculate { try preference.quotient($0, other) }
  }
}

extension Preference where Value: RangeReplaceableCollection {
  /// The asynchronous form of `preference += other`.
  public static func += (preference: Self, other: Value) async throws {
    try await preference.apply { ($0 ?? Value()) + other }
  }
}
