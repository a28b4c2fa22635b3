public import FoundationEssentials
public import Preferences
public import VaultCore
internal import VaultSealing

/// A value in guarded memory. It is wiped with the last copy and is never printed.
///
/// ```swift
/// extension PreferenceKey<Secret<String>?> {
///   static var githubToken: Self { .init("github.token") }
/// }
/// let token = try preferences.value(for: .githubToken)            // from sealed layers only; nil means absent
/// try token?.withValue { request.setBearer($0) }
/// ```
///
/// Every description, dump and interpolation is `<redacted>`. A secret is not `Codable` and has no hash. Copies share
/// the memory, which takes a locked page and about 20 µs: keep a secret while you use it, and no longer.
public struct Secret<Value: PreferenceConvertible>: Sendable {
  let content: GuardedContent

  /// Copies a value into guarded memory.
  ///
  /// The caller keeps the original value. A string cannot be wiped; ``init(copying:)`` takes bytes that can be wiped.
  ///
  /// - Throws: ``VaultError/Code/io`` if the system provides no guarded memory; ``VaultError/Code/typeMismatch`` for a
  ///   list or dictionary that cannot be sealed.
  public init(_ value: Value) throws(VaultError) {
    content = try SecretCoding.withEncoded(value.preferenceValue, GuardedContent.init(_:copying:))
  }

  /// Copies a stored value that can be converted to `Value`.
  init(stored: PreferenceValue) throws(VaultError) {
    self.init(checked: try SecretCoding.withEncoded(stored, GuardedContent.init(_:copying:)))
    try checkKind()
  }

  /// Shares a value in guarded memory that can be converted to `Value`. Copies it if it is not a `GuardedContent`.
  init(_ guarded: any GuardedValue) throws {
    guard let content = guarded as? GuardedContent else {
      self = try Self(stored: try guarded.value())
      return
    }
    self.init(checked: content)
    try checkKind()
  }

  /// Copies the body of a record that can be converted to `Value`.
  init(_ kind: ValueKind, _ body: RawSpan) throws(VaultError) {
    self.init(checked: try GuardedContent(kind, body))
    try checkKind()
  }

  private init(checked content: GuardedContent) { self.content = content }

  /// Lends the value to `body`.
  ///
  /// `body` receives a separate copy that cannot be wiped. For strings and data, ``withBytes(_:)`` lends the bytes
  /// without a copy.
  /// - Throws: the error that `body` throws.
  public func withValue<R>(_ body: (Value) throws -> R) throws -> R { try body(value()) }

  private func value() throws(VaultError) -> Value {
    let stored = try content.value()
    do throws(PreferencesError) { return try Value(preferenceValue: stored) } catch { throw SecretCoding.mismatch }
  }

  private func checkKind() throws(VaultError) {
    // For these types the kind is sufficient, and no copy is needed.
    if Value.self == String.self, content.kind == .string { return }
    if Value.self == Data.self, content.kind == .data { return }
    _ = try value()
  }
}

extension Secret where Value == String {
  /// Copies UTF-8 text into guarded memory. The caller remains responsible for wiping the original bytes.
  ///
  /// - Throws: ``VaultError/Code/typeMismatch`` if the bytes are not UTF-8; ``VaultError/Code/io`` if the system
  ///   provides no guarded memory.
  public init(copying utf8: RawSpan) throws(VaultError) { content = try GuardedContent(.string, copying: utf8) }

  /// Lends the text's UTF-8 bytes in guarded memory, without a copy.
  public func withBytes<R, E: Error>(_ body: (RawSpan) throws(E) -> R) throws(E) -> R {
    try content.withBytes { (_, bytes) throws(E) in try body(bytes) }
  }
}

extension Secret where Value == Data {
  /// Copies bytes into guarded memory. The caller remains responsible for wiping the original bytes.
  ///
  /// - Throws: ``VaultError/Code/io`` if the system provides no guarded memory.
  public init(copying bytes: RawSpan) throws(VaultError) { content = try GuardedContent(.data, copying: bytes) }

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
