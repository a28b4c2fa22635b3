package import DurableFiles
public import FoundationEssentials
public import Preferences
public import VaultCore

/// The secrets of one service in one access group of a vault: a preferences store whose values are sealed.
///
/// A read returns `nil` if the value is absent and throws if the read fails. Values are read with the type they were
/// written with. Reads take microseconds and see the writes of other processes. In a vault whose reads are logged, a
/// read waits for the lock of the log, on the thread that reads: in `async` code, make it in `reading(_:)`. Every write
/// is durable when it returns, and its `async` form waits for no lock and no disk on a cooperative thread. Copies of
/// this struct share the vault.
public struct SecretPreferences: PreferencesStore, GuardingReader {
  /// The application the secrets belong to, such as `com.example.shop`.
  public let service: String
  /// The access group that may share the records, enforced by the group's own key.
  public let accessGroup: String
  /// The vault that holds the records.
  public let vault: Vault
  /// When values written by this store can be read. With `nil`, an existing record keeps its class and a new one gets
  /// ``Vault/Accessibility/whenUnlocked``.
  public let accessibility: Vault.Accessibility?
  /// What writes of this store keep of the values that they replace and remove. With `nil`, what
  /// ``Vault/Options/keeping`` of the vault says: nothing, unless it was changed.
  public let keeping: Vault.Keeping?

  let group: AccessGroup
  let serviceName: Vault.Name

  /// Creates the store of a service.
  ///
  /// - Parameters:
  ///   - accessGroup: the group's name. The default is the group named `default`; it never means "all groups".
  ///   - accessibility: when values written by this store can be read.
  ///   - keeping: what writes keep of the values that they replace and remove; `nil` for what the vault's options say.
  /// - Throws: ``VaultError/Code/groupNotGranted`` if there is no such group or the credential does not grant it;
  ///   ``VaultError/Code/invalidName``.
  public init(
    service: String, accessGroup: String = AccessGroup.defaultName, accessibility: Vault.Accessibility? = nil,
    keeping: Vault.Keeping? = nil, in vault: Vault
  ) throws(VaultError) {
    serviceName = try Vault.Name(service)
    group = try vault.group(named: accessGroup)
    self.service = service
    self.accessGroup = accessGroup
    self.accessibility = accessibility
    self.vault = vault
    self.keeping = keeping
  }

  /// The name of this layer in explanations: `vault SERVICE/GROUP`.
  public var name: String { "vault \(service)/\(accessGroup)" }

  public var custody: Custody { .sealed }

  // MARK: Reading

  public func value(for query: PreferenceQuery) throws(VaultError) -> PreferenceValue? {
    try value(forKey: query.name.text)
  }

  /// Returns the value in guarded memory, or `nil` if it is absent. The opened record is copied there and nowhere else.
  public func guardedValue(for query: PreferenceQuery) throws(VaultError) -> (any GuardedValue)? {
    try guardedContent(forKey: query.name.text)
  }

  /// - Parameter handle: a different handle of the same vault; `nil` for the store's own.
  func guardedContent(forKey key: String, in handle: Vault? = nil) throws(VaultError) -> GuardedContent? {
    let opened = try (handle ?? vault).withValue(service: serviceName, key: key, in: group) { kind, body in
      Result { () throws(VaultError) in try GuardedContent(opened: kind, body) }
    }
    return try opened?.get()
  }

  public func names(of secrecy: Secrecy) throws(VaultError) -> [PreferenceName] { PreferenceName.valid(try keys()) }

  /// Returns the value under `key`, or `nil` if it is absent.
  /// - Throws: ``VaultError``, for example ``VaultError/Code/tampered``; ``VaultError/Code/notFound`` if the vault was
  ///   deleted; ``VaultError/Code/typeMismatch`` for a kind of value that this version does not know.
  public func value(forKey key: String) throws(VaultError) -> PreferenceValue? {
    guard let result = try vault.withValue(service: serviceName, key: key, in: group, SecretCoding.decode) else {
      return nil
    }
    return try result.get()
  }

  /// Returns the string under `key`, or `nil` if it is absent.
  ///
  /// A string cannot be wiped; ``withBytes(forKey:_:)`` lends the bytes instead.
  /// - Throws: ``VaultError/Code/typeMismatch`` if the stored value is not a string, and the errors of
  ///   ``value(forKey:)``.
  public func string(forKey key: String) throws(VaultError) -> String? {
    try typed(key, .string) { $0.withUnsafeBytes { String(decoding: $0, as: UTF8.self) } }
  }

