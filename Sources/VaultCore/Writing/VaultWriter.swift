internal import DurableFiles
internal import Synchronization
internal import VaultSealing

/// Commits batches of changes: lock, catch up, append or full write, unlock (`Docs/Format.md` section 5).
///
/// Called by one thread at a time: the one that leads the ``WriteQueue``, which is why it has state and no lock. The
/// lock of the file, against other handles and processes, is held until the batch is durable; that of the handle,
/// against readers, only while the batch is planned and applied.
///
///     batch of changes ──▶ lock the file ──▶ catch up ──▶ plan ──▶ log ─┬─▶ append one entry, sync
///                                                                      └─▶ full write: a new file takes the name
///     rewrite          ──▶ lock the file ──▶ load it once more ──────────▶ full write
///     policy of a log  ──▶ lock the file, for each group: catch up, plan ──▶ append one entry, sync
///     all              ──▶ unlock the file ──▶ raise the mark
///
/// An append is the ordinary case: one write, one sync. A full write is made if what it would fold is longer than 64
/// KiB and than the snapshot, if an append is impossible, or if slots, groups or keys change. If only the length speaks
/// for a full write and it fails without a trace, the batch is appended after all. Bytes of an interrupted append
/// behind the journal are kept beside the vault before they are written over.
///
/// What may go wrong decides the answer. Before the first byte of the vault is written, the error says so. If a write
/// fails, its bytes are taken back. If they cannot be, or a sync fails, it is unknown what the disk has: a full write
/// settles it, or the answer is `durabilityUnknown`, and no entry is appended behind the unknown one. A batch is logged
/// before it is written; the new key of a rotation is logged after it, because only then it exists, and a failure of
/// that goes to `auditFailure`.
final class VaultWriter: @unchecked Sendable {
  // Unchecked: only the thread that leads the queue uses this.
  let handle: VaultHandle
  /// `false` after a failed sync: nothing may be appended behind an entry whose durability is unknown, so a full write
  /// follows.
  var mayAppend = true
  /// The state after the last write, for the mark.
  private var written: Result<RollbackMark, VaultError>?
  /// The newest event that a batch has synced in each log. Not that of other logs: they may have been put back since.
  private var logged: [Vault.Identifier: RollbackMark.Log] = [:]

  init(_ handle: VaultHandle) {
    self.handle = handle
  }

  var storage: any VaultStorage { handle.storage }
  var options: Vault.Options { handle.options }

  /// Makes a new file from a separate load, which is discarded afterwards.
  typealias Rewrite = @Sendable (VaultState) throws(VaultError) -> FullWrite

  /// What takes the file's place.
  struct FullWrite {
    /// The bytes of the file.
    let file: [UInt8]
    /// The key that opens it for this handle.
    let opening: Unlocked
    /// The records that this handle changes.
    var changes: [RecordChange] = []
    /// What the logs of the groups get, under the lock of the vault.
    var logged = LoggedWrite()
    /// Called when everything is ready, and before anything is logged or stored. What it throws ends the write.
    var beforeStoring: @Sendable () throws(VaultError) -> Void = {}
  }

  /// The deadline of a write that is requested now.
  var deadline: Deadline { Deadline(after: handle.options.lockTimeout) }

  func commit(_ batch: [WriteQueue.PendingWrite]) -> [WriteQueue.Outcome] {
    let outcomes = commitTogether(batch)
    if let written { handle.raiseMark(to: written.get) }
    written = nil
    logged = [:]
    return outcomes
  }

  /// A loop, because a batch may have thousands of writes, each with its own deadline.
  private func commitTogether(_ batch: [WriteQueue.PendingWrite]) -> [WriteQueue.Outcome] {
    var outcomes: [WriteQueue.Outcome] = []
    outcomes.reserveCapacity(batch.count)
    var rest = batch[...]
    var isSplit = false
    while let first = rest.first {
      let part = isSplit ? rest.prefix(1) : rest
      do throws(VaultError) {
        // The first write has waited the longest. Those behind it may wait until their own deadlines.
        outcomes += try commit(part, of: first.write, until: first.deadline)
        rest = rest.dropFirst(part.count)
      } catch {
        let failed: Int
        switch error.code {
        case .lockTimeout where part.count > 1:
          let expired = rest.prefix { $0.deadline.remaining == .zero }.count
          failed = expired == 0 ? part.count : expired
        // An error of one record must not fail the writes of other callers. Each is then committed alone.
        case .tampered where part.count > 1, .malformed where part.count > 1, .limitExceeded where part.count > 1:
          isSplit = true
          failed = 0
        default: failed = part.count
        }
        outcomes += repeatElement(.failure(error), count: failed)
        rest = rest.dropFirst(failed)
      }
    }
    return outcomes
  }

