internal import DurableFiles
internal import Synchronization
internal import VaultSealing

extension Vault {
  /// A set of changes to records of one service that become durable together.
  public struct Transaction: ~Copyable {
    let service: Vault.Name
    var changes: [RecordChange] = []
    /// The class of values that are set without one; `nil` keeps the class of a record.
    fileprivate var accessibility: Vault.Accessibility?
    /// What the changes that follow keep of values that they replace and remove. At first that of the vault's options.
    public var keeping = Keeping.nothing
    private var positions: [Vault.Name: Int] = [:]
    private let sealer: GroupSealer
    /// Where the records are; `nil` for a vault that is being created.
    private let target: (vault: Vault, group: AccessGroup)?

    init(service: Vault.Name, in target: (vault: Vault, group: AccessGroup)? = nil, _ sealer: GroupSealer) {
      self.service = service
      self.target = target
      self.sealer = sealer
      if let target { keeping = target.vault.options.keeping }
    }

    /// Reserves space for `count` changes.
    package mutating func reserveCapacity(_ count: Int) {
      changes.reserveCapacity(count)
      positions.reserveCapacity(count)
    }

    /// The key as the file spells it: exactly as given if there is such a record, because another program may have
    /// written it; otherwise in normal form (`Docs/Decisions/0018`).
    func storedSpelling(of key: Vault.Name) throws(VaultError) -> Vault.Name {
      guard let spelled = key.spelled, let target else { return key }
      let exact = try Vault.Name(verbatim: spelled)
      return try target.vault.isStored(service, exact, in: target.group) ? exact : key
    }

    /// Seals `value` and adds the change. A second set of the same key replaces the first. A set after a removal makes
    /// a new record, which has nothing of the removed one, or, if that is kept, only its earlier values. The plain
    /// bytes are not kept.
    ///
    /// - Parameters:
    ///   - accessibility: when the value can be read. With `nil` an existing record keeps its class and a new one gets
    ///     ``Vault/Accessibility/whenUnlocked``. Earlier values move to the new class. A change to or from "this device
    ///     only" removes them.
    ///   - edit: metadata to change in the same write.
    ///   - revision: the revision that the record must have; 0 if it must not exist; `nil` for any. With a different
    ///     revision the write throws ``VaultError/Code/conflict``, and nothing of the transaction is written.
    /// - Throws: ``VaultError/Code/valueTooLarge``; ``VaultError/Code/typeMismatch`` if the bytes do not fit the kind;
    ///   ``VaultError/Code/invalidName``; ``VaultError/Code/deviceKeyMissing``.
    public mutating func set(
      _ value: RawSpan, kind: ValueKind, forKey key: String, accessibility: Vault.Accessibility? = nil,
      edit: RecordEdit = RecordEdit(), ifRevision revision: UInt64? = nil
    ) throws(VaultError) {
      try set(
        value, kind: kind, for: try storedSpelling(of: Vault.Name(key)), accessibility: accessibility, edit: edit,
        ifRevision: revision)
    }

    /// Sets the value of a key whose spelling in the file is known.
    mutating func set(
      _ value: RawSpan, kind: ValueKind, for key: Vault.Name, accessibility: Vault.Accessibility?, edit: RecordEdit,
      times: RecordTimes? = nil, ifRevision revision: UInt64?
    ) throws(VaultError) {
      try kind.check(value, limit: sealer.limit)
      let address = RecordAddress(service, key)
      let accessibility = accessibility ?? self.accessibility
      // An existing record keeps its class.
      var present: Vault.Accessibility?
      var edit = edit
      edit.defaultHistoryDepth = keeping.defaultDepth
      if accessibility == nil, let (vault, group) = target, !removes(key) {
        present = try vault.handle.accessibility(of: address.name, in: group.id)
      }
      let cipher = sealer.cipher(accessibility ?? present ?? .whenUnlocked)
      let sealed = SealedValue(
        kind: kind.rawValue, cipher: cipher,
        bytes: try cipher.seal(value, kind, for: address.name, deviceKey: sealer.deviceKey, sealer.sealer))
      try add(address, .put(sealed, keepsClass: accessibility == nil), edit, revision, times)
    }

    /// Adds the removal of a record. A record that does not exist is not an error.
    ///
    /// With ``Keeping/removedRecords`` the record can be restored for that time. Otherwise, and with `atOnce`, it is
    /// gone with all its earlier values, and so is a record that was removed earlier and kept.
    public mutating func remove(
      _ key: String, atOnce: Bool = false, ifRevision revision: UInt64? = nil
    ) throws(VaultError) {
      try remove(try Vault.Name(key), atOnce: atOnce, ifRevision: revision)
    }

