internal import Synchronization
internal import VaultSealing

extension Vault {
  /// A set of changes of one access group that become durable together.
  public struct Batch: ~Copyable {
    let service: Vault.Name
    var changes: [RecordChange] = []
    private var positions: [Vault.Name: Int] = [:]
    private let sealer: GroupSealer
    /// Where the records are; nil for a vault in the making.
    private let target: (vault: Vault, group: AccessGroup)?

    init(service: Vault.Name, in target: (vault: Vault, group: AccessGroup)? = nil, _ sealer: GroupSealer) {
      (self.service, self.target, self.sealer) = (service, target, sealer)
    }

    /// The key that a text means: another program may have spelled it so (`Docs/Decisions/0018`).
    private func meant(_ key: Vault.Name) throws(VaultError) -> Vault.Name {
      guard let spelled = key.spelled, let target else { return key }
      let exact = try Vault.Name(verbatim: spelled)
      return try target.vault.contains(service, exact, in: target.group) ? exact : key
    }

    /// Seals `value` and adds it; of two changes of one key the later counts. The value's bytes are not kept.
    /// - Throws: ``VaultError/Code/valueTooLarge``, ``VaultError/Code/typeMismatch`` when the bytes do not fit the
    ///   kind, ``VaultError/Code/invalidName``, ``VaultError/Code/deviceKeyMissing``.
    ///
    /// - Parameters:
    ///   - accessibility: when the value can be read. When nil, a record keeps what it has, and a new one is
    ///     ``Vault/Accessibility/whenUnlocked``. Kept earlier values follow, except to or from "this device only", where they
    ///     are dropped.
    ///   - edit: what to write down about it in the same write.
    ///   - revision: the one that the record must have, 0 when it must not be there; any when nil. Another is answered
    ///     with ``VaultError/Code/conflict``, and the whole batch is not written.
    public mutating func set(
      _ value: UnsafeRawBufferPointer, kind: ValueKind, forKey key: String, accessibility: Vault.Accessibility? = nil,
      edit: RecordEdit = RecordEdit(), ifRevision revision: UInt64? = nil
    ) throws(VaultError) {
      try set(value.bytes, kind: kind, forKey: key, accessibility: accessibility, edit: edit, ifRevision: revision)
    }

    /// As the form for unsafe bytes.
    public mutating func set(
      _ value: RawSpan, kind: ValueKind, forKey key: String, accessibility: Vault.Accessibility? = nil,
      edit: RecordEdit = RecordEdit(), ifRevision revision: UInt64? = nil
    ) throws(VaultError) {
      try set(
        value, kind: kind, for: try meant(Vault.Name(key)), accessibility: accessibility, edit: edit,
        ifRevision: revision)
    }

    /// As the form for text, for a name that may be another program's.
    mutating func set(
      _ value: RawSpan, kind: ValueKind, for key: Vault.Name, accessibility: Vault.Accessibility?, edit: RecordEdit,
      ifRevision revision: UInt64?
    ) throws(VaultError) {
      try sealer.check(value, kind)
      let address = RecordAddress(service, key)
      // A record keeps the class that it has.
      var present: Vault.Accessibility?
      if accessibility == nil, let (vault, group) = target {
        present = try vault.handle.accessibility(of: address, in: group.id)
      }
      let place = sealer.place(accessibility ?? present ?? .whenUnlocked)
      let sealed = SealedValue(
        kind: kind.rawValue, place: place,
        bytes: try place.seal(value, kind, for: address.name, deviceKey: sealer.deviceKey, sealer.sealer))
      try add(RecordChange(address, .put(sealed, keepsClass: accessibility == nil)), edit, revision)
    }

    /// Adds a removal. Removing what is not there is no error.
    public mutating func remove(_ key: String, ifRevision revision: UInt64? = nil) throws(VaultError) {
      try remove(try Vault.Name(key), ifRevision: revision)
    }

    /// Adds a removal, as of a key that ``Vault/records(service:in:)`` lists.
    public mutating func remove(_ key: Vault.Name, ifRevision revision: UInt64? = nil) throws(VaultError) {
      try add(RecordChange(RecordAddress(service, try meant(key)), .remove), RecordEdit(), revision)
    }

    /// Adds a change of what is written down about a record; its value stays.
    ///
    /// The write answers ``VaultError/Code/notFound`` when the record is not there.
    public mutating func edit(
      _ key: String, _ edit: RecordEdit, ifRevision revision: UInt64? = nil
    ) throws(VaultError) {
      try add(RecordChange(RecordAddress(service, try meant(Vault.Name(key))), .edit), edit, revision)
    }

