public import Foundation
public import Preferences
import Synchronization

/// A reader of the values that `encodePreferences(_:)` has stored in a keyed coder. It is lent to a closure for
/// decoding.
///
/// ```swift
/// let archiver = NSKeyedArchiver(requiringSecureCoding: true)
/// try archiver.encodePreferences { try $0.set(8080, forKey: "server.port") }
///
/// let unarchiver = try NSKeyedUnarchiver(forReadingFrom: archiver.encodedData)
/// let port = try unarchiver.decodePreferences { try $0.integer(forKey: "server.port") }
/// ```
///
/// The same calls can be used in `encode(with:)` and `init(coder:)` of an object. The coder stores each value under its
/// key, as bytes that include the type. No object is archived, and none is created for reading, so there are no classes
/// to allow.
///
/// Booleans and numbers that other code has encoded with `encode(_:forKey:)` are read when the caller requests that
/// kind, as with `bool(forKey:)` and `integer(forKey:)`. A coder does not know the type of a value, and requesting an
/// object of the wrong class ends the process on Linux. So objects are refused; but where a boolean or a number is
/// requested, an object reads as false or 0, as with `decodeBool(forKey:)`.
///
/// Use Foundation's unarchiver only with trusted bytes; read archives of other programs with ``KeyedArchive``.
public final class CoderPreferences: PreferencesReader {
  public let name = "coder"
  private let listed: [String]

  // A coder is not Sendable. This coder is used only inside the mutex, and only until the closure that its owner waits
  // for returns.
  private struct Lent: @unchecked Sendable { var coder: NSCoder? }
  private let lent: Mutex<Lent>

  fileprivate init(_ coder: NSCoder, listing keys: [String]) {
    lent = Mutex(Lent(coder: coder))
    listed = keys
  }

  fileprivate func end() { lent.withLock { $0.coder = nil } }

  /// A boolean or number that other code has encoded is returned where that kind is requested.
  ///
  /// - Throws: ``PreferencesError/Code/typeMismatch`` for any other value that other code has encoded;
  ///   ``PreferencesError/Code/malformed`` for damaged bytes; ``PreferencesError/Code/unavailable`` after the closure
  ///   has returned.
  public func value(for query: PreferenceQuery) throws(PreferencesError) -> PreferenceValue? {
    let key = query.name.text
    do throws(PreferencesError) {
      guard let bytes = try bytes(forKey: key) else { return nil }
      guard let value = try EncodedPreference.value(from: bytes) else {
        throw PreferencesError(.malformed, "the coder has bytes that hold no value")
      }
      return value
    } catch {
      guard error.code == .typeMismatch, let kind = query.kind, let native = try native(forKey: key, as: kind) else {
        throw error.about(key: key)
      }
      return native
    }
  }

  /// The value that `encode(_:forKey:)` has encoded; `nil` if it is not of that kind.
  private func native(
    forKey key: String, as kind: PreferenceValue.Kind
  ) throws(PreferencesError) -> PreferenceValue? {
    try withCoder { coder in
      let (integer, double) = (coder.decodeInt64(forKey: key), coder.decodeDouble(forKey: key))
      // A boolean counts as 1 or 0.
      return switch kind {
      case .bool: double == 0 || coder.decodeBool(forKey: key) ? .bool(double != 0) : nil
      case .integer, .unsignedInteger: Double(integer) == double ? .integer(integer) : nil
      case .double: .double(double)
      default: nil
      }
    }
  }

  /// The keys given to `decodePreferences(listing:_:)` that the coder contains, in that order. A coder has no list of
  /// its keys.
  ///
  /// - Throws: ``PreferencesError/Code/unavailable`` after the closure has returned.
  public func names(of secrecy: Secrecy) throws(PreferencesError) -> [PreferenceName] {
    try withCoder { coder in
      var seen: Set<PreferenceName> = []
      return PreferenceName.valid(listed).filter { coder.containsValue(forKey: $0.text) && seen.insert($0).inserted }
    }
  }

  private func bytes(forKey key: String) throws(PreferencesError) -> [UInt8]? {
    try withCoder { coder throws(PreferencesError) in
      guard coder.containsValue(forKey: key) else { return nil }
      guard let bytes = coder.withDecodedUnsafeBytes(forKey: key, body: { $0.map { Array($0) } }) else {
        throw PreferencesError(.typeMismatch, "the coder has something that is no preference")
      }
      return bytes
    }
  }

  private func withCoder<R: Sendable>(
    _ body: (NSCoder) throws(PreferencesError) -> R
  ) throws(PreferencesError) -> R {
    try lent.withLock { lent throws(PreferencesError) in
      guard let coder = lent.coder else {
        throw PreferencesError(.unavailable, "the coder was lent to a closure that has returned")
      }
      return try body(coder)
    }
  }
}

extension CoderPreferences: CustomStringConvertible, CustomReflectable {}

extension NSCoder {
  /// Encodes the values that `fill` sets in a store, each under its key: all of them when `fill` returns, or none if it
  /// throws.
  ///
  /// The coder must be a keyed archiver that has not finished, or another coder with keyed coding and `encodeBytes`.
  /// - Throws: the error of `fill`; ``PreferencesError/Code/unsupportedByFormat`` or
  ///   ``PreferencesError/Code/limitExceeded`` for a value; ``PreferencesError/Code/unavailable`` for a coder that has
  ///   no keyed coding or decodes.
  public func encodePreferences(_ fill: (DictionaryPreferences) throws -> Void) throws {
    guard allowsKeyedCoding, !(self is NSKeyedUnarchiver) else {
      throw PreferencesError(.unavailable, "the coder does not encode under keys")
    }
    let store = DictionaryPreferences([:], name: "coder")
    try fill(store)
    var encoded: [(key: String, bytes: [UInt8])] = []
    for (key, value) in store {
      do { encoded.append((key, try EncodedPreference.bytes(of: value))) } catch { throw error.about(key: key) }
    }
    for (key, bytes) in encoded { encodeBytes(bytes, length: bytes.count, forKey: key) }
  }

  /// Lends a reader of the values that `encodePreferences(_:)` has encoded, until `body` returns.
  ///
  /// The coder must be a keyed unarchiver, or another coder with keyed coding, `containsValue` and
  /// `withDecodedUnsafeBytes`. The calling thread must not use it while another thread uses the reader.
  /// - Parameter keys: the keys that the reader lists if the coder contains them. It can read other keys as well.
  /// - Throws: the error of `body`; ``PreferencesError/Code/unavailable`` for a coder that has no keyed coding or
  ///   encodes.
  public func decodePreferences<R>(
    listing keys: [String] = [], _ body: (CoderPreferences) throws -> R
  ) throws -> R {
    guard allowsKeyedCoding, !(self is NSKeyedArchiver) else {
      throw PreferencesError(.unavailable, "the coder does not decode by keys")
    }
    let reader = CoderPreferences(self, listing: keys)
    defer { reader.end() }
    return try body(reader)
  }
}

/// The bytes of a value: a binary property list with one entry.
private enum EncodedPreference {
  static func bytes(of value: PreferenceValue) throws(PreferencesError) -> [UInt8] {
    try PropertyListFormat(.binary, keepingTypes: true).bytes(of: ["value": value], replacing: nil)
  }

  static func value(from bytes: [UInt8]) throws(PreferencesError) -> PreferenceValue? {
    try PropertyListFormat().values(from: bytes)["value"]
  }
}
