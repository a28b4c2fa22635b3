internal import Synchronization
internal import VaultSealing

/// A set of changes of one access group that become durable together.
public struct Batch: ~Copyable {
  let service: Name
  var changes: [Change] = []
  private var positions: [Name: Int] = [:]
  /// Seals a value for a service and a key, in an accessibility class or the one the record has.
  typealias Seal = (Name, Name, ValueKind, Accessibility?, UnsafeRawBufferPointer) throws(VaultError) -> Change
  private let seal: Seal

  init(service: Name, seal: @escaping Seal) { (self.service, self.seal) = (service, seal) }

  /// Seals `value` and adds it; of two changes of one key the later counts. The value's bytes are not kept.
  /// - Throws: ``VaultError/Code/valueTooLarge``, ``VaultError/Code/typeMismatch`` when the bytes do not fit the
  ///   kind, ``VaultError/Code/invalidName``, ``VaultError/Code/deviceKeyMissing``.
  ///
  /// - Parameters:
  ///   - accessibility: when the value can be read. When nil, a record keeps what it has, and a new one is
  ///     ``Accessibility/whenUnlocked``. Kept earlier values follow, except to or from "this device only", where they
  ///     are dropped.
  ///   - edit: what to write down about it in the same write.
  ///   - revision: the one that the record must have, 0 when it must not be there; any when nil. Another is answered
  ///     with ``VaultError/Code/conflict``, and the whole batch is not written.
  public mutating func set(
    _ value: UnsafeRawBufferPointer, kind: ValueKind, forKey key: String, accessibility: Accessibility? = nil,
    edit: RecordEdit = RecordEdit(), ifRevision revision: UInt64? = nil
  ) throws(VaultError) {
    let key = try Name(key)
    try add(try seal(service, key, kind, accessibility, value), edit, revision)
  }

  /// Adds a removal. Removing what is not there is no error.
  public mutating func remove(_ key: String, ifRevision revision: UInt64? = nil) throws(VaultError) {
    try add(Change(service: service, key: try Name(key), action: .remove), RecordEdit(), revision)
  }

  /// Adds a change of what is written down about a record; its value stays.
  ///
  /// The write answers ``VaultError/Code/notFound`` when the record is not there.
  public mutating func edit(
    _ key: String, _ edit: RecordEdit, ifRevision revision: UInt64? = nil
  ) throws(VaultError) {
    try add(Change(service: service, key: try Name(key), action: .edit), edit, revision)
  }

  /// Makes a kept earlier value the current one; the present one joins the history.
  ///
  /// The write answers ``VaultError/Code/notFound`` when the record keeps no value of that revision.
  public mutating func restore(_ key: String, revision: UInt64) throws(VaultError) {
    try add(Change(service: service, key: try Name(key), action: .restore(revision)), RecordEdit(), nil)
  }

  private mutating func add(_ new: Change, _ edit: RecordEdit, _ expected: UInt64?) throws(VaultError) {
    try edit.check()
    var change = new
    (change.edit, change.expected) = (edit, expected)
    if case .edit = change.action, let position = positions[change.key], case .put = changes[position].action {
      // The edit of a value that this batch sets is part of setting it.
      changes[position].edit = edit
      return
    }
    if let position = positions[change.key] {
      changes[position] = change
    } else {
      positions[change.key] = changes.count
      changes.append(change)
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
    service: Name, in group: AccessGroup, _ body: (inout Batch) throws(VaultError) -> Void
  ) throws(VaultError) -> Int {
    let start = ContinuousClock.now
    repeat {
      let (key, changes) = try prepare(service, group, body)
      if changes.isEmpty { return 0 }
      if let removed = try result(queue.perform(.changes(changes, group: group.id, key: key))) { return removed }
    } while ContinuousClock.now - start < options.lockTimeout
    throw Self.restless
  }

  /// As the synchronous form, without ever blocking a cooperative thread.
  @discardableResult
  public func update(
    service: Name, in group: AccessGroup, _ body: (inout Batch) throws(VaultError) -> Void
  ) async throws(VaultError) -> Int {
    let start = ContinuousClock.now
    repeat {
      let (key, changes) = try prepare(service, group, body)
      if changes.isEmpty { return 0 }
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

  private func prepare(
    _ service: Name, _ group: AccessGroup, _ body: (inout Batch) throws(VaultError) -> Void
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
    var batch = Batch(service: service) { [self] (service, key, kind, accessibility, value) throws(VaultError) in
      try seal(value, kind, accessibility, service, key, group, sealer)
    }
    try body(&batch)
    return (groupKey, batch.changes)
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
    _ value: UnsafeRawBufferPointer, _ kind: ValueKind, _ accessibility: Accessibility?, _ service: Name,
    _ key: Name, _ group: AccessGroup, _ sealer: Sealer
  ) throws(VaultError) -> Change {
    try Self.check(value, kind, options)
    let place = try handle.withLatest { (_, state) throws(VaultError) in
      let name = Change(service: service, key: key, action: .remove)
      let content = try state.content(group.id)
      let `class` = accessibility?.rawValue ?? name.withName { content.find($0)?.class ?? 0 }
      return try content.place(`class`, state.sealer)
    }
    var change = try place.put(value, kind, service: service, key: key, deviceKey: options.deviceKey, sealer)
    change.keepsClass = accessibility == nil
    return change
  }
}
