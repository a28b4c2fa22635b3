public import FoundationEssentials

/// Stores anything `Codable` as JSON in data.
///
/// JSON has one kind of number, and neither dates nor data. The encoder and decoder define how these are stored.
public struct JSONTransformation<Value: Codable & Sendable>: PreferenceTransformation {
  private let encoder: JSONEncoder
  private let decoder: JSONDecoder

  /// Creates a transformation with an encoder and a decoder. A caller must not change them afterwards.
  ///
  /// - Parameter encoder: the default sorts keys, so that equal values are stored as equal bytes.
  public init(_ type: Value.Type = Value.self, encoder: JSONEncoder? = nil, decoder: JSONDecoder = JSONDecoder()) {
    let sorted = JSONEncoder()
    sorted.outputFormatting = .sortedKeys
    self.encoder = encoder ?? sorted
    self.decoder = decoder
  }

  public func value(from stored: Data) throws(PreferencesError) -> Value {
    do { return try decoder.decode(Value.self, from: stored) } catch { throw .notDecodable(Value.self, error) }
  }

  public func stored(from value: Value) throws(PreferencesError) -> Data {
    do { return try encoder.encode(value) } catch { throw .notEncodable(Value.self, error) }
  }

  /// The same JSON, stored as a string, which people can read in a file and write in an environment variable.
  public var asText: TwoWayTransformation<String, Value> { UTF8Transformation().then(self) }
}