  /// Returns the data under `key`, or `nil` if it is absent.
  ///
  /// Data cannot be wiped; ``withBytes(forKey:_:)`` lends the bytes instead.
  /// - Throws: ``VaultError/Code/typeMismatch`` if the stored value is not data, and the errors of ``value(forKey:)``.
  public func data(forKey key: String) throws(VaultError) -> Data? {
    try typed(key, .data) { $0.withUnsafeBytes { Data($0) } }
  }

  /// Lends the bytes of a string or data value, without a copy that outlives `body`.
  ///
  /// The bytes are in locked memory and are wiped afterwards. Values up to 3,520 bytes cost no allocation.
  /// - Returns: the result of `body`, or `nil` if there is no such key.
  /// - Throws: ``VaultError/Code/typeMismatch`` if the stored value is neither a string nor data, and the errors of
  ///   ``value(forKey:)``.
  @inlinable
  public func withBytes<R>(forKey key: String, _ body: (RawSpan) -> R) throws(VaultError) -> R? {
    var result: R?
    try readBytes(key, .string, or: .data) { result = body($0) }
    return result
  }

  /// The form for a closure that throws, such as one that makes a key of the bytes.
  ///
  /// ```swift
  /// let key = try secrets.withBytes(forKey: "signing-key") { bytes in
  ///   try bytes.withUnsafeBytes { try Curve25519.Signing.PrivateKey(rawRepresentation: $0) }
  /// }
  /// ```
  /// - Throws: the error of `body`, and those of the form whose closure does not throw.
  @inlinable
  public func withBytes<R, E: Error>(forKey key: String, _ body: (RawSpan) throws(E) -> R) throws -> R? {
    var result: Result<R, E>?
    try readBytes(key, .string, or: .data) { bytes in result = Result { () throws(E) in try body(bytes) } }
    return try result?.get()
  }

  private func typed<R>(
    _ key: String, _ wanted: ValueKind, _ body: (RawSpan) -> R
  ) throws(VaultError) -> R? {
    var result: R?
    try readBytes(key, wanted, or: wanted) { result = body($0) }
    return result
  }

  @usableFromInline
  func readBytes(
    _ key: String, _ wanted: ValueKind, or other: ValueKind, _ body: (RawSpan) -> Void
  ) throws(VaultError) {
    var isWanted = true
    _ = try vault.withValue(service: serviceName, key: key, in: group) { kind, bytes in
      isWanted = kind == wanted || kind == other
      if isWanted { body(bytes) }
    }
    guard isWanted else { throw SecretCoding.mismatch }
  }

  /// Returns the keys of this service in this group, ordered by their bytes. Opens no value.
  public func keys() throws(VaultError) -> [String] {
    try vault.keys(service: serviceName, in: group)
  }

  /// Returns whether `key` has a value. If that cannot be determined, returns `unavailable` with the error.
  public func presence(forKey key: String) -> Vault.Presence {
    do throws(VaultError) {
      return try vault.kind(service: serviceName, key: key, in: group) == nil ? .absent : .present
    } catch { return .unavailable(error) }
  }

  // MARK: Writing

  /// Seals and removes values in one transaction: when the method returns, all changes are durable or nothing has
  /// changed. Conditions hold against every other writer, in this process and in others.
  ///
  /// The sealed bytes of a removed value stay in the file until the next fold, or longer with ``keeping``.
  /// - Throws: ``VaultError/Code/valueTooLarge``, ``VaultError/Code/invalidName``, ``VaultError/Code/readOnly``,
  ///   ``VaultError/Code/io`` or ``VaultError/Code/lockTimeout`` with the old values intact;
  ///   ``VaultError/Code/durabilityUnknown`` if the new values may not survive a power failure.
  @discardableResult
  public func apply(_ edits: PreferenceEdits) throws(VaultError) -> WriteOutcome {
    guard let changes = try presentChanges(edits) else { return .conflict }
    do throws(VaultError) {
      let sealed = try vault.sealedChanges(
        service: serviceName, in: group, accessibility: accessibility, keeping: keeping
      ) { (batch) throws(VaultError) in try fill(&batch, changes) }
      try vault.commit(sealed.get(), in: group)
    } catch { return try conflict(error, edits) }
    return .visible
  }

  /// The asynchronous form of `apply(_:)`; waits for no log, no lock of the file and no sync on a cooperative thread.
  @discardableResult
  public func apply(_ edits: PreferenceEdits) async throws(VaultError) -> WriteOutcome {
    // What is neither compared nor listed needs no read of a value, and so no helper thread for it.
    let found =
      if edits.isUnconditional && !edits.clears {
        try presentChanges(edits)
      } else {
        try await reading { (store) throws(VaultError) in try store.presentChanges(edits) }
      }
    guard let changes = found else { return .conflict }
    do throws(VaultError) {
      let sealed = try vault.sealedChanges(
        service: serviceName, in: group, accessibility: accessibility, keeping: keeping
      ) { (batch) throws(VaultError) in try fill(&batch, changes) }
      try await vault.commit(sealed.get(), in: group)
    } catch { return try conflict(error, edits) }
    return .visible
  }

