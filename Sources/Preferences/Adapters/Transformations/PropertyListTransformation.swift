public import FoundationEssentials

/// Stores anything `Codable` whose top level is a dictionary, such as a struct, as a property list in data.
///
/// Reads XML and binary, within 128 levels and 64 MiB of values.
public struct PropertyListTransformation<Value: Codable & Sendable>: PreferenceTransformation {
  private let encoder: PropertyListEncoder
  private let decoder: PropertyListDecoder

  /// Creates a transformation with an encoder and a decoder. A caller must not change them afterwards.
  ///
  /// - Parameter encoder: the default writes the binary format. XML stores dates in whole seconds only.
  public init(
    _ type: Value.Type = Value.self, encoder: PropertyListEncoder? = nil,
    decoder: PropertyListDecoder = PropertyListDecoder()
  ) {
    let binary = PropertyListEncoder()
    binary.outputFormat = .binary
    self.encoder = encoder ?? binary
    self.decoder = decoder
  }

  public func value(from stored: Data) throws(PreferencesError) -> Value {
    // Foundation's parser ends the process on lists that are deeply nested or contain themselves. It gets what
    // `PropertyListFormat` has parsed, not the same text: the two may not agree on where a comment ends. The marks that
    // `PropertyListFormat` puts into files of preferences have no meaning here.
    let list = PropertyListFormat.binary(try PropertyListFormat.members(of: Array(stored)))
    do { return try decoder.decode(Value.self, from: Data(list)) } catch { throw .notDecodable(Value.self, error) }
  }

  public func stored(from value: Value) throws(PreferencesError) -> Data {
    do { return try encoder.encode(value) } catch { throw .notEncodable(Value.self, error) }
  }
}
