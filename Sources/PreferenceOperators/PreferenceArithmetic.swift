public import Preferences

postfix operator ++
postfix operator --

// An absent number is zero. What does not fit, and what is divided by zero, is thrown and changes nothing.

extension Preference where Value: FixedWidthInteger {
  /// Adds `other`; absent counts as zero.
  /// - Throws: `PreferencesError.Code.outOfRange`, with the old value still there, and what reading and writing throw.
  public static func += (preference: Self, other: Value) throws {
    try preference.calculate { try preference.checked($0.addingReportingOverflow(other)) }
  }

  /// Subtracts `other`; absent counts as zero.
  /// - Throws: `PreferencesError.Code.outOfRange`, with the old value still there, and what reading and writing throw.
  public static func -= (preference: Self, other: Value) throws {
    try preference.calculate { try preference.checked($0.subtractingReportingOverflow(other)) }
  }

  /// Multiplies by `other`; absent counts as zero.
  /// - Throws: `PreferencesError.Code.outOfRange`, with the old value still there, and what reading and writing throw.
  public static func *= (preference: Self, other: Value) throws {
    try preference.calculate { try preference.checked($0.multipliedReportingOverflow(by: other)) }
  }

  /// Divides by `other`; absent counts as zero.
  /// - Throws: `PreferencesError.Code.outOfRange`, with the old value still there, and what reading and writing throw.
  public static func /= (preference: Self, other: Value) throws {
    try preference.calculate { try preference.quotient($0, other) }
  }

  /// Keeps the remainder of a division by `other`; absent counts as zero.
  /// - Throws: `PreferencesError.Code.outOfRange`, with the old value still there, and what reading and writing throw.
  public static func %= (preference: Self, other: Value) throws {
    try preference.calculate { try preference.remainder($0, other) }
  }

  /// Adds one; absent counts as zero.
  /// - Throws: as `+=`.
  public static postfix func ++ (preference: Self) throws { try preference += 1 }

  /// Subtracts one; absent counts as zero.
  /// - Throws: as `-=`.
  public static postfix func -- (preference: Self) throws { try preference -= 1 }

  /// Keeps the bits that `other` has, too; absent counts as zero.
  public static func &= (preference: Self, other: Value) throws { try preference.calculate { $0 & other } }
  /// Sets the bits that `other` has; absent counts as zero.
  public static func |= (preference: Self, other: Value) throws { try preference.calculate { $0 | other } }
  /// Turns over the bits that `other` has; absent counts as zero.
  public static func ^= (preference: Self, other: Value) throws { try preference.calculate { $0 ^ other } }

  /// Turns every bit over.
  public func invertBits() throws { try calculate { ~$0 } }

  /// The sum; of an absent value and another it is the other, of two absent ones nil.
  /// - Throws: `PreferencesError.Code.outOfRange`, and what reading throws.
  public static func + (a: Self, b: Self) throws -> Value? {
    try a.combined(with: b) { try a.checked($0.addingReportingOverflow($1)) }
  }

  /// The difference; of an absent value and another it is the other, of two absent ones nil.
  /// - Throws: `PreferencesError.Code.outOfRange`, and what reading throws.
  public static func - (a: Self, b: Self) throws -> Value? {
    try a.combined(with: b) { try a.checked($0.subtractingReportingOverflow($1)) }
  }

  /// The product; of an absent value and another it is the other, of two absent ones nil.
  /// - Throws: `PreferencesError.Code.outOfRange`, and what reading throws.
  public static func * (a: Self, b: Self) throws -> Value? {
    try a.combined(with: b) { try a.checked($0.multipliedReportingOverflow(by: $1)) }
  }

  /// The quotient; of an absent value and another it is the other, of two absent ones nil.
  /// - Throws: `PreferencesError.Code.outOfRange`, and what reading throws.
  public static func / (a: Self, b: Self) throws -> Value? { try a.combined(with: b) { try a.quotient($0, $1) } }
  /// The remainder; of an absent value and another it is the other, of two absent ones nil.
  /// - Throws: `PreferencesError.Code.outOfRange`, and what reading throws.
  public static func % (a: Self, b: Self) throws -> Value? { try a.combined(with: b) { try a.remainder($0, $1) } }
  /// The bits that both have; of an absent value and another it is the other, of two absent ones nil.
  public static func & (a: Self, b: Self) throws -> Value? { try a.combined(with: b) { $0 & $1 } }
  /// The bits that either has; of an absent value and another it is the other, of two absent ones nil.
  public static func | (a: Self, b: Self) throws -> Value? { try a.combined(with: b) { $0 | $1 } }
  /// The bits that one of them has; of an absent value and another it is the other, of two absent ones nil.
  public static func ^ (a: Self, b: Self) throws -> Value? { try a.combined(with: b) { $0 ^ $1 } }

