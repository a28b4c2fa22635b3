public import Preferences

extension PreferencesError.Code {
  /// The file cannot be written; the old one is unchanged.
  public static let unwritable = Self(rawValue: "unwritable")
  /// The file must be readable and writable by its owner only, but other users have access.
  public static let exposed = Self(rawValue: "exposed")
  /// The file's format has no form for the value.
  public static let unstorable = Self(rawValue: "unstorable")
}
