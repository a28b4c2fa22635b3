import Preferences

postfix operator ++
postfix operator --

// An absent number counts as zero. An overflow or a division by zero throws and changes nothing.

extension Preference where Value: FixedWidthInteger {
  /// Adds `other`; absent counts as zero.
  /// - Throws: `PreferencesError.Code.outOfRange` with the old value intact, and the errors of reading and writing.
  public static func += (preference: Self, other: Value) throws {
    try preference.calculate { try preference.checked($0.addingReportingOverflow(other)) }
  }

  /// Subtracts `other`; absent counts as zero.
  /// - Throws: `PreferencesError.Code.outOfRange` with the old value intact, and the errors of reading and writing.
  public static func -= (preference: Self, other: Value) throws {
    try preference.calculate { try preference.checked($0.subtractingReportingOverflow(other)) }
  }

  /// Multiplies by `other`; absent counts as zero.
  /// - Throws: `PreferencesError.Code.outOfRange` with the old value intact, and the errors of reading and writing.
  public static func *= (preference: Self, other: Value) throws {
    try preference.calculate { try preference.checked($0.multipliedReportingOverflow(by: other)) }
  }

  /// Divides by `other`; absent counts as zero.
  /// - Throws: `PreferencesError.Code.outOfRange` with the old value intact, and the errors of reading and writing.
  public static func /= (preference: Self, other: Value) throws {
    try preference.calculate { try preference.quotient($0, other) }
  }

  /// Replaces the value with the remainder of its division by `other`; absent counts as zero.
  /// - Throws: `PreferencesError.Code.outOfRange` with the old value intact, and the errors of reading and writing.
  public static func %= (preference: Self, other: Value) throws {
    try preference.calculate { try preference.remainder($0, other) }
  }

  /// Adds one; absent counts as zero.
  /// - Throws: the errors of `+=`.
  public static postfix func ++ (preference: Self) throws { try preference += 1 }

  /// Subtracts one; absent counts as zero.
  /// - Throws: the errors of `-=`.
  public static postfix func -- (preference: Self) throws { try preference -= 1 }

  /// Replaces the value with the bitwise AND of the value and `other`; absent counts as zero.
  public static func &= (preference: Self, other: Value) throws { try preference.calculate { $0 & other } }
  /// Replaces the value with the bitwise OR of the value and `other`; absent counts as zero.
  public static func |= (preference: Self, other: Value) throws { try preference.calculate { $0 | other } }
  /// Replaces the value with the bitwise XOR of the value and `other`; absent counts as zero.
  public static func ^= (preference: Self, other: Value) throws { try preference.calculate { $0 ^ other } }

  /// Replaces the value with its bitwise complement; absent counts as zero.
  public func invertBits() throws { try calculate { ~$0 } }

  /// The asynchronous form of `invertBits()`; does not block the calling thread.
  public func invertBits() async throws { try await calculate { ~$0 } }

  /// The sum. If one value is absent, returns the other; if both are absent, `nil`.
  /// - Throws: `PreferencesError.Code.outOfRange`, and the errors of reading.
  public static func + (a: Self, b: Self) throws -> Value? {
    try a.combined(with: b) { try a.checked($0.addingReportingOverflow($1)) }
  }

  /// The difference. If one value is absent, returns the other; if both are absent, `nil`.
  /// - Throws: `PreferencesError.Code.outOfRange`, and the errors of reading.
  public static func - (a: Self, b: Self) throws -> Value? {
    try a.combined(with: b) { try a.checked($0.subtractingReportingOverflow($1)) }
  }

  /// The product. If one value is absent, returns the other; if both are absent, `nil`.
  /// - Throws: `PreferencesError.Code.outOfRange`, and the errors of reading.
  public static func * (a: Self, b: Self) throws -> Value? {
    try a.combined(with: b) { try a.checked($0.multipliedReportingOverflow(by: $1)) }
  }

  /// The quotient. If one value is absent, returns the other; if both are absent, `nil`.
  /// - Throws: `PreferencesError.Code.outOfRange`, and the errors of reading.
  public static func / (a: Self, b: Self) throws -> Value? { try a.combined(with: b) { try a.quotient($0, $1) } }
  /// The remainder. If one value is absent, returns the other; if both are absent, `nil`.
  /// - Throws: `PreferencesError.Code.outOfRange`, and the errors of reading.
  public static func % (a: Self, b: Self) throws -> Value? { try a.combined(with: b) { try a.remainder($0, $1) } }
  /// The bitwise AND. If one value is absent, returns the other; if both are absent, `nil`.
  public static func & (a: Self, b: Self) throws -> Value? { try a.combined(with: b) { $0 & $1 } }
  /// The bitwise OR. If one value is absent, returns the other; if both are absent, `nil`.
  public static func | (a: Self, b: Self) throws -> Value? { try a.combined(with: b) { $0 | $1 } }
  /// The bitwise XOR. If one value is absent, returns the other; if both are absent, `nil`.
  public static func ^ (a: Self, b: Self) throws -> Value? { try a.combined(with: b) { $0 ^ $1 } }

