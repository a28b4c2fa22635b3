/// Stored as a double. Reads doubles, decimal text, and integers that a double represents exactly: in JSON `1` may mean
/// `1.0`.
extension Double: PreferenceConvertible {
  public static var preferenceKind: PreferenceValue.Kind { .double }

  /// - Throws: ``PreferencesError/Code/typeMismatch`` for a value that is not a number,
  ///   ``PreferencesError/Code/outOfRange`` for an integer that no double is equal to, such as 2⁵³ + 1.
  public init(preferenceValue value: PreferenceValue) throws(PreferencesError) {
    let exact: Double?
    switch try Self.parsed(value) {
    case .double(let double): exact = double
    case .integer(let integer): exact = Double(exactly: integer)
    case .unsignedInteger(let integer): exact = Double(exactly: integer)
    default: throw .mismatch(expected: .double, found: value.kind)
    }
    guard let exact else { throw PreferencesError(.outOfRange, "the integer is not exactly a \(Self.self)") }
    self = exact
  }

  public var preferenceValue: PreferenceValue { .double(self) }
}

/// Stored as the double with the shortest text of the float, so that `Float(0.1)` is 0.1 in a file and on a screen.
/// Every float is read back unchanged, including the infinities and NaN (except its payload).
///
/// Reads what a `Double` reads, rounded to the nearest float: `0.1` in a file is `Float(0.1)`.
extension Float: PreferenceConvertible, StoredAsForm {
  /// - Throws: ``PreferencesError/Code/outOfRange`` for a finite number beyond the largest float.
  init(form double: Double) throws(PreferencesError) {
    let float = Float(double)
    guard float.isFinite || !double.isFinite else {
      throw PreferencesError(.outOfRange, "the number is beyond the largest \(Self.self)")
    }
    self = float
  }

  var form: Double {
    // The double with this text is rounded, and rounding it again could give a neighbor of this float.
    guard let short = Double("\(self)"), Float(short) == self else { return Double(self) }
    return short
  }
}