  /// Commits writes that the queue has taken together, of which `first` is the first.
  private func commit(
    _ batch: ArraySlice<WriteQueue.PendingWrite>, of first: WriteQueue.Write, until deadline: Deadline
  ) throws(VaultError) -> [WriteQueue.Outcome] {
    switch first {
    case .changes(_, let group): return try write(batch.map(\.write.changes), to: group, until: deadline)
    case .rewrite(let rewrite): try fullWrite(rewrite, until: deadline)
    case .policy(let policy, let groups): try append(policy, to: groups, until: deadline)
    }
    return [.success(CommittedWrite())]
  }

  // MARK: One batch

  enum Plan {
    case nothing
    case append(Append)
    case fullWrite(body: WipedBuffer, isForced: Bool)
  }

  struct Append {
    let state: VaultState
    let content: GroupContent
    let entry: [UInt8]
    /// The last bytes of the entry.
    let check: Vault.Tag
    let staged: GroupContent.Staged
    /// The place of the entry.
    let position: StoragePosition
  }

  /// - Parameter batch: changes of records of `group`, without a record twice. Each part is committed or refused as a
  ///   whole.
  private func write(
    _ batch: [[RecordChange]], to group: Vault.Identifier, until deadline: Deadline
  ) throws(VaultError) -> [WriteQueue.Outcome] {
    try handle.forkGuard.check()
    let locked = try storage.lock(until: LockDeadline(deadline))
    defer { locked.release() }
    var changes: [RecordChange] = []
    var outcomes: [WriteQueue.Outcome] = []
    var events: [AuditLog.Event] = []
    var audit: AuditKeys?
    var plan = try handle.loaded.withLock { (loaded) throws(VaultError) -> Plan in
      try catchUp(&loaded, locked)
      let state = try loaded.state
      let content = try state.content(group)
      audit = try content.audit(state.sealer)
      changes.reserveCapacity(batch.reduce(0) { $0 + $1.count })
      outcomes = batch.map { part in
        Result { () throws(VaultError) in
          try prepare(part, content, state.sealer, addingTo: &changes)
        }
      }
      if audit != nil {
        // Of the changes as they were asked for: a copy is logged at both records.
        for case (let part, .success) in zip(batch, outcomes) {
          for change in part { events += change.events(removing: change.removes(content.findStored(change.address))) }
        }
      }
      if !changes.isEmpty { changes += try content.dueRemovals(besides: changes, at: options.now()) }
      return try self.plan(changes, state, content, allowingLongJournal: false)
    }
    // On the disk before the change can be.
    if let audit, !events.isEmpty { try log(events, audit) }
    if case .fullWrite(let body, let isForced) = plan {
      do throws(VaultError) {
        try fullWrite(locked) { [changes] (state) throws(VaultError) in
          FullWrite(file: try state.foldedFile(body, group: group), opening: state.unlocked, changes: changes)
        }
        return outcomes
      } catch {
        guard !isForced, Self.obstacles.contains(error.code) else { throw error }
        // Only the length of the journal required the full write, and nothing was changed: append instead (section 5).
        plan = try handle.loaded.withLock { (loaded) throws(VaultError) -> Plan in
          try catchUp(&loaded, locked)
          let state = try loaded.state
          // The full write may have failed because of the mark, and then nothing may be written.
          try handle.mark?.check(state)
          return try self.plan(changes, state, try state.content(group), allowingLongJournal: true)
        }
        if case .fullWrite = plan { throw error }
      }
    }
    switch plan {
    case .nothing, .fullWrite: return outcomes
    case .append(let append):
      try self.append(append, locked)
      return outcomes
    }
  }

  /// The codes of a full write that fails before the rename although an append may succeed: a directory that cannot be
  /// written, and a group that does not verify or exceeds a limit.
  private static let obstacles: Set<VaultError.Code> = [
    .io, .readOnly, .lockTimeout, .tampered, .malformed, .invalidName, .limitExceeded,
  ]

  /// Adds the changes of one caller to `changes`, checked against the present records: all of them or none.
  /// - Returns: What the write will have done.
  private func prepare(
    _ part: [RecordChange], _ content: GroupContent, _ sealer: Sealer, addingTo changes: inout [RecordChange]
  ) throws(VaultError) -> CommittedWrite {
    let before = changes.count
    var written = CommittedWrite()
    do throws(VaultError) {
      for change in part {
        let stored = content.findStored(change.address)
        if change.removal != nil, let stored, !stored.isRemoved { written.removedCount += 1 }
        if change.isWritten(over: stored) { written.revision = content.generation + 1 }
        changes.append(try content.upToDate(change, stored, deviceKey: options.deviceKey, sealer))
      }
    } catch {
      changes.removeSubrange(before...)
      throw error
    }
    return written
  }

