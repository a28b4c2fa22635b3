internal import Synchronization
internal import VaultSealing

extension Vault {
  /// A set of changes of one access group that become durable together.
  public struct Batch: ~Copyable {
    let service: Vault.Name
    var changes: [Change] = []
    private var positions: [Vault.Name: Int] = [:]
    /// Seals a value for a service and a key, in an accessibility class or the one the record has.
    typealias Seal = (Vault.Name, Vault.Name, ValueKind, Vault.Accessibility?, UnsafeRawBufferPointer)
      throws(VaultError) -> Change
    private let seal: Seal
    /// Where the records are; nil for a vault in the making.
    private let target: (vault: Vault, group: AccessGroup)?

    init(service: Vault.Name, in target: (vault: Vault, group: AccessGroup)? = nil, seal: @escaping Seal) {
      (self.service, self.target, self.seal) = (service, target, seal)
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
      try set(
        value, kind: kind, for: try meant(Vault.Name(key)), accessibility: accessibility, edit: edit,
        ifRevision: revision)
    }

    /// As the form for text, for a name that may be another program's.
    mutating func set(
      _ value: UnsafeRawBufferPointer, kind: ValueKind, for key: Vault.Name, accessibility: Vault.Accessibility?,
      edit: RecordEdit,
      ifRevision revision: UInt64?
    ) throws(VaultError) {
      try add(try seal(service, key, kind, accessibility, value), edit, revision)
    }

    /// Adds a removal. Removing what is not there is no error.
    public mutating func remove(_ key: String, ifRevision revision: UInt64? = nil) throws(VaultError) {
      try remove(try Vault.Name(key), ifRevision: revision)
    }

    /// Adds a removal, as of a key that ``Vault/records(service:in:)`` lists.
    public mutating func remove(_ key: Vault.Name, ifRevision revision: UInt64? = nil) throws(VaultError) {
      try add(Change(service: service, key: try meant(key), action: .remove), RecordEdit(), revision)
    }

    /// Adds a change of what is written down about a record; its value stays.
    ///
    /// The write answers ``VaultError/Code/notFound`` when the record is not there.
    public mutating func edit(
      _ key: String, _ edit: RecordEdit, ifRevision revision: UInt64? = nil
    ) throws(VaultError) {
      try add(Change(service: service, key: try meant(Vault.Name(key)), action: .edit), edit, revision)
    }

    /// Makes a kept earlier value the current one; the present one joins the history.
    ///
    /// The write answers ``VaultError/Code/notFound`` when the record keeps no value of that revision.
    public mutating func restore(
      _ key: String, revision: UInt64, ifRevision expected: UInt64? = nil
    ) throws(VaultError) {
      try add(
        Change(service: service, key: try meant(Vault.Name(key)), action: .restore(revision)), RecordEdit(), expected)
    }

