public import FoundationEssentials
public import Preferences
public import VaultCore
internal import VaultSealing

/// A value in guarded memory. It is wiped with the last copy and is never printed.
///
/// ```swift
/// extension PreferenceKey<Secret<String>?> {
///   static let githubToken = Self("github.token")
/// }
/// let token = try preferences.value(for: .githubToken)            // from sealed layers only; nil means absent
/// try token?.withValue { request.setBearer($0) }
/// ```
///
/// Every description, dump and interpolation is `<redacted>`. A secret is not `Codable` and has no hash. Copies share
/// the memory, which takes a locked page and about 20 µs: keep a secret while you use it, and no longer.
public struct Secret<Value: Sendable>: Sendable {
  typealias Decoding = @Sendable (PreferenceValue) throws(PreferencesError) -> Value

  let content: GuardedContent
  private let decode: Decoding

  private init(checked content: GuardedContent, _ decode: @escaping Decoding) {
    self.content = content
    self.decode = decode
  }

  /// Shares a value in guarded memory, after a check that it can be decoded.
  ///
  /// - Throws: ``VaultError``, or the error of `decode` without anything that may be a part of the value.
  init(_ content: GuardedContent, _ decode: @escaping Decoding) throws {
    self.init(checked: content, decode)
    // For these types the kind is sufficient, and no copy is needed.
    if Value.self == String.self, content.kind == .string { return }
    if Value.self == Data.self, content.kind == .data { return }
    _ = try value()
  }

  /// Lends the value to `body`.
  ///
  /// `body` receives a separate copy that cannot be wiped. For strings and data, ``withBytes(_:)`` lends the bytes
  /// without a copy.
  /// - Throws: the error that `body` throws.
  public func withValue<R>(_ body: (Value) throws -> R) throws -> R { try body(value()) }

  private func value() throws -> Value {
    let stored = try content.value()
    do throws(PreferencesError) { return try decode(stored) } catch { throw error.withoutValues }
  }
}

extension Secret where Value: PreferenceConvertible {
  /// Copies a value into guarded memory.
  ///
  /// The caller keeps the original value. A string cannot be wiped; ``init(copying:)`` takes bytes that can be wiped.
  ///
  /// - Throws: ``VaultError/Code/io`` if the system provides no guarded memory; ``VaultError/Code/typeMismatch`` for a
  ///   list or dictionary that cannot be sealed.
  public init(_ value: Value) throws(VaultError) {
    self.init(checked: try .copying(value.preferenceValue), Value.init(preferenceValue:))
  }
}

extension Secret where Value: Codable {
  /// Encodes a value into guarded memory: a struct as a dictionary, as `PreferenceKey.codable(_:)` stores it.
  ///
  /// ```swift
  /// struct OAuthToken: Codable { var access, refresh: String }
  /// extension PreferenceKey<Secret<OAuthToken>?> {
  ///   static let oauth = Self.codable("oauth")
  /// }
  /// try preferences.set(Secret(encoding: token), for: .oauth)
  /// let access = try preferences.required(.oauth).withValue { $0.access }
  /// ```
  ///
  /// Some copies in ordinary memory cannot be wiped: the value itself and the strings in it, the tree of values that
  /// its coding makes, and the buffers of the JSON encoder. The JSON text is wiped after it was copied. Reading a key
  /// decodes the value once to check it; that and each ``withValue(_:)`` leave the same kinds of copies behind. Seal a
  /// string or data by itself if that is too much.
  /// - Throws: ``VaultError/Code/typeMismatch`` if the value cannot be encoded; ``VaultError/Code/io`` if the system
  ///   provides no guarded memory.
  public init(encoding value: Value) throws(VaultError) {
    let encoded: PreferenceValue
    // The error is not kept as the cause: the text of a type's own error may contain the value.
    do throws(PreferencesError) { encoded = try PreferenceValueEncoder().encode(value) } catch {
      throw VaultError(.typeMismatch, "a \(Value.self) cannot be encoded")
    }
    self.init(checked: try .copying(encoded), Self.decoding)
  }

  static var decoding: Decoding {
    { stored throws(PreferencesError) in try PreferenceValueDecoder().decode(from: stored) }
  }
}

extension Secret where Value == String {
  /// Copies UTF-8 text into guarded memory. The caller remains responsible for wiping the original bytes.
  ///
  /// - Throws: ``VaultError/Code/typeMismatch`` if the bytes are not UTF-8; ``VaultError/Code/io`` if the system
  ///   provides no guarded memory.
  public init(copying utf8: RawSpan) throws(VaultError) {
    self.init(checked: try GuardedContent(checking: .string, utf8), String.init(preferenceValue:))
  }

  /// Lends the text's UTF-8 bytes in guarded memory, without a copy.
  public func withBytes<R, E: Error>(_ body: (RawSpan) throws(E) -> R) throws(E) -> R {
    try content.withBytes { (_, bytes) throws(E) in try body(bytes) }
  }
}

extension Secret where Value == Data {
  /// Copies bytes into guarded memory. The caller remains responsible for wiping the original bytes.
  ///
  /// - Throws: ``VaultError/Code/io`` if the system provides no guarded memory.
  public init(copying bytes: RawSpan) throws(VaultError) {
    self.init(checked: try GuardedContent(checking: .data, bytes), Data.init(preferenceValue:))
  }

  /// Lends the bytes in guarded memory, without a copy.
  public func withBytes<R, E: Error>(_ body: (RawSpan) throws(E) -> R) throws(E) -> R {
    try content.withBytes { (_, bytes) throws(E) in try body(bytes) }
  }
}

/// Two secrets are equal if they are stored as the same bytes. The time of a comparison reveals only the lengths.
extension Secret: Equatable {
  public static func == (a: Self, b: Self) -> Bool { a.content.isEqual(to: b.content) }
}

extension Secret: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  /// `<redacted>`, whatever the value.
  public var description: String { "<redacted>" }
  public var debugDescription: String { description }
  public var customMirror: Mirror { Mirror(self, children: EmptyCollection<Mirror.Child>()) }
}
