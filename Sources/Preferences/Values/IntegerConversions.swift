// A signed type is stored as `.integer`, an unsigned type as `.unsignedInteger`. Both read either kind, exactly.

extension Int: StoredInteger {}
extension Int8: StoredInteger {}
extension Int16: StoredInteger {}
extension Int32: StoredInteger {}
extension Int64: StoredInteger {}
extension UInt: StoredInteger {}
extension UInt8: StoredInteger {}
extension UInt16: StoredInteger {}
extension UInt32: StoredInteger {}
extension UInt64: StoredInteger {}

/// An integer of at most 64 bits, so that every value has a stored form.
protocol StoredInteger: PreferenceConvertible, FixedWidthInteger {}

extension StoredInteger {
  public static var preferenceKind: PreferenceValue.Kind { isSigned ? .integer : .unsignedInteger }

  public init(preferenceValue value: PreferenceValue) throws(PreferencesError) {
    let converted: Self?
    switch try Self.parsed(value) {
    case .integer(let integer): converted = Self(exactly: integer)
    case .unsignedInteger(let integer): converted = Self(exactly: integer)
    default: throw .mismatch(expected: Self.preferenceKind, found: value.kind)
    }
    guard let converted else { throw PreferencesError(.outOfRange, "the integer does not fit \(Self.self)") }
    self = converted
  }

  public var preferenceValue: PreferenceValue {
    Self.isSigned ? .integer(Int64(truncatingIfNeeded: self)) : .unsignedInteger(UInt64(truncatingIfNeeded: self))
  }
}
