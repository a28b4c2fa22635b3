/// A format in which a whole file is one dictionary of values.
///
/// Whatever is written comes back with its type, or is refused when it is written. Errors name places and never values.
public protocol PreferenceFileFormat: Sendable {
  /// What a file of this format is called, such as `property list`.
  static var name: String { get }

  /// Creates the format with its usual settings.
  init()

  /// The values in a file.
  ///
  /// - Throws: ``PreferencesError/Code/malformed``, ``PreferencesError/Code/limitExceeded``.
  func values(from bytes: [UInt8]) throws(PreferencesError) -> [String: PreferenceValue]

  /// A file that holds `values`.
  ///
  /// - Parameter old: the file that it takes the place of; nil when there is none.
  /// - Throws: ``PreferencesError/Code/unstorable`` for what the format has no form for,
  ///   ``PreferencesError/Code/limitExceeded`` for what ``values(from:)`` would refuse.
  func bytes(
    of values: [String: PreferenceValue], replacing old: [UInt8]?
  ) throws(PreferencesError) -> [UInt8]
}