    /// Adds a change. One of a record that the batch changes already takes the place of the earlier one, with what that one
    /// wrote down about the record.
    private mutating func add(_ new: Change, _ edit: RecordEdit, _ expected: UInt64?) throws(VaultError) {
      try edit.check()
      var change = new
      (change.edit, change.expected) = (edit, expected)
      guard let position = positions[change.key] else {
        positions[change.key] = changes.count
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
        change.keepsClass = earlier.keepsClass
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
  /// - Parameter body: fills the batch. Runs again if the group's key is rotated meanwhile.
  /// - Returns: how many removals found their record.
  /// - Throws: what filling throws; ``VaultError/Code/readOnly``, ``VaultError/Code/io``,
  ///   ``VaultError/Code/lockTimeout``, ``VaultError/Code/hardLinked``, ``VaultError/Code/replaced`` with the vault
  ///   unchanged; ``VaultError/Code/durabilityUnknown`` when the change may or may not survive.
  @discardableResult
  public func update(
    service: Vault.Name, in group: AccessGroup, _ body: (inout Vault.Batch) throws(VaultError) -> Void
  ) throws(VaultError) -> Int {
    try commit(in: group) { (seal) throws(VaultError) in try changes(service, in: group, seal, body) }
  }

  /// Seals changes of any services and makes them durable together.
  ///
  /// - Parameter make: gives the changes; runs again if the group's key is rotated meanwhile.
  @discardableResult
  func commit(
    in group: AccessGroup, _ make: (@escaping Vault.Batch.Seal) throws(VaultError) -> [Change]
  ) throws(VaultError) -> Int {
    let start = ContinuousClock.now
    repeat {
      let (key, changes) = try prepare(group, make)
      if changes.isEmpty { return 0 }
      let announcement = announce(changes, in: group)
      defer { announcement?.end() }
      if let removed = try result(queue.perform(.changes(changes, group: group.id, key: key))) { return removed }
    } while ContinuousClock.now - start < options.lockTimeout
    throw Self.restless
  }

  /// As the synchronous form, without ever blocking a cooperative thread.
  @discardableResult
  public func update(
    service: Vault.Name, in group: AccessGroup, _ body: (inout Vault.Batch) throws(VaultError) -> Void
  ) async throws(VaultError) -> Int {
    let start = ContinuousClock.now
    repeat {
      let (key, changes) = try prepare(group) { (seal) throws(VaultError) in
        try self.changes(service, in: group, seal, body)
      }
      if changes.isEmpty { return 0 }
      let announcement = announce(changes, in: group)
      defer { announcement?.end() }
      if let removed = try result(await queue.perform(.changes(changes, group: group.id, key: key))) {
        return removed
      }
    } while ContinuousClock.now - start < options.lockTimeout
    throw Self.restless
  }

  // Each further try needs another rotation in the milliseconds between sealing and writing.
  private static var restless: VaultError {
    VaultError(.lockTimeout, "the group's key was rotated again and again while this was written")
  }

  private func result(_ answer: WriteQueue.Answer) throws(VaultError) -> Int? {
    switch answer {
    case .done(let removed): return removed
    case .stale: return nil
    case .failed(let error): throw error
    }
  }

  private func changes(
    _ service: Vault.Name, in group: AccessGroup, _ seal: @escaping Vault.Batch.Seal,
    _ fill: (inout Vault.Batch) throws(VaultError) -> Void
  ) throws(VaultError) -> [Change] {
    var service = service
    if let spelled = service.spelled {
      let exact = try Vault.Name(verbatim: spelled)
      if try !keys(service: exact, in: group).isEmpty { service = exact }
    }
    var batch = Vault.Batch(service: service, in: (self, group), seal: seal)
    try fill(&batch)
    return batch.changes
  }

  private func prepare(
    _ group: AccessGroup, _ make: (@escaping Vault.Batch.Seal) throws(VaultError) -> [Change]
  ) throws(VaultError) -> (key: SealingKey, changes: [Change]) {
    let take = { (loaded: inout VaultHandle.Loaded, state: VaultState) throws(VaultError) in
      let key = try state.content(group.id).key
      return (try self.handle.takeReader(&loaded), key)
    }
    let reader: ValueReader
    let groupKey: SealingKey
    do throws(VaultError) {
      // Sealing needs keys, not news: what others wrote meanwhile is taken over under the writer's lock.
      (reader, groupKey) = try handle.withLatest(take)
    } catch {
      // Refused earlier, but the file may have been mended since.
      (reader, groupKey) = try handle.withCurrent(take)
    }
    defer { handle.giveBack(reader) }
    let sealer = reader.sealer
    let changes = try make { [self] (service, key, kind, accessibility, value) throws(VaultError) in
      try seal(value, kind, accessibility, service, key, group, sealer)
    }
    return (groupKey, changes)
  }

  /// Refuses what a reader would refuse.
  static func check(
    _ value: UnsafeRawBufferPointer, _ kind: ValueKind, _ options: Options
  ) throws(VaultError) {
    let limit = options.limits.writtenValueBytes
    guard value.count <= limit else {
      throw VaultError(.valueTooLarge, "a value of \(value.count) bytes; the limit is \(limit)")
    }
    guard kind.rawValue != 0, kind.fits(value) else {
      throw VaultError(.typeMismatch, "the bytes do not fit the kind of value")
    }
  }

  private func seal(
    _ value: UnsafeRawBufferPointer, _ kind: ValueKind, _ accessibility: Vault.Accessibility?, _ service: Vault.Name,
    _ key: Vault.Name, _ group: AccessGroup, _ sealer: Sealer
  ) throws(VaultError) -> Change {
    try Self.check(value, kind, options)
    let place = try handle.withLatest { (_, state) throws(VaultError) in
      let name = Change(service: service, key: key, action: .remove)
      let content = try state.content(group.id)
      let accessibility = accessibility ?? name.withName { content.find($0)?.accessibility ?? .whenUnlocked }
      return try content.place(accessibility, state.sealer)
    }
    var change = try place.put(value, kind, service: service, key: key, deviceKey: options.deviceKey, sealer)
    change.keepsClass = accessibility == nil
    return change
  }
}
