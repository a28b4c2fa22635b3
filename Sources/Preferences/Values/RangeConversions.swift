/// Stored as an array of the two bounds; bounds in the wrong order throw ``PreferencesError/Code/outOfRange``.
extension Range: PreferenceConvertible, StoredAsForm where Bound: PreferenceConvertible {
  init(form: [Bound]) throws(PreferencesError) {
    let bounds = try Bounds(form)
    self = bounds.lower..<bounds.upper
  }

  var form: [Bound] { [lowerBound, upperBound] }
}

/// Stored as an array of the two bounds; bounds in the wrong order throw ``PreferencesError/Code/outOfRange``.
extension ClosedRange: PreferenceConvertible, StoredAsForm where Bound: PreferenceConvertible {
  init(form: [Bound]) throws(PreferencesError) {
    let bounds = try Bounds(form)
    self = bounds.lower...bounds.upper
  }

  var form: [Bound] { [lowerBound, upperBound] }
}

private struct Bounds<Bound: Comparable> {
  let lower: Bound
  let upper: Bound

  init(_ bounds: [Bound]) throws(PreferencesError) {
    guard bounds.count == 2 else {
      throw PreferencesError(.outOfRange, "expected the two bounds of a range, found \(bounds.count) elements")
    }
    // Also false for NaN, which would crash.
    guard bounds[0] <= bounds[1] else {
      throw PreferencesError(.outOfRange, "the lower bound of the range is above the upper one")
    }
    lower = bounds[0]
    upper = bounds[1]
  }
}
