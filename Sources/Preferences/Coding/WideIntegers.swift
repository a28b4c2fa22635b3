/// Stored as `.integer` or `.unsignedInteger`, or as decimal text if neither can hold it.
extension Int128: PreferenceConvertible {
  /// Text, which is parsed here: as an integer, it would have at most 64 bits.
  public static var preferenceKind: PreferenceValue.Kind { .string }
  public init(preferenceValue value: PreferenceValue) throws(PreferencesError) { self = try .init(wide: value) }
  public var preferenceValue: PreferenceValue { wideValue }
}

/// Stored as `.unsignedInteger`, or as decimal text if that cannot hold it.
extension UInt128: PreferenceConvertible {
  /// Text, as for `Int128`.
  public static var preferenceKind: PreferenceValue.Kind { .string }
  public init(preferenceValue value: PreferenceValue) throws(PreferencesError) { self = try .init(wide: value) }
  public var preferenceValue: PreferenceValue { wideValue }
}

extension PreferenceConvertible where Self: FixedWidthInteger {
  fileprivate init(wide value: PreferenceValue) throws(PreferencesError) {
    let converted: Self?
    switch value {
    case .integer(let integer): converted = Self(exactly: integer)
    case .unsignedInteger(let integer): converted = Self(exactly: integer)
    case .double(let double) where double.magnitude >= 0x1p63:
      throw PreferencesError(
        .outOfRange,
        "a number beyond 64 bits is stored as a floating-point number, which may be rounded: write it as a string")
    case .string(let text):
      guard let integer = Self(text) else {
        throw PreferencesError(.typeMismatch, "expected an integer, found a string that does not parse as one")
      }
      converted = integer
    default: throw PreferencesError(.typeMismatch, "expected an integer, found \(value.kind)")
    }
    guard let converted else { throw PreferencesError(.outOfRange, "the integer does not fit \(Self.self)") }
    self = converted
  }

  fileprivate var wideValue: PreferenceValue {
    if Self.isSigned, let integer = Int64(exactly: self) { return .integer(integer) }
    if let integer = UInt64(exactly: self) { return .unsignedInteger(integer) }
    return .string("\(self)")
  }
}
