/// A file format whose top level is a dictionary of values.
///
/// A value is read back with its type, or refused when it is written. Errors contain positions and never values.
public protocol PreferenceFileFormat: Sendable {
  /// The name of the format, such as `property list`.
  static var name: String { get }

  /// Whether every value is text, which lookups parse as the kind that the caller wants; `false` by default.
  static var isText: Bool { get }

  /// Creates the format with its default settings.
  init()

  /// Returns the values in a file.
  ///
  /// - Throws: `malformed`, `limitExceeded`.
  func values(from bytes: [UInt8]) throws(PreferencesError) -> [String: PreferenceValue]

  /// Returns the content of a file with `values`.
  ///
  /// - Parameter old: the content of the file that is replaced; `nil` if there is none.
  /// - Throws: `unsupportedByFormat` for a value that the format cannot represent,
  ///   `limitExceeded` for values that ``values(from:)`` would refuse.
  func bytes(
    of values: [String: PreferenceValue], replacing old: [UInt8]?
  ) throws(PreferencesError) -> [UInt8]

  /// Returns the format in which a file with this content is replaced; this one by default.
  func format(of content: [UInt8]) -> Self
}

extension PreferenceFileFormat {
  public static var isText: Bool { false }
  public func format(of content: [UInt8]) -> Self { self }
}

extension PreferenceFileFormat {
  /// The value as it is read back from a file, so that a reload does not change it.
  ///
  /// - Throws: `unsupportedByFormat`, `limitExceeded`.
  package func storable(_ value: PreferenceValue, forKey key: String) throws(PreferencesError) -> PreferenceValue {
    do throws(PreferencesError) {
      let (bytes, limit) = (try bytes(of: [key: value], replacing: nil), FilePreferences<Self>.maximumByteCount)
      guard bytes.count <= limit else { throw PreferencesError(.limitExceeded, "it takes more than \(limit) bytes") }
      if let value = try values(from: bytes)[key] { return value }
      throw PreferencesError(.unsupportedByFormat, "it cannot be read back")
    } catch { throw error.about(key: key) }
  }
}
