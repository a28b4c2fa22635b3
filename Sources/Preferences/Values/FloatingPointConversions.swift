extension Double: PreferenceConvertible {
  public static var preferenceKind: PreferenceValue.Kind { .double }

  public init(preferenceValue value: PreferenceValue) throws(PreferencesError) {
    guard case .double(let double) = value else { throw .mismatch(expected: .double, found: value.kind) }
    self = double
  }

  public var preferenceValue: PreferenceValue { .double(self) }
}

/// Stored as the double of the same value, which every float has.
///
/// Reading takes only doubles that a float holds exactly, so every float that was written comes back, as do
/// the infinities and NaN (its payload aside). Any other double, such as a hand-written `0.1`, throws
/// ``PreferencesError/Code/outOfRange`` instead of being rounded; read those as `Double`.
extension Float: PreferenceConvertible {
  public static var preferenceKind: PreferenceValue.Kind { .double }

  public init(preferenceValue value: PreferenceValue) throws(PreferencesError) {
    let double = try Double(preferenceValue: value)
    if double.isNaN {
      self = .nan
    } else if let float = Float(exactly: double) {
      self = float
    } else {
      throw PreferencesError(.outOfRange, "the double is not exactly a Float")
    }
  }

  public var preferenceValue: PreferenceValue { .double(Double(self)) }
}
