extension PreferencesError.Code {
  /// There is no such file.
  public static let notFound = Self(rawValue: "notFound")
  /// The file exists but cannot be read, or is not a regular file.
  public static let unreadable = Self(rawValue: "unreadable")
  /// The file cannot be written. The old file is intact.
  public static let unwritable = Self(rawValue: "unwritable")
  /// The new file is in place, but its folder could not be synced: after a power failure the old file may be back.
  public static let durabilityUnknown = Self(rawValue: "durabilityUnknown")
  /// The file must be readable and writable by its owner only, but other users have access.
  public static let exposed = Self(rawValue: "exposed")
  /// The file's format has no form for the value.
  public static let unsupportedByFormat = Self(rawValue: "unsupportedByFormat")
}
