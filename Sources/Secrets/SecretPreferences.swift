public import FoundationEssentials
public import Preferences
public import VaultCore

/// The secrets of one service in one access group of a vault: a preferences store whose values are sealed.
///
/// Absent is nil, failed is thrown; the two never share an answer. Values come back with the type they were
/// written with. Reads take microseconds and see what other processes wrote; every write is durable when it
/// returns, and its `async` form never blocks a cooperative thread. A value to pass around: copies share the vault.
public struct SecretPreferences: PreferencesStore {
  /// The application the secrets belong to, such as `com.example.shop`.
  public let service: String
  /// Who may share the records, enforced by the group's own key.
  public let accessGroup: String
  /// The vault that holds the records.
  public let vault: Vault
  /// When values that this store writes can be read. When nil, a record keeps what it has, and a new one is
  /// ``Vault/Accessibility/whenUnlocked``.
  public let accessibility: Vault.Accessibility?

  let group: AccessGroup
  let serviceName: Vault.Name

  /// Makes the store of a service.
  ///
  /// - Parameters:
  ///   - accessGroup: the group named `default` when none is given; never "all groups".
  ///   - accessibility: when values that this store writes can be read.
  /// - Throws: ``VaultError/Code/groupNotGranted`` when there is no such group or the credential does not grant
  ///   it, ``VaultError/Code/invalidName``.
  public init(
    service: String, accessGroup: String = AccessGroup.defaultName, accessibility: Vault.Accessibility? = nil,
    in vault: Vault
  ) throws(VaultError) {
    serviceName = try Vault.Name(service)
    group = try vault.group(named: accessGroup)
    (self.service, self.accessGroup, self.accessibility, self.vault) = (service, accessGroup, accessibility, vault)
  }

  /// What explanations call this layer: `vault SERVICE/GROUP`.
  public var name: String { "vault \(service)/\(accessGroup)" }

  /// True: dumps and explanations redact the values.
  public var isSealed: Bool { true }

  /// The vault, the service and the access group.
  public var identity: StoreIdentity {
    StoreIdentity(Self.self, name: "\(service)\u{0}\(accessGroup)", over: [StoreIdentity(vault)])
  }

  // MARK: Reading

  /// The value under `key`; nil when absent.
  /// - Throws: ``VaultError``: ``VaultError/Code/tampered``, ``VaultError/Code/notFound`` when the vault was
  ///   deleted, ``VaultError/Code/typeMismatch`` for a kind of value that this version does not know, ….
  public func value(forKey key: String) throws(VaultError) -> PreferenceValue? {
    guard let result = try vault.withValue(service: serviceName, key: key, in: group, SecretCoding.decode) else {
      return nil
    }
    return try result.get()
  }

  /// The string under `key`; nil when absent.
  ///
  /// A string cannot be wiped; ``withBytes(forKey:_:)`` lends the bytes instead.
  /// - Throws: ``VaultError/Code/typeMismatch`` when something else is stored, and as ``value(forKey:)``.
  public func string(forKey key: String) throws(VaultError) -> String? {
    try typed(key, .string) { $0.withUnsafeBytes { String(decoding: $0, as: UTF8.self) } }
  }

  /// The data under `key`; nil when absent. Data cannot be wiped; ``withBytes(forKey:_:)`` lends the bytes instead.
  /// - Throws: ``VaultError/Code/typeMismatch`` when something else is stored, and as ``value(forKey:)``.
  public func data(forKey key: String) throws(VaultError) -> Data? {
    try typed(key, .data) { $0.withUnsafeBytes { Data($0) } }
  }

  /// Lends the bytes of a string or data value, without a copy that outlives `body`.
  ///
  /// They lie in locked memory and are wiped afterwards. Values up to 3,520 bytes cost no allocation.
  /// - Returns: what `body` returns; nil when there is no such key.
  /// - Throws: ``VaultError/Code/typeMismatch`` when neither a string nor data is stored, and as
  ///   ``value(forKey:)``.
  @inlinable
  public func withBytes<R>(forKey key: String, _ body: (RawSpan) -> R) throws(VaultError) -> R? {
    var result: R?
    try lend(key, .string, or: .data) { result = body($0) }
    return result
  }

  private func typed<R>(
    _ key: String, _ wanted: ValueKind, _ body: (RawSpan) -> R
  ) throws(VaultError) -> R? {
    var result: R?
    try lend(key, wanted, or: wanted) { result = body($0) }
    return result
  }

  @usableFromInline
  func lend(
    _ key: String, _ wanted: ValueKind, or other: ValueKind, _ body: (RawSpan) -> Void
  ) throws(VaultError) {
    var isWanted = true
    _ = try vault.withValue(service: serviceName, key: key, in: group) { kind, bytes in
      isWanted = kind == wanted || kind == other
      if isWanted { body(bytes) }
    }
    guard isWanted else { throw SecretCoding.mismatch }
  }

  /// The keys of this service in this group, ordered by their bytes. Opens no value.
  public func keys() throws(VaultError) -> [String] {
    try vault.keys(service: serviceName, in: group)
  }

  /// Whether `key` has a value; a vault that cannot tell is an answer of its own.
  public func presence(forKey key: String) -> Vault.Presence {
    do throws(VaultError) {
      return try vault.kind(service: serviceName, key: key, in: group) == nil ? .absent : .present
    } catch { return .unavailable(error) }
  }

  // MARK: Writing