  func quotient(_ a: Value, _ b: Value) throws(PreferencesError) -> Value {
    guard b != 0 else { throw divisionByZero }
    return try checked(a.dividedReportingOverflow(by: b))
  }

  func remainder(_ a: Value, _ b: Value) throws(PreferencesError) -> Value {
    guard b != 0 else { throw divisionByZero }
    // The minimum divided by -1 is reported as an overflow, but its remainder is 0.
    return a.remainderReportingOverflow(dividingBy: b).partialValue
  }

  func checked(_ result: (partialValue: Value, overflow: Bool)) throws(PreferencesError) -> Value {
    guard !result.overflow else { throw overflow }
    return result.partialValue
  }
}

extension Preference where Value: BinaryFloatingPoint {
  /// Adds `other`; absent counts as zero.
  /// - Throws: `PreferencesError.Code.outOfRange` with the old value intact, and the errors of reading and writing.
  public static func += (preference: Self, other: Value) throws {
    try preference.calculate { try preference.finite($0 + other, of: $0, other) }
  }

  /// Subtracts `other`; absent counts as zero.
  /// - Throws: `PreferencesError.Code.outOfRange` with the old value intact, and the errors of reading and writing.
  public static func -= (preference: Self, other: Value) throws {
    try preference.calculate { try preference.finite($0 - other, of: $0, other) }
  }

  /// Multiplies by `other`; absent counts as zero.
  /// - Throws: `PreferencesError.Code.outOfRange` with the old value intact, and the errors of reading and writing.
  public static func *= (preference: Self, other: Value) throws {
    try preference.calculate { try preference.finite($0 * other, of: $0, other) }
  }

  /// Divides by `other`; absent counts as zero.
  /// - Throws: `PreferencesError.Code.outOfRange` with the old value intact, and the errors of reading and writing.
  public static func /= (preference: Self, other: Value) throws {
    try preference.calculate { try preference.quotient($0, other) }
  }

  /// The sum. If one value is absent, returns the other; if both are absent, `nil`.
  /// - Throws: `PreferencesError.Code.outOfRange`, and the errors of reading.
  public static func + (a: Self, b: Self) throws -> Value? {
    try a.combined(with: b) { try a.finite($0 + $1, of: $0, $1) }
  }

  /// The difference. If one value is absent, returns the other; if both are absent, `nil`.
  /// - Throws: `PreferencesError.Code.outOfRange`, and the errors of reading.
  public static func - (a: Self, b: Self) throws -> Value? {
    try a.combined(with: b) { try a.finite($0 - $1, of: $0, $1) }
  }

  /// The product. If one value is absent, returns the other; if both are absent, `nil`.
  /// - Throws: `PreferencesError.Code.outOfRange`, and the errors of reading.
  public static func * (a: Self, b: Self) throws -> Value? {
    try a.combined(with: b) { try a.finite($0 * $1, of: $0, $1) }
  }

  /// The quotient. If one value is absent, returns the other; if both are absent, `nil`.
  /// - Throws: `PreferencesError.Code.outOfRange`, and the errors of reading.
  public static func / (a: Self, b: Self) throws -> Value? { try a.combined(with: b) { try a.quotient($0, $1) } }

  func quotient(_ a: Value, _ b: Value) throws(PreferencesError) -> Value {
    guard b != 0 else { throw divisionByZero }
    return try finite(a / b, of: a, b)
  }

  /// Throws if the result is not finite although both operands are finite.
  func finite(_ result: Value, of a: Value, _ b: Value) throws(PreferencesError) -> Value {
    guard result.isFinite || !a.isFinite || !b.isFinite else { throw overflow }
    return result
  }
}

extension Preference where Value: RangeReplaceableCollection {
  /// Appends to a string, an array or data; an absent value counts as empty.
  public static func += (preference: Self, other: Value) throws {
    try preference.apply { ($0 ?? Value()) + other }
  }

  /// The concatenation. If one value is absent, returns the other; if both are absent, `nil`.
  public static func + (a: Self, b: Self) throws -> Value? { try a.combined(with: b) { $0 + $1 } }
}

extension Preference where Value: AdditiveArithmetic {
  func calculate(_ change: (Value) throws -> Value) throws { report(try apply { try change($0 ?? .zero) }) }

  func calculate(_ change: (Value) throws -> Value) async throws {
    report(try await apply { try change($0 ?? .zero) })
  }
}

extension Preference {
  fileprivate var overflow: PreferencesError {
    PreferencesError(.outOfRange, "the result does not fit").about(key: key.name)
  }

  fileprivate var divisionByZero: PreferencesError {
    PreferencesError(.outOfRange, "division by zero").about(key: key.name)
  }
}
