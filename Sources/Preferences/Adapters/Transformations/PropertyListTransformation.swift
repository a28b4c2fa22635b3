public import FoundationEssentials

/// Stores anything `Codable` whose top level is a dictionary or an array, such as a struct or a set, as a property list
/// in data.
///
/// Reads XML and binary, within 128 levels and 64 MiB of values, and refuses to write what it could not read.
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
    let list = PropertyListFormat.binary(try PropertyListFormat.value(of: Array(stored)))
    do { return try decoder.decode(Value.self, from: Data(list)) } catch { throw .notDecodable(Value.self, error) }
  }

  public func stored(from value: Value) throws(PreferencesError) -> Data {
    let list: Data
    do { list = try encoder.encode(value) } catch { throw .notEncodable(Value.self, error) }
    do { _ = try PropertyListFormat.value(of: Array(list)) } catch {
      throw PreferencesError(.notStorable, "the property list could not be read again", cause: error)
    }
    return list
  }
}