  /// Seals `value` under `key`, replacing what was there. Durable when it returns.
  ///
  /// - Throws: ``VaultError/Code/valueTooLarge``, ``VaultError/Code/invalidName``, ``VaultError/Code/readOnly``,
  ///   ``VaultError/Code/io``, ``VaultError/Code/lockTimeout``, with the old value still there;
  ///   ``VaultError/Code/durabilityUnknown`` when the new one may not survive a power cut.
  @discardableResult
  public func set(_ value: PreferenceValue, forKey key: String) throws(VaultError) -> WriteOutcome {
    try vault.update(service: serviceName, in: group) { (batch) throws(VaultError) in
      try batch.set(value, forKey: key, accessibility: accessibility)
    }
    return .visible
  }

  /// As the synchronous form, without ever blocking a cooperative thread.
  @discardableResult
  public func set(_ value: PreferenceValue, forKey key: String) async throws(VaultError) -> WriteOutcome {
    try await vault.update(service: serviceName, in: group) { (batch) throws(VaultError) in
      try batch.set(value, forKey: key, accessibility: accessibility)
    }
    return .visible
  }

  /// Seals a string, data or another bridged value under `key`.
  /// - Throws: as ``set(_:forKey:)-(PreferenceValue,_)``.
  @discardableResult
  public func set(_ value: some PreferenceConvertible, forKey key: String) throws(VaultError) -> WriteOutcome {
    try set(value.preferenceValue, forKey: key)
  }

  /// As the synchronous form, without ever blocking a cooperative thread.
  @discardableResult
  public func set(
    _ value: some PreferenceConvertible, forKey key: String
  ) async throws(VaultError) -> WriteOutcome {
    try await set(value.preferenceValue, forKey: key)
  }

  /// Seals all of `values` in one transaction: all are durable when it returns, or nothing has changed.
  public func set(_ values: [String: PreferenceValue]) throws(VaultError) {
    try vault.update(service: serviceName, in: group) { (batch) throws(VaultError) in
      for (key, value) in values { try batch.set(value, forKey: key, accessibility: accessibility) }
    }
  }

  /// As the synchronous form, without ever blocking a cooperative thread.
  public func set(_ values: [String: PreferenceValue]) async throws(VaultError) {
    try await vault.update(service: serviceName, in: group) { (batch) throws(VaultError) in
      for (key, value) in values { try batch.set(value, forKey: key, accessibility: accessibility) }
    }
  }

  /// Removes the value under `key`; removing an absent key changes nothing and is no error. Durable when it
  /// returns. The sealed bytes stay in the file until the next fold.
  @discardableResult
  public func removeValue(forKey key: String) throws(VaultError) -> WriteOutcome {
    try vault.update(service: serviceName, in: group) { (batch) throws(VaultError) in try batch.remove(key) }
    return .visible
  }

  /// As the synchronous form, without ever blocking a cooperative thread.
  @discardableResult
  public func removeValue(forKey key: String) async throws(VaultError) -> WriteOutcome {
    try await vault.update(service: serviceName, in: group) { (batch) throws(VaultError) in try batch.remove(key) }
    return .visible
  }

  /// Stores or removes a value when the present one is still `old`, which keeps out every other writer, in this process
  /// and others.
  @discardableResult
  public func exchange(
    _ old: PreferenceValue?, for new: PreferenceValue?, forKey key: String, as kind: PreferenceValue.Kind?,
    secrecy: Secrecy
  ) throws(VaultError) -> WriteOutcome? {
    // Before the value: a write that comes between has another revision.
    let revision = try vault.record(service: serviceName, key: key, in: group)?.revision ?? 0
    guard try value(forKey: key).isSame(as: old) else { return nil }
    do throws(VaultError) {
      try vault.update(service: serviceName, in: group) { (batch) throws(VaultError) in
        if let new {
          try batch.set(new, forKey: key, accessibility: accessibility, ifRevision: revision)
        } else {
          try batch.remove(key, ifRevision: revision)
        }
      }
    } catch {
      guard error.code == .conflict else { throw error }
      return nil
    }
    return .visible
  }

  /// Calls `notify` when values may have changed: for writes through this vault object when they return, on the thread that
  /// made them, for those of other handles and processes when they reach the file, on a thread of its own.
  ///
  /// What an observer then reads is a use as the idle limit counts it. When the folder cannot be watched, that is told to
  /// `handleFailure` with the key `*`, and the writes of others are not seen; nor are those of other machines, on a file
  /// system of a network.
  public func observe(_ notify: @escaping @Sendable (PreferenceChange) -> Void) -> PreferenceObservation {
    let news = vault.observerHub { VaultNews(vault) }
    return news.observe(service: serviceName, in: group, notify) { handleFailure($0, key: "*") }
  }

  /// Removes every value of this service in this group, in one transaction, and of no other.
  public func removeAll() throws(VaultError) {
    try vault.update(service: serviceName, in: group) { (batch) throws(VaultError) in
      for record in try vault.records(service: serviceName, in: group) { try batch.remove(record.key) }
    }
  }

  /// As the synchronous form, without ever blocking a cooperative thread.
  public func removeAll() async throws(VaultError) {
    try await vault.update(service: serviceName, in: group) { (batch) throws(VaultError) in
      for record in try vault.records(service: serviceName, in: group) { try batch.remove(record.key) }
    }
  }
}

extension Vault {
  /// Whether a secret is there.
  public enum Presence: Sendable {
    case present
    case absent
    /// The vault cannot tell, and why.
    case unavailable(VaultError)
  }
}

extension SecretPreferences: CustomStringConvertible, CustomReflectable {
  /// The layer's name. No key and no value.
  public var description: String { name }
  public var customMirror: Mirror { Mirror(self, children: EmptyCollection<Mirror.Child>()) }
}