    /// Makes a kept earlier value the current one; the present one joins the history.
    ///
    /// The write answers ``VaultError/Code/notFound`` when the record keeps no value of that revision.
    public mutating func restore(
      _ key: String, revision: UInt64, ifRevision expected: UInt64? = nil
    ) throws(VaultError) {
      try add(
        RecordChange(RecordAddress(service, try meant(Vault.Name(key))), .restore(revision)), RecordEdit(), expected)
    }

    /// Adds a change. One of a record that the batch changes already takes the place of the earlier one, with what that one
    /// wrote down about the record.
    private mutating func add(_ new: RecordChange, _ edit: RecordEdit, _ expected: UInt64?) throws(VaultError) {
      try edit.check()
      var change = new
      (change.edit, change.expected) = (edit, expected)
      guard let position = positions[change.address.key] else {
        positions[change.address.key] = changes.count
        return changes.append(change)
      }
      let earlier = changes[position]
      if let before = earlier.expected {
        guard expected == nil || expected == before else { throw .conflict }
        change.expected = before
      }
      switch (earlier.action, change.action) {
      case (.remove, .edit), (.remove, .restore): throw VaultError(.notFound, "the batch removes the record first")
      case (.remove, _), (_, .remove): break
      case (_, .edit):
        change.action = earlier.action
        change.edit = edit.behind(earlier.edit)
      default: change.edit = edit.behind(earlier.edit, hasNewValue: true)
      }
      changes[position] = change
    }
  }
}

extension Vault {
  /// Sets and removes records of one service in one transaction: all of it is durable when this returns, or
  /// nothing has changed. Blocks for the disk; concurrent calls share one append and one sync.
  ///
  /// - Parameter body: fills the batch. Runs once.
  /// - Returns: how many removals found their record.
  /// - Throws: what filling throws; ``VaultError/Code/readOnly``, ``VaultError/Code/io``,
  ///   ``VaultError/Code/lockTimeout``, ``VaultError/Code/hardLinked``, ``VaultError/Code/replaced`` with the vault
  ///   unchanged; ``VaultError/Code/durabilityUnknown`` when the change may or may not survive.
  @discardableResult
  public func update(
    service: Vault.Name, in group: AccessGroup, _ body: (inout Vault.Batch) throws(VaultError) -> Void
  ) throws(VaultError) -> Int {
    let (opener, sealer) = try takeSealer(for: group)
    defer { handle.giveBack(opener) }
    var batch = Vault.Batch(service: try meant(service, in: group), in: (self, group), sealer)
    try body(&batch)
    return try commit(batch.changes, in: group)
  }

  /// As the synchronous form, without ever blocking a cooperative thread.
  @discardableResult
  public func update(
    service: Vault.Name, in group: AccessGroup, _ body: (inout Vault.Batch) throws(VaultError) -> Void
  ) async throws(VaultError) -> Int {
    let changes: [RecordChange]
    do {
      let (opener, sealer) = try takeSealer(for: group)
      defer { handle.giveBack(opener) }
      var batch = Vault.Batch(service: try meant(service, in: group), in: (self, group), sealer)
      try body(&batch)
      changes = batch.changes
    }
    if changes.isEmpty { return 0 }
    let announcement = announce(changes, in: group)
    defer { announcement?.end() }
    return try await queue.perform(.changes(changes, group: group.id)).get()
  }

  /// Makes sealed changes durable together.
  /// - Returns: how many removals found their record.
  @discardableResult
  func commit(_ changes: [RecordChange], in group: AccessGroup) throws(VaultError) -> Int {
    if changes.isEmpty { return 0 }
    let announcement = announce(changes, in: group)
    defer { announcement?.end() }
    return try queue.perform(.changes(changes, group: group.id)).get()
  }

  /// Takes what seals for `group`. The opener is the caller's until it is given back.
  func takeSealer(for group: AccessGroup) throws(VaultError) -> (opener: ValueOpener, sealer: GroupSealer) {
    let take = { [self] (loaded: inout VaultHandle.Loaded, state: VaultState) throws(VaultError) in
      let content = try state.content(group.id)
      let opener = try handle.takeOpener(&loaded)
      return (opener, try GroupSealer(content, options, opener.sealer))
    }
    // Sealing needs keys, not the present records: what others wrote meanwhile is taken over under the writer's lock.
    do throws(VaultError) { return try handle.withLatest(take) } catch {
      // Refused earlier, but the file may have been fixed since.
      return try handle.withCurrent(take)
    }
  }

  /// The service that a text means: another program may have spelled it so (`Docs/Decisions/0018`).
  private func meant(_ service: Vault.Name, in group: AccessGroup) throws(VaultError) -> Vault.Name {
    guard let spelled = service.spelled else { return service }
    let exact = try Vault.Name(verbatim: spelled)
    return try keys(service: exact, in: group).isEmpty ? service : exact
  }
}
