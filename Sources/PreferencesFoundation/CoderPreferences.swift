public import Foundation
public import Preferences
import Synchronization

/// What `encodePreferences(_:)` has put into a keyed coder, as a reader that is lent for decoding.
///
/// ```swift
/// let archiver = NSKeyedArchiver(requiringSecureCoding: true)
/// try archiver.encodePreferences { try $0.set(8080, forKey: "server.port") }
///
/// let unarchiver = try NSKeyedUnarchiver(forReadingFrom: archiver.encodedData)
/// let port = try unarchiver.decodePreferences { try $0.integer(forKey: "server.port") }
/// ```
///
/// The same calls serve inside `encode(with:)` and `init(coder:)` of an object. Each value stands in the coder under
/// its key, as bytes that hold it with its type; no object is archived and none is made when it is read, so there is no
/// class to allow. What other code has encoded under a key is refused: a coder cannot say what it has there, and asking
/// it for the wrong class ends the process on Linux. Foundation's unarchiver itself takes only bytes that can be
/// trusted; whole archives of other programs are for ``KeyedArchive``.
public final class CoderPreferences: PreferencesReader {
  public let name = "coder"
  private let listed: [String]

  // A coder is not Sendable. This one is used inside the mutex only, and only until the closure that it is lent to
  // returns: so long its owner waits.
  private struct Lent: @unchecked Sendable { var coder: NSCoder? }
  private let lent: Mutex<Lent>

  fileprivate init(_ coder: NSCoder, listing keys: [String]) {
    lent = Mutex(Lent(coder: coder))
    listed = keys
  }

  fileprivate func end() { lent.withLock { $0.coder = nil } }

  /// - Throws: ``PreferencesError/Code/invalidKey``; ``PreferencesError/Code/typeMismatch`` for what was encoded by
  ///   other
  ///   code, ``PreferencesError/Code/malformed`` for bytes that are damaged; ``PreferencesError/Code/unavailable`` when
  ///   the closure that the reader was lent to has returned.
  public func value(forKey key: String) throws(PreferencesError) -> PreferenceValue? {
    try PreferenceKeyName.validate(key)
    do throws(PreferencesError) {
      guard let bytes = try bytes(forKey: key) else { return nil }
      guard let value = try EncodedPreference.value(from: bytes) else {
        throw PreferencesError(.malformed, "the coder has bytes that hold no value")
      }
      return value
    } catch { throw error.about(key: key) }
  }

  /// Those of the keys given to `decodePreferences(listing:_:)` that have something in the coder, in that
  /// order: a coder cannot tell its keys.
  ///
  /// - Throws: ``PreferencesError/Code/unavailable`` when the closure that the reader was lent to has returned.
  public func keys() throws(PreferencesError) -> [String] {
    try withCoder { coder in
      var seen: Set<String> = []
      return listed.filter {
        PreferenceKeyName.isValid($0) && coder.containsValue(forKey: $0) && seen.insert($0).inserted
      }
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
  /// Encodes, each under its key, the values that `fill` puts into a store: when it returns, and all or none.
  ///
  /// The coder must be a keyed archiver that has not finished, or another that has keyed coding and `encodeBytes`.
  /// - Throws: what `fill` throws; ``PreferencesError/Code/unstorable`` and ``PreferencesError/Code/limitExceeded`` for
  ///   a
  ///   value; ``PreferencesError/Code/unavailable`` for a coder without keyed coding, or one that decodes.
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

  /// Lends a reader of what was encoded with `encodePreferences(_:)`, until `body` returns.
  ///
  /// The coder must be a keyed unarchiver, or another that has keyed coding, `containsValue` and
  /// `withDecodedUnsafeBytes`. The calling thread must leave it alone while another uses the reader.
  /// - Parameter keys: what the reader lists when it has them. It answers for others, too.
  /// - Throws: what `body` throws; ``PreferencesError/Code/unavailable`` for a coder without keyed coding, or one that
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

/// A value as bytes: a binary property list of one entry.
private enum EncodedPreference {
  static func bytes(of value: PreferenceValue) throws(PreferencesError) -> [UInt8] {
    try PropertyListFormat(.binary).bytes(of: ["value": value], replacing: nil)
  }

  static func value(from bytes: [UInt8]) throws(PreferencesError) -> PreferenceValue? {
    try PropertyListFormat().values(from: bytes)["value"]
  }
}