  private func plan(
    _ changes: [RecordChange], _ state: VaultState, _ content: GroupContent, allowingLongJournal: Bool
  ) throws(VaultError) -> Plan {
    guard let body = try content.entryBody(changes, now: options.now(), sealer: state.sealer) else { return .nothing }
    return try plan(body, state, content, allowingLongJournal: allowingLongJournal)
  }

  func plan(
    _ body: WipedBuffer, _ state: VaultState, _ content: GroupContent, allowingLongJournal: Bool
  ) throws(VaultError) -> Plan {
    let sealer = state.sealer
    let count =
      JournalFrame.headCount + JournalFrame.checkCount + Sealer.overhead
      + Padding.paddedCount(body.count, step: GroupContent.entryStep)
    let isAppendable =
      mayAppend && Vault.Limits.entryBytes.contains(count) && state.tail + count <= options.limits.fileBytes
    // The bytes that a fold by this writer would remove: an owner's fold removes all entries, a holder's only those of
    // its group.
    let foldable = state.unlocked.isOwner ? state.journalBytes : content.entryBytes
    let isJournalLong = foldable + count > max(64 << 10, state.snapshot.count)
    guard let position = state.position, isAppendable, allowingLongJournal || !isJournalLong else {
      return .fullWrite(body: body, isForced: !isAppendable)
    }
    let sealed = sealer.sealBody(
      body.span, step: GroupContent.entryStep, with: content.key,
      as: content.entryContext(state.snapshot.manifestTag))
    var writer = ByteWriter()
    writer.bytes.reserveCapacity(count)
    writer.integer(UInt32(count))
    writer.integer(UInt32(0))
    writer.raw(content.id)
    writer.raw(sealed)
    writer.raw(Snapshot.checksum(writer.bytes.bytes))
    let check = Vault.Tag(writer.bytes.bytes, at: writer.bytes.count - Vault.Tag.count)
    // The reader's own code checks the entry before it is written, so that an error of the writer does not reach the
    // file.
    let staged = try content.stage(
      sealed: sealed.bytes, manifestTag: state.snapshot.manifestTag, sealer: sealer)
    // A reader of this handle may find the entry in the file before it is applied.
    state.ownEntry = check
    return .append(
      Append(
        state: state, content: content, entry: writer.bytes, check: check, staged: staged, position: position))
  }

  /// Updates the handle's state from the locked storage.
  func catchUp(_ loaded: inout VaultHandle.Loaded, _ locked: any LockedStorage) throws(VaultError) {
    for _ in 0..<3 {
      guard case .replaced(let stored) = try loaded.state.catchUp(locked) else { return }
      try handle.reload(&loaded, as: stored)
    }
    throw changedByOthers
  }

  var changedByOthers: VaultError {
    storage.error(.io, "the bytes were changed by a writer that does not hold the lock")
  }

  // MARK: Append

  func append(_ append: Append, _ locked: any LockedStorage) throws(VaultError) {
    let state = append.state
    do throws(VaultError) { try locked.append(append.entry, at: append.position) } catch {
      guard error.code == .durabilityUnknown else { throw error }
      return try recover(locked, error, append)
    }
    // Harmless if this state was replaced or locked meanwhile: then it is not read any more.
    handle.loaded.withLock { _ in
      state.append(
        append.staged, to: append.content, at: append.position.offset, count: append.entry.count, check: append.check)
      recordForMark(state)
    }
  }

  /// Records the state after a write, for the mark. Called while the file is locked: later, a reader may take over
  /// entries that another writer has not synced yet.
  func recordForMark(_ state: VaultState) {
    guard handle.mark != nil else { return }
    written = Result { () throws(VaultError) in try RollbackMark(state, logs: logged) }
  }

  /// Logs what this writer does, durably.
  func log(_ events: [AuditLog.Event], _ keys: AuditKeys) throws(VaultError) {
    guard case .done(let durable?) = try handle.log(events, keys, isSynced: true) else { return }
    logged[keys.groupID] = durable
  }

  /// Handles an append of which it is unknown whether it is durable. A full write uses other blocks of a disk, so it
  /// makes the change durable. If it fails as well, the durability stays unknown.
  private func recover(
    _ locked: any LockedStorage, _ failure: VaultError, _ append: Append
  ) throws(VaultError) {
    mayAppend = false
    do throws(VaultError) {
      let version = append.position.version
      guard case .added(let bytes) = try locked.changes(since: .start(of: version), limit: options.limits.fileBytes),
        bytes.image.count >= append.position.offset
      else { throw failure }
      // The storage may have lost the entry, so the fold does not read it from there. The key is that of the append,
      // because the handle may have been locked since.
      let image = FileImage(bytes.image[0..<append.position.offset].copy + append.entry)
      let source = Original(image: image, version: version, unlocked: append.state.unlocked)
      try fullWrite(locked, reading: source) { (state) throws(VaultError) in
        FullWrite(file: try state.foldedFile(nil, group: nil), opening: state.unlocked)
      }
    } catch { throw failure }
  }
}
