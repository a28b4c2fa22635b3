public import PreferenceCoding
public import Preferences

/// Stores anything `Codable` as a value with structure; see `PreferenceValueEncoder`.
public struct StructuredTransformation<Value: Codable & Sendable>: PreferenceTransformation {
  private let encoder: PreferenceValueEncoder
  private let decoder: PreferenceValueDecoder

  /// Creates a transformation with an encoder and a decoder.
  public init(
    _ type: Value.Type = Value.self, encoder: PreferenceValueEncoder = PreferenceValueEncoder(),
    decoder: PreferenceValueDecoder = PreferenceValueDecoder()
  ) {
    (self.encoder, self.decoder) = (encoder, decoder)
  }

  public func value(from stored: PreferenceValue) throws(PreferencesError) -> Value {
    try decoder.decode(from: stored)
  }

  public func stored(from value: Value) throws(PreferencesError) -> PreferenceValue { try encoder.encode(value) }
}
