/// Stored as an array of the two bounds; bounds in the wrong order throw ``PreferencesError/Code/outOfRange``.
extension Range: PreferenceConvertible where Bound: PreferenceConvertible {
  public static var preferenceKind: PreferenceValue.Kind { .array }

  public init(preferenceValue value: PreferenceValue) throws(PreferencesError) {
    let (lower, upper): (Bound, Bound) = try bounds(value)
    self = lower..<upper
  }

  public var preferenceValue: PreferenceValue { .array([lowerBound.preferenceValue, upperBound.preferenceValue]) }
}

/// Stored as an array of the two bounds; bounds in the wrong order throw ``PreferencesError/Code/outOfRange``.
extension ClosedRange: PreferenceConvertible where Bound: PreferenceConvertible {
  public static var preferenceKind: PreferenceValue.Kind { .array }

  public init(preferenceValue value: PreferenceValue) throws(PreferencesError) {
    let (lower, upper): (Bound, Bound) = try bounds(value)
    self = lower...upper
  }

  public var preferenceValue: PreferenceValue { .array([lowerBound.preferenceValue, upperBound.preferenceValue]) }
}

private func bounds<Bound: PreferenceConvertible & Comparable>(
  _ value: PreferenceValue
) throws(PreferencesError) -> (Bound, Bound) {
  let bounds = try [Bound](preferenceValue: value)
  guard bounds.count == 2 else {
    throw PreferencesError(.outOfRange, "expected the two bounds of a range, found \(bounds.count) elements")
  }
  // Also false for NaN, which would crash.
  guard bounds[0] <= bounds[1] else {
    throw PreferencesError(.outOfRange, "the lower bound of the range is above the upper one")
  }
  return (bounds[0], bounds[1])
}