  private func quotient(_ a: Value, _ b: Value) throws(PreferencesError) -> Value {
    guard b != 0 else { throw divisionByZero }
    return try checked(a.dividedReportingOverflow(by: b))
  }

  private func remainder(_ a: Value, _ b: Value) throws(PreferencesError) -> Value {
    guard b != 0 else { throw divisionByZero }
    // The least number by -1 is reported as an overflow, but has the remainder 0.
    return a.remainderReportingOverflow(dividingBy: b).partialValue
  }

  private func checked(_ result: (partialValue: Value, overflow: Bool)) throws(PreferencesError) -> Value {
    guard !result.overflow else { throw overflow }
    return result.partialValue
  }
}

extension Preference where Value: BinaryFloatingPoint {
  /// Adds `other`; absent counts as zero.
  /// - Throws: `PreferencesError.Code.outOfRange`, with the old value still there, and what reading and writing throw.
  public static func += (preference: Self, other: Value) throws {
    try preference.calculate { try preference.finite($0 + other, of: $0, other) }
  }

  /// Subtracts `other`; absent counts as zero.
  /// - Throws: `PreferencesError.Code.outOfRange`, with the old value still there, and what reading and writing throw.
  public static func -= (preference: Self, other: Value) throws {
    try preference.calculate { try preference.finite($0 - other, of: $0, other) }
  }

  /// Multiplies by `other`; absent counts as zero.
  /// - Throws: `PreferencesError.Code.outOfRange`, with the old value still there, and what reading and writing throw.
  public static func *= (preference: Self, other: Value) throws {
    try preference.calculate { try preference.finite($0 * other, of: $0, other) }
  }

  /// Divides by `other`; absent counts as zero.
  /// - Throws: `PreferencesError.Code.outOfRange`, with the old value still there, and what reading and writing throw.
  public static func /= (preference: Self, other: Value) throws {
    try preference.calculate { try preference.quotient($0, other) }
  }

  /// The sum; of an absent value and another it is the other, of two absent ones nil.
  /// - Throws: `PreferencesError.Code.outOfRange`, and what reading throws.
  public static func + (a: Self, b: Self) throws -> Value? {
    try a.combined(with: b) { try a.finite($0 + $1, of: $0, $1) }
  }

  /// The difference; of an absent value and another it is the other, of two absent ones nil.
  /// - Throws: `PreferencesError.Code.outOfRange`, and what reading throws.
  public static func - (a: Self, b: Self) throws -> Value? {
    try a.combined(with: b) { try a.finite($0 - $1, of: $0, $1) }
  }

  /// The product; of an absent value and another it is the other, of two absent ones nil.
  /// - Throws: `PreferencesError.Code.outOfRange`, and what reading throws.
  public static func * (a: Self, b: Self) throws -> Value? {
    try a.combined(with: b) { try a.finite($0 * $1, of: $0, $1) }
  }

  /// The quotient; of an absent value and another it is the other, of two absent ones nil.
  /// - Throws: `PreferencesError.Code.outOfRange`, and what reading throws.
  public static func / (a: Self, b: Self) throws -> Value? { try a.combined(with: b) { try a.quotient($0, $1) } }

  private func quotient(_ a: Value, _ b: Value) throws(PreferencesError) -> Value {
    guard b != 0 else { throw divisionByZero }
    return try finite(a / b, of: a, b)
  }

  /// An infinity that was not there before is an overflow.
  private func finite(_ result: Value, of a: Value, _ b: Value) throws(PreferencesError) -> Value {
    guard result.isFinite || !a.isFinite || !b.isFinite else { throw overflow }
    return result
  }
}

extension Preference where Value: RangeReplaceableCollection {
  /// Appends to a string, an array or data; an absent one is empty.
  public static func += (preference: Self, other: Value) throws {
    try preference.apply { ($0 ?? Value()) + other }
  }

  /// Both, one behind the other; of an absent value and another it is the other, of two absent ones nil.
  public static func + (a: Self, b: Self) throws -> Value? { try a.combined(with: b) { $0 + $1 } }
}

extension Preference where Value: AdditiveArithmetic {
  fileprivate func calculate(_ change: (Value) throws -> Value) throws { try apply { try change($0 ?? .zero) } }
}

extension Preference {
  fileprivate var overflow: PreferencesError {
    PreferencesError(.outOfRange, "the result does not fit").about(key: key.name)
  }

  fileprivate var divisionByZero: PreferencesError {
    PreferencesError(.outOfRange, "division by zero").about(key: key.name)
  }
}