    /// Adds the removal of a record by its exact name, as listed by ``Vault/records(service:in:)``.
    public mutating func remove(
      _ key: Vault.Name, atOnce: Bool = false, ifRevision revision: UInt64? = nil
    ) throws(VaultError) {
      let duration = atOnce ? nil : keeping.removedRecords
      try add(
        RecordAddress(service, try storedSpelling(of: key)),
        .remove(duration.map { .kept(for: $0.milliseconds) } ?? .atOnce),
        RecordEdit(), revision)
    }

    /// Adds a change of a record's metadata. Its value does not change.
    ///
    /// The write throws ``VaultError/Code/notFound`` if the record does not exist.
    public mutating func edit(
      _ key: String, _ edit: RecordEdit, ifRevision revision: UInt64? = nil
    ) throws(VaultError) {
      try add(RecordAddress(service, try storedSpelling(of: Vault.Name(key))), .edit, edit, revision)
    }

    /// Makes an earlier value the current one again. The present value is added to the history. A removed record that
    /// is kept exists again; its earlier values are in ``Vault/removedRecords(service:in:)``.
    ///
    /// The write throws ``VaultError/Code/notFound`` if the record has no earlier value of that revision.
    public mutating func restore(
      _ key: String, revision: UInt64, ifRevision expected: UInt64? = nil
    ) throws(VaultError) {
      try restore(key, revision: revision, moves: false, ifRevision: expected)
    }

    /// The same. With `moves` the value is not also kept as an earlier one, so that no other one makes room for it.
    package mutating func restore(
      _ key: String, revision: UInt64, moves: Bool, ifRevision expected: UInt64?
    ) throws(VaultError) {
      var edit = RecordEdit()
      edit.defaultHistoryDepth = keeping.defaultDepth
      let address = RecordAddress(service, try storedSpelling(of: Vault.Name(key)))
      try add(address, .restore(revision, moves: moves), edit, expected)
    }

    /// Whether the record that has the key now is removed by the transaction.
    private func removes(_ key: Vault.Name) -> Bool { positions[key].map { changes[$0].removal != nil } ?? false }

    /// Adds a change. If the transaction already changes this record, the new change replaces the earlier one and takes
    /// over its metadata.
    mutating func add(
      _ address: RecordAddress, _ operation: RecordChange.Operation, _ edit: RecordEdit, _ expected: UInt64?,
      _ times: RecordTimes? = nil
    ) throws(VaultError) {
      try edit.check()
      guard let position = positions.updateValue(changes.count, forKey: address.key) else {
        return changes.append(RecordChange(address, operation, edit, ifRevision: expected, times: times))
      }
      positions[address.key] = position
      let earlier = changes[position]
      if let before = earlier.expected, let expected, expected != before { throw .conflict }
      var (operation, edit, removal) = (operation, edit, earlier.removal)
      switch (earlier.operation, operation) {
      case (_, .restore) where removal != nil, (.remove, .edit):
        throw VaultError(.notFound, "the transaction removes the record first")
      case (_, .remove):
        // What is gone at once is not kept by a later removal.
        if removal == .atOnce { operation = .remove(.atOnce) }
        removal = nil
      case (.remove, _): break
      case (_, .edit):
        operation = earlier.operation
        edit = edit.behind(earlier.edit)
      default: edit = edit.behind(earlier.edit, hasNewValue: true)
      }
      changes[position] = RecordChange(
        address, operation, edit, ifRevision: earlier.expected ?? expected, after: removal, times: times)
    }
  }
}

