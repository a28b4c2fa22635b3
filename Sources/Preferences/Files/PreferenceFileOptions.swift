/// How a file of preferences is created and written.
public struct PreferenceFileOptions: OptionSet, Sendable {
  public let rawValue: Int
  public init(rawValue: Int) { self.rawValue = rawValue }

  /// A missing file, or one of no bytes, counts as empty, and the first write creates the file and its folder, as
  /// `FilePreferences.watch()` creates the folder. Without this option it is an error.
  public static let creating = PreferenceFileOptions(rawValue: 1)
  /// The file is created with mode 0600, and refused if other users can access it.
  public static let `private` = PreferenceFileOptions(rawValue: 2)
  /// Writes stay in memory until `FilePreferences.save()`; unsaved changes are lost with the object.
  public static let savingExplicitly = PreferenceFileOptions(rawValue: 4)
}
