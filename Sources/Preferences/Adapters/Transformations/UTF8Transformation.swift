public import FoundationEssentials

/// Stores data as the string that it encodes in UTF-8; other data throws `PreferencesError.Code.notStorable`.
public struct UTF8Transformation: PreferenceTransformation {
  /// Creates the transformation.
  public init() {}

  public func value(from stored: String) -> Data { Data(stored.utf8) }

  public func stored(from value: Data) throws(PreferencesError) -> String {
    guard let text = String(validating: value, as: UTF8.self) else {
      throw PreferencesError(.notStorable, "the data is not UTF-8")
    }
    return text
  }
}
