/// How a file of preferences is made and kept.
public struct PreferenceFileOptions: OptionSet, Sendable {
  public let rawValue: Int
  public init(rawValue: Int) { self.rawValue = rawValue }

  /// A file that is not there is empty, and made by the first write. Without this it is an error.
  public static let creating = PreferenceFileOptions(rawValue: 1)
  /// The file is this user's alone: it is made with mode 0600, and one that others may read or change is refused.
  public static let `private` = PreferenceFileOptions(rawValue: 2)
  /// Writes stay in memory until ``FilePreferences/save()``; what is not saved ends with the object.
  public static let savingExplicitly = PreferenceFileOptions(rawValue: 4)
}
