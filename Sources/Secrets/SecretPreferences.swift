public import FoundationEssentials
public import Preferences
public import VaultCore

/// The secrets of one service in one access group of a vault: a preferences store whose values are sealed.
///
/// Absent is nil, failed is thrown; the two never share an answer. Values come back with the type they were
/// written with. Reads take microseconds and see what other processes wrote; every write is durable when it
/// returns, and its `async` form never blocks a cooperative thread. A value to pass around: copies share the vault.
public struct SecretPreferences: PreferencesStore, GuardingReader {
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

  public var custody: Custody { .sealed }

  // MARK: Reading

  public func value(for query: PreferenceQuery) throws(VaultError) -> PreferenceValue? {
    try value(forKey: query.name.text)
  }

  /// The value in guarded memory, copied there from the opened record and nowhere else; nil when absent.
  public func guardedValue(for query: PreferenceQuery) throws(VaultError) -> (any GuardedValue)? {
    try guardedContent(forKey: query.name.text)
  }

  private func guardedContent(forKey key: String) throws(VaultError) -> GuardedContent? {
    let opened = try vault.withValue(service: serviceName, key: key, in: group) { kind, body in
      Result { () throws(VaultError) in try GuardedContent(kind, body) }
    }
    return try opened?.get()
  }

  public func names(of secrecy: Secrecy) throws(VaultError) -> [PreferenceName] { PreferenceName.valid(try keys()) }

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

  /// Seals and removes values in one transaction: all of it is durable when this returns, or nothing has changed. What a
  /// condition compares with keeps out every other writer, in this process and others.
  ///
  /// The sealed bytes of a removed value stay in the file until the next fold.
  /// - Throws: ``VaultError/Code/valueTooLarge``, ``VaultError/Code/invalidName``, ``VaultError/Code/readOnly``,
  ///   ``VaultError/Code/io``, ``VaultError/Code/lockTimeout``, with the old values still there;
  ///   ``VaultError/Code/durabilityUnknown`` when the new ones may not survive a power cut.
  @discardableResult
  public func apply(_ edits: PreferenceEdits) throws(VaultError) -> WriteOutcome {
    guard let changes = try changes(edits) else { return .conflict }
    do throws(VaultError) {
      try vault.update(service: serviceName, in: group) { (batch) throws(VaultError) in try fill(&batch, changes) }
    } catch { return try conflict(error, edits) }
    return .visible
  }

  /// As the synchronous form, without ever blocking a cooperative thread.
  @discardableResult
  public func apply(_ edits: PreferenceEdits) async throws(VaultError) -> WriteOutcome {
    guard let changes = try changes(edits) else { return .conflict }
    do throws(VaultError) {
      try await vault.update(service: serviceName, in: group) { (batch) throws(VaultError) in try fill(&batch, changes)
      }
    } catch { return try conflict(error, edits) }
    return .visible
  }

  private struct Changes {
    var removed: [RecordInfo] = []
    var made: [(key: String, content: PreferenceContent?, revision: UInt64?)] = []
  }

  /// - Returns: nil when a condition does not hold.
  private func changes(_ edits: PreferenceEdits) throws(VaultError) -> Changes? {
    var changes = Changes()
    if edits.clears { changes.removed = try vault.records(service: serviceName, in: group) }
    for edit in edits.edits {
      let key = edit.name.text
      var revision: UInt64?
      if case .ifStored(let expected) = edit.condition {
        // Before the value: a write that comes between has another revision.
        revision = try vault.record(service: serviceName, key: key, in: group)?.revision ?? 0
        let stored = try guardedContent(forKey: key).map(PreferenceContent.guarded)
        guard try opening({ try stored.isSame(as: expected) }) else { return nil }
      }
      changes.made.append((key, edit.content, revision))
    }
    return changes
  }

  private func fill(_ batch: inout Vault.Batch, _ changes: Changes) throws(VaultError) {
    for record in changes.removed { try batch.remove(record.key) }
    for (key, content, revision) in changes.made {
      guard let content else {
        try batch.remove(key, ifRevision: revision)
        continue
      }
      if case .guarded(let guarded) = content, let guarded = guarded as? GuardedContent {
        try batch.set(guarded, forKey: key, accessibility: accessibility, ifRevision: revision)
      } else {
        let value = try opening { try content.value() }
        try batch.set(value, forKey: key, accessibility: accessibility, ifRevision: revision)
      }
    }
  }

  private func conflict(_ error: VaultError, _ edits: PreferenceEdits) throws(VaultError) -> WriteOutcome {
    guard error.code == .conflict, edits.edits.contains(where: { !$0.isUnconditional }) else { throw error }
    return .conflict
  }

  /// What opens a value in guarded memory, which may be another package's.
  private func opening<R>(_ body: () throws -> R) throws(VaultError) -> R {
    do { return try body() } catch let error as VaultError { throw error } catch {
      throw VaultError(.typeMismatch, "a value in guarded memory could not be opened")
    }
  }

  /// Calls `notify` when values may have changed: for writes through this vault object when they return, on the thread that
  /// made them, for those of other handles and processes when they reach the file, on a thread of its own.
  ///
  /// What an observer then reads is a use as the idle limit counts it. When the folder cannot be watched, that goes to
  /// ``PreferenceFailures`` with the key `*`, and the writes of others are not seen; nor are those of other machines, on a file
  /// system of a network.
  public func observe(_ notify: @escaping @Sendable (PreferenceChange) -> Void) -> PreferenceObservation {
    let news = vault.observerHub { VaultNews(vault) }
    return news.observe(service: serviceName, in: group, notify) {
      PreferenceFailures.report($0, key: "*", reader: name)
    }
  }
}

/// Equal for stores of one service in one access group of one vault object.
extension SecretPreferences: Identifiable {
  public var id: StoreIdentity {
    StoreIdentity(Self.self, name: "\(service)\u{0}\(accessGroup)", over: [StoreIdentity(vault)])
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