  private struct Changes: Sendable {
    var removed: [RecordInfo] = []
    var made: [(key: String, content: PreferenceContent?, revision: UInt64?)] = []
  }

  /// Asks a database once before it says that a condition does not hold: the caller may know a newer value.
  ///
  /// - Returns: `nil` if a condition does not hold.
  private func presentChanges(_ edits: PreferenceEdits) throws(VaultError) -> Changes? {
    if let changes = try changes(edits) { return changes }
    guard vault.age > .zero else { return nil }
    try vault.refresh()
    return try changes(edits)
  }

  /// - Returns: `nil` if a condition does not hold for the known state.
  private func changes(_ edits: PreferenceEdits) throws(VaultError) -> Changes? {
    var changes = Changes()
    if edits.clears { changes.removed = try vault.records(service: serviceName, in: group) }
    for edit in edits.edits {
      let key = edit.name.text
      var revision: UInt64?
      if case .ifStored(let expected) = edit.condition {
        // Look up the revision before the value: a write in between changes the revision.
        revision = try vault.record(service: serviceName, key: key, in: group)?.revision ?? 0
        let stored = try guardedContent(forKey: key).map(PreferenceContent.guarded)
        guard try opening({ try stored.isSame(as: expected) }) else { return nil }
      }
      changes.made.append((key, edit.content, revision))
    }
    return changes
  }

  private func fill(_ batch: inout Vault.Transaction, _ changes: Changes) throws(VaultError) {
    batch.reserveCapacity(changes.removed.count + changes.made.count)
    for record in changes.removed { try batch.remove(record.key) }
    for (key, content, revision) in changes.made {
      guard let content else {
        try batch.remove(key, ifRevision: revision)
        continue
      }
      if case .guarded(let guarded) = content, let guarded = guarded as? GuardedContent {
        try batch.set(guarded, forKey: key, ifRevision: revision)
      } else {
        let value = try opening { try content.value() }
        try batch.set(value, forKey: key, ifRevision: revision)
      }
    }
  }

  private func conflict(_ error: VaultError, _ edits: PreferenceEdits) throws(VaultError) -> WriteOutcome {
    guard error.code == .conflict, !edits.isUnconditional else { throw error }
    return .conflict
  }

  /// Runs `body`, which opens a value in guarded memory. The value's type may belong to a different package.
  private func opening<R>(_ body: () throws -> R) throws(VaultError) -> R {
    do { return try body() } catch let error as VaultError { throw error } catch {
      throw VaultError(.typeMismatch, "a value in guarded memory could not be opened")
    }
  }

  /// Calls `notify` when values may have changed.
  ///
  /// Writes through this vault object are reported when they return, on the thread that made them, or for an `async`
  /// form on a helper thread. Writes of other handles and processes are reported when they reach the file, on a
  /// separate thread, and only with the keys whose records they change. A read by an observer counts as a use for the
  /// idle limit.
  ///
  /// Every part of the path and of the links in it is watched. On a file system that does not report all changes, such
  /// as one of a network, and where a folder of the path cannot be read, the file is also looked at every two seconds.
  /// If the folder of the vault does not exist or cannot be read when the first observer is added, the error is
  /// reported to ``PreferenceFailures`` with the key `*`, and writes of other handles and processes are not observed.
  public func observe(_ notify: @escaping @Sendable (PreferenceChange) -> Void) -> PreferenceObservation {
    let hub = vault.observerHub { SecretObserverHub(vault) }
    return hub.observe(service: serviceName, in: group, notify) {
      PreferenceFailures.report($0, key: "*", reader: name)
    }
  }
}

/// Stores of the same service in the same access group of the same vault object have equal identities.
extension SecretPreferences: Identifiable {
  public var id: StoreIdentity {
    StoreIdentity(Self.self, name: "\(service)\u{0}\(accessGroup)", over: [StoreIdentity(vault)])
  }
}

extension Vault {
  /// Whether a secret is present.
  public enum Presence: Sendable {
    /// The secret has a value.
    case present
    /// There is no such secret.
    case absent
    /// The presence cannot be determined because of this error.
    case unavailable(VaultError)
  }
}

extension SecretPreferences: CustomStringConvertible, CustomReflectable {
  /// The layer's name. No key and no value.
  public var description: String { name }
  public var customMirror: Mirror { Mirror(self, children: EmptyCollection<Mirror.Child>()) }
}

extension SecretPreferences: WaitingReader {
  package var threads: HelperPool? { .waiting(for: "reads of \(vault.path)") }
}
