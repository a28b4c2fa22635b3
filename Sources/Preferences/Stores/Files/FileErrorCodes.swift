extension PreferencesError.Code {
  /// The file cannot be locked, written, synced or replaced.
  public static let unwritable = Self(rawValue: "unwritable")
  /// The file must be accessible to this user only, and is not.
  public static let exposed = Self(rawValue: "exposed")
  /// The format of the file cannot represent the value.
  public static let unstorable = Self(rawValue: "unstorable")
  /// The value cannot be changed or removed.
  public static let fixed = Self(rawValue: "fixed")
  /// The store has a fixed set of keys without this one.
  public static let unknownKey = Self(rawValue: "unknownKey")
}
