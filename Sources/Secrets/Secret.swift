public import FoundationEssentials
public import Preferences
public import VaultCore
internal import VaultSealing

/// A value that is kept out of sight: in guarded memory, wiped with the last copy, and printed nowhere.
///
/// ```swift
/// extension PreferenceKey<Secret<String>?> {
///   static var githubToken: Self { .init("github.token") }
/// }
/// let token = try preferences.value(for: .githubToken)            // from sealed layers only; nil means absent
/// try token?.withValue { request.setBearer($0) }
/// ```
///
/// Every description, dump and interpolation says `<redacted>`. It is not `Codable` and has no hash. Copies share the
/// memory, which takes a locked page and about 20 µs: hold secrets for as long as they are used.
public struct Secret<Value: PreferenceConvertible>: Sendable {
  let content: GuardedContent

  /// Copies a value into guarded memory. The value given stays the caller's, and a string cannot be wiped:
  /// ``init(copying:)`` takes bytes that can.
  ///
  /// - Throws: ``VaultError/Code/io`` when the system gives no guarded memory, ``VaultError/Code/typeMismatch`` for a list
  ///   or dictionary that cannot be sealed.
  public init(_ value: Value) throws(VaultError) {
    content = try SecretCoding.withEncoded(value.preferenceValue, GuardedContent.init(_:copying:))
  }

  /// Copies a stored value that a `Value` can be made of.
  init(stored: PreferenceValue) throws(VaultError) {
    self.init(checked: try SecretCoding.withEncoded(stored, GuardedContent.init(_:copying:)))
    try checkKind()
  }

  /// Takes over a value in guarded memory that a `Value` can be made of; copies one that is elsewhere.
  init(_ guarded: any GuardedValue) throws {
    guard let content = guarded as? GuardedContent else {
      self = try Self(stored: try guarded.value())
      return
    }
    self.init(checked: content)
    try checkKind()
  }

  /// Copies the body of a record that a `Value` can be made of.
  init(_ kind: ValueKind, _ body: RawSpan) throws(VaultError) {
    self.init(checked: try GuardedContent(kind, body))
    try checkKind()
  }

  private init(checked content: GuardedContent) { self.content = content }

  /// Lends the value to `body`.
  ///
  /// What is lent is a copy of its own that cannot be wiped; of strings and data ``withBytes(_:)`` lends the bytes where
  /// they are.
  /// - Throws: what `body` throws.
  public func withValue<R>(_ body: (Value) throws -> R) throws -> R { try body(value()) }

  private func value() throws(VaultError) -> Value {
    let stored = try content.value()
    do throws(PreferencesError) { return try Value(preferenceValue: stored) } catch { throw SecretCoding.mismatch }
  }

  private func checkKind() throws(VaultError) {
    // Of these the kind says it all, and no copy need be made.
    if Value.self == String.self, content.kind == .string { return }
    if Value.self == Data.self, content.kind == .data { return }
    _ = try value()
  }
}

extension Secret where Value == String {
  /// Copies UTF-8 text into guarded memory; the bytes given stay the caller's to wipe.
  ///
  /// - Throws: ``VaultError/Code/typeMismatch`` for bytes that are no UTF-8, ``VaultError/Code/io`` when the system gives
  ///   no guarded memory.
  public init(copying utf8: RawSpan) throws(VaultError) { content = try GuardedContent(.string, copying: utf8) }

  /// Lends the text's UTF-8 in the guarded memory itself.
  public func withBytes<R, E: Error>(_ body: (RawSpan) throws(E) -> R) throws(E) -> R {
    try content.withBytes { (_, bytes) throws(E) in try body(bytes) }
  }
}

extension Secret where Value == Data {
  /// Copies bytes into guarded memory; those given stay the caller's to wipe.
  ///
  /// - Throws: ``VaultError/Code/io`` when the system gives no guarded memory.
  public init(copying bytes: RawSpan) throws(VaultError) { content = try GuardedContent(.data, copying: bytes) }

  /// Lends the bytes in the guarded memory itself.
  public func withBytes<R, E: Error>(_ body: (RawSpan) throws(E) -> R) throws(E) -> R {
    try content.withBytes { (_, bytes) throws(E) in try body(bytes) }
  }
}

/// Equal when they are stored as the same bytes. The time it takes tells of the lengths alone.
extension Secret: Equatable {
  public static func == (a: Self, b: Self) -> Bool { a.content.isEqual(to: b.content) }
}

extension Secret: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  /// `<redacted>`, whatever the value.
  public var description: String { "<redacted>" }
  public var debugDescription: String { description }
  public var customMirror: Mirror { Mirror(self, children: EmptyCollection<Mirror.Child>()) }
}
