extension PreferencesError.Code {
  /// The file cannot be written; what was there still is.
  public static let unwritable = Self(rawValue: "unwritable")
  /// The file is to be its owner's alone, but others may read or change it.
  public static let exposed = Self(rawValue: "exposed")
  /// The file's format has no form for the value.
  public static let unstorable = Self(rawValue: "unstorable")
  /// There is a value, but it cannot be changed or removed.
  public static let fixed = Self(rawValue: "fixed")
  /// The store has a fixed set of keys, and this is none of them.
  public static let unknownKey = Self(rawValue: "unknownKey")
}