extension Vault {
  /// Sets, removes and edits records of one service in one transaction.
  ///
  /// All changes are durable when the method returns: they survive a crash and a power failure. If it throws, nothing
  /// has changed, except with ``VaultError/Code/durabilityUnknown``. Blocks while the disk syncs; concurrent calls
  /// share one append and one sync.
  ///
  /// ```swift
  /// try vault.transaction(service: service, in: group) { transaction in
  ///   try transaction.set(token.span.bytes, kind: .string, forKey: "github")
  ///   try transaction.remove("gitlab")
  /// }
  /// ```
  ///
  /// - Parameter body: fills the transaction. Called once.
  /// - Returns: how many removals found their record.
  /// - Throws: the error of `body`; ``VaultError/Code/conflict`` or ``VaultError/Code/notFound`` for a condition of the
  ///   transaction; ``VaultError/Code/readOnly``, ``VaultError/Code/io``, ``VaultError/Code/lockTimeout``,
  ///   ``VaultError/Code/hardLinked`` or ``VaultError/Code/replaced`` with the vault unchanged;
  ///   ``VaultError/Code/durabilityUnknown`` if the change may or may not survive.
  @discardableResult
  public func transaction(
    service: Vault.Name, in group: AccessGroup, _ body: (inout Vault.Transaction) throws(VaultError) -> Void
  ) throws(VaultError) -> Int {
    try commit(sealedChanges(service: service, in: group, body).get(), in: group).removedCount
  }

  /// The asynchronous form of `transaction`: it waits for the lock and the disk on no cooperative thread. `body` runs
  /// in the caller's task, and waits if it makes logged reads.
  @discardableResult
  public func transaction(
    service: Vault.Name, in group: AccessGroup, _ body: (inout Vault.Transaction) throws(VaultError) -> Void
  ) async throws(VaultError) -> Int {
    try await commit(sealedChanges(service: service, in: group, body).get(), in: group).removedCount
  }

  /// Seals the changes of a transaction that `body` fills, for ``commit(_:in:)``. Errors of `body` are returned.
  ///
  /// - Parameters:
  ///   - accessibility: the class of values that the transaction sets without one.
  ///   - keeping: what the changes keep; `nil` for what the vault's options say.
  package func sealedChanges<E: Error>(
    service: Vault.Name, in group: AccessGroup, accessibility: Vault.Accessibility? = nil, keeping: Keeping? = nil,
    _ body: (inout Vault.Transaction) throws(E) -> Void
  ) throws(VaultError) -> Result<[RecordChange], E> {
    let (opener, sealer) = try acquireSealer(for: group)
    defer { handle.release(opener) }
    var transaction = Vault.Transaction(service: try storedSpelling(of: service, in: group), in: (self, group), sealer)
    transaction.accessibility = accessibility
    if let keeping { transaction.keeping = keeping }
    do throws(E) { try body(&transaction) } catch { return .failure(error) }
    return .success(transaction.changes)
  }

  /// Makes sealed changes durable together.
  @discardableResult
  package func commit(_ changes: [RecordChange], in group: AccessGroup) throws(VaultError) -> CommittedWrite {
    if changes.isEmpty { return CommittedWrite() }
    let announcement = announce(changes, in: group)
    let outcome = queue.perform(.changes(changes, group: group.id))
    announcement?.end(outcome)
    return try outcome.get()
  }

  /// The asynchronous form of `commit(_:in:)`.
  @discardableResult
  package func commit(_ changes: [RecordChange], in group: AccessGroup) async throws(VaultError) -> CommittedWrite {
    if changes.isEmpty { return CommittedWrite() }
    let announcement = announce(changes, in: group)
    let outcome = await queue.perform(.changes(changes, group: group.id))
    await announcement?.end(outcome, notifyingIn: .waiting(for: "observers of \(path)"))
    return try outcome.get()
  }

  /// Returns the sealer for `group`. The caller returns the opener after use.
  func acquireSealer(for group: AccessGroup) throws(VaultError) -> (opener: ValueOpener, sealer: GroupSealer) {
    let take = { [self] (loaded: inout VaultHandle.Loaded, state: VaultState) throws(VaultError) in
      let content = try state.content(group.id)
      let opener = try handle.acquireOpener(&loaded)
      return (opener, try GroupSealer(content, options, opener.sealer))
    }
    // Sealing needs keys, not the present records. Writes of other processes are taken over under the writer's lock.
    do throws(VaultError) { return try handle.withLoadedState(take) } catch {
      // The state in memory was refused, but the file may have been repaired since.
      return try handle.withCurrent(take)
    }
  }

  /// The service as the file spells it: exactly as given if it has records, because another program may have written
  /// them; otherwise in normal form (`Docs/Decisions/0018`).
  func storedSpelling(of service: Vault.Name, in group: AccessGroup) throws(VaultError) -> Vault.Name {
    guard let spelled = service.spelled else { return service }
    let exact = try Vault.Name(verbatim: spelled)
    if try !keys(service: exact, in: group).isEmpty { return exact }
    return try removedRecords(service: exact, in: group).isEmpty ? service : exact
  }
}
