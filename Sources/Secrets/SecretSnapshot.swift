public import Preferences
public import VaultCore

/// The secrets of one service in one access group as they were at one moment.
///
/// A snapshot never changes. Reads do not access the vault's file: they do not see later writes, and work after the
/// vault was deleted. The values are sealed until they are read, with keys in guarded memory. ``Vault/lock()`` and the
/// vault's limits wipe the keys, and reads throw ``VaultError/Code/locked`` from then on, also after the vault is
/// unlocked again; values of ``Vault/Accessibility/afterFirstUnlock`` stay readable.
public struct SecretSnapshot: GuardingReader {
  private let vault: Vault
  private let records: ServiceRecords
  /// The name of the store, which is also the name of this layer in explanations.
  public let name: String

  init(_ secrets: SecretPreferences) throws(VaultError) {
    vault = secrets.vault
    name = secrets.name
    records = try vault.takeRecords(service: secrets.serviceName, in: secrets.group)
  }

  public var custody: Custody { .sealed }

  public func value(for query: PreferenceQuery) throws(VaultError) -> PreferenceValue? {
    var result: Result<PreferenceValue, VaultError>?
    try vault.readValue(query.name.text, in: records) { result = SecretCoding.decode($0, $1) }
    return try result?.get()
  }

  public func guardedValue(for query: PreferenceQuery) throws(VaultError) -> (any GuardedValue)? {
    var result: Result<GuardedContent, VaultError>?
    try vault.readValue(query.name.text, in: records) { kind, body in
      result = Result { () throws(VaultError) in try GuardedContent(opened: kind, body) }
    }
    return try result?.get()
  }

  public func names(of secrecy: Secrecy) throws(VaultError) -> [PreferenceName] {
    PreferenceName.valid(try vault.keys(in: records))
  }

  /// Lends the bytes of a string or data value, as ``SecretPreferences/withBytes(forKey:_:)``.
  /// - Returns: the result of `body`, or `nil` if there is no such key.
  /// - Throws: ``VaultError/Code/typeMismatch`` if the stored value is neither a string nor data;
  ///   ``VaultError/Code/locked``, ``VaultError/Code/tampered`` or ``VaultError/Code/invalidName``.
  @inlinable
  public func withBytes<R>(forKey key: String, _ body: (RawSpan) -> R) throws(VaultError) -> R? {
    var result: R?
    try readBytes(key) { result = body($0) }
    return result
  }

  /// The form for a closure that throws.
  /// - Throws: the error of `body`, and those of the form whose closure does not throw.
  @inlinable
  public func withBytes<R, E: Error>(forKey key: String, _ body: (RawSpan) throws(E) -> R) throws -> R? {
    var result: Result<R, E>?
    try readBytes(key) { bytes in result = Result { () throws(E) in try body(bytes) } }
    return try result?.get()
  }

  @usableFromInline
  func readBytes(_ key: String, _ body: (RawSpan) -> Void) throws(VaultError) {
    var isWanted = true
    try vault.readValue(key, in: records) { kind, bytes in
      isWanted = kind == .string || kind == .data
      if isWanted { body(bytes) }
    }
    guard isWanted else { throw SecretCoding.mismatch }
  }

  /// Returns the metadata of the secret under `key`, or `nil` if it is absent. Does not open the value.
  public func info(forKey key: String) throws(VaultError) -> SecretInfo? {
    let now = vault.options.now()
    return try record(forKey: key).map { SecretInfo($0, now: now) }
  }

  /// The same with all attributes.
  func record(forKey key: String) throws(VaultError) -> RecordInfo? { try vault.record(key: key, in: records) }
}

extension SecretSnapshot: CustomStringConvertible, CustomReflectable {}

extension SecretPreferences {
  /// Returns the secrets of this service in this group as they are now, for several reads that must belong together.
  ///
  /// Copies the sealed records of the service. Keep it only for a short time, such as one request.
  ///
  /// ```swift
  /// let now = try secrets.snapshot()
  /// let (id, secret) = (try now.required(.clientID), try now.required(.clientSecret))
  /// ```
  /// - Throws: ``VaultError/Code/locked``, and the errors of ``keys()``.
  public func snapshot() throws(VaultError) -> SecretSnapshot { try SecretSnapshot(self) }
}
