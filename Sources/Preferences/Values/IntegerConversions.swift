// A signed type is stored as `.integer`, an unsigned type as `.unsignedInteger`. Both read either kind, exactly.

extension FixedWidthInteger {
  fileprivate init(exactly value: PreferenceValue, as kind: PreferenceValue.Kind) throws(PreferencesError) {
    let converted: Self?
    switch value {
    case .integer(let integer): converted = Self(exactly: integer)
    case .unsignedInteger(let integer): converted = Self(exactly: integer)
    default: throw .mismatch(expected: kind, found: value.kind)
    }
    guard let converted else { throw PreferencesError(.outOfRange, "the integer does not fit \(Self.self)") }
    self = converted
  }
}

extension Int: PreferenceConvertible {
  public static var preferenceKind: PreferenceValue.Kind { .integer }
  public var preferenceValue: PreferenceValue { .integer(Int64(self)) }

  public init(preferenceValue value: PreferenceValue) throws(PreferencesError) {
    try self.init(exactly: value, as: .integer)
  }
}

extension Int8: PreferenceConvertible {
  public static var preferenceKind: PreferenceValue.Kind { .integer }
  public var preferenceValue: PreferenceValue { .integer(Int64(self)) }

  public init(preferenceValue value: PreferenceValue) throws(PreferencesError) {
    try self.init(exactly: value, as: .integer)
  }
}

extension Int16: PreferenceConvertible {
  public static var preferenceKind: PreferenceValue.Kind { .integer }
  public var preferenceValue: PreferenceValue { .integer(Int64(self)) }

  public init(preferenceValue value: PreferenceValue) throws(PreferencesError) {
    try self.init(exactly: value, as: .integer)
  }
}

extension Int32: PreferenceConvertible {
  public static var preferenceKind: PreferenceValue.Kind { .integer }
  public var preferenceValue: PreferenceValue { .integer(Int64(self)) }

  public init(preferenceValue value: PreferenceValue) throws(PreferencesError) {
    try self.init(exactly: value, as: .integer)
  }
}

extension Int64: PreferenceConvertible {
  public static var preferenceKind: PreferenceValue.Kind { .integer }
  public var preferenceValue: PreferenceValue { .integer(self) }

  public init(preferenceValue value: PreferenceValue) throws(PreferencesError) {
    try self.init(exactly: value, as: .integer)
  }
}

extension UInt: PreferenceConvertible {
  public static var preferenceKind: PreferenceValue.Kind { .unsignedInteger }
  public var preferenceValue: PreferenceValue { .unsignedInteger(UInt64(self)) }

  public init(preferenceValue value: PreferenceValue) throws(PreferencesError) {
    try self.init(exactly: value, as: .unsignedInteger)
  }
}

extension UInt8: PreferenceConvertible {
  public static var preferenceKind: PreferenceValue.Kind { .unsignedInteger }
  public var preferenceValue: PreferenceValue { .unsignedInteger(UInt64(self)) }

  public init(preferenceValue value: PreferenceValue) throws(PreferencesError) {
    try self.init(exactly: value, as: .unsignedInteger)
  }
}

extension UInt16: PreferenceConvertible {
  public static var preferenceKind: PreferenceValue.Kind { .unsignedInteger }
  public var preferenceValue: PreferenceValue { .unsignedInteger(UInt64(self)) }

  public init(preferenceValue value: PreferenceValue) throws(PreferencesError) {
    try self.init(exactly: value, as: .unsignedInteger)
  }
}

extension UInt32: PreferenceConvertible {
  public static var preferenceKind: PreferenceValue.Kind { .unsignedInteger }
  public var preferenceValue: PreferenceValue { .unsignedInteger(UInt64(self)) }

  public init(preferenceValue value: PreferenceValue) throws(PreferencesError) {
    try self.init(exactly: value, as: .unsignedInteger)
  }
}

extension UInt64: PreferenceConvertible {
  public static var preferenceKind: PreferenceValue.Kind { .unsignedInteger }
  public var preferenceValue: PreferenceValue { .unsignedInteger(self) }

  public init(preferenceValue value: PreferenceValue) throws(PreferencesError) {
    try self.init(exactly: value, as: .unsignedInteger)
  }
}
