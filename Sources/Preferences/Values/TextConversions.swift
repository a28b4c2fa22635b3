public import FoundationEssentials

/// Stored as a string in upper case; read in either case.
extension UUID: PreferenceConvertible {
  public static var preferenceKind: PreferenceValue.Kind { .string }

  public init(preferenceValue value: PreferenceValue) throws(PreferencesError) {
    guard let uuid = UUID(uuidString: try String(preferenceValue: value)) else {
      throw PreferencesError(.outOfRange, "the string is no UUID")
    }
    self = uuid
  }

  public var preferenceValue: PreferenceValue { .string(uuidString) }
}

/// Stored as a string of one character.
extension Character: PreferenceConvertible {
  public static var preferenceKind: PreferenceValue.Kind { .string }

  public init(preferenceValue value: PreferenceValue) throws(PreferencesError) {
    let string = try String(preferenceValue: value)
    guard let character = string.first, string.count == 1 else {
      throw PreferencesError(.outOfRange, "expected a string of one character")
    }
    self = character
  }

  public var preferenceValue: PreferenceValue { .string(String(self)) }
}
