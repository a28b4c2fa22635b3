import PreferenceFiles
import PreferenceCoding
public import Preferences

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
    (self.encoder, self.decoder) = (encoder ?? binary, decoder)
  }

  public func value(from stored: Data) throws(PreferencesError) -> Value {
    // Foundation's decoder ends the process on lists that are deeply nested or contain themselves. `PropertyListFormat`
    // throws for them. The marks that it puts into files of preferences have no meaning here.
    _ = try PropertyListFormat.members(of: Array(stored))
    do { return try decoder.decode(Value.self, from: stored) } catch { throw .notDecodable(Value.self, error) }
  }

  public func stored(from value: Value) throws(PreferencesError) -> Data {
    do { return try encoder.encode(value) } catch { throw .notEncodable(Value.self, error) }
  }
}
