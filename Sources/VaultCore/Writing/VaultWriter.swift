internal import Glibc
internal import Synchronization
internal import VaultSealing

/// Commits batches of changes: lock, catch up, append or full write, unlock (`Docs/Format.md` section 5).
///
/// Led by one thread at a time through ``WriteQueue``.
final class VaultWriter: @unchecked Sendable {
  // Unchecked: everything here is touched by the queue's leader alone.
  private let handle: VaultHandle
  private let lock: WriterLock
  /// After a failed sync nothing may be appended behind the entry in doubt; only full writes follow.
  private var mayAppend = true
  /// What the last write left, for the mark.
  private var written: Result<RollbackMark, VaultError>?

  init(_ handle: VaultHandle) {
    self.handle = handle
    lock = WriterLock(handle.path, timeout: handle.options.lockTimeout)
  }

  private var path: VaultPath { handle.path }
  private var options: Vault.Options { handle.options }
  private var replacement: Replacement { Replacement(path: path, timeout: options.lockTimeout) }

  /// Makes a new file of a load of its own, which is thrown away afterwards.
  /// - Returns: the file, and what opens it for this handle.
  typealias Rewrite = @Sendable (VaultState) throws(VaultError) -> (file: [UInt8], opening: Unlocked)

  func commit(_ batch: [WriteQueue.Request]) -> [WriteQueue.Answer] {
    let answers = carryOut(batch)
    if let written { handle.raiseMark(to: written.get) }
    written = nil
    return answers
  }

  private func carryOut(_ batch: [WriteQueue.Request]) -> [WriteQueue.Answer] {
    do throws(VaultError) {
      switch batch[0].work {
      case .changes(_, let group): return try write(batch.map(\.work.changes), to: group)
      case .rewrite(let rewrite): try fullWrite(rewrite)
      }
      return [.success(0)]
    } catch {
      // What one record refuses must not fail the others: each alone then.
      guard batch.count > 1, [.tampered, .malformed, .limitExceeded].contains(error.code) else {
        return batch.map { _ in .failure(error) }
      }
      return batch.flatMap { carryOut([$0]) }
    }
  }

  // MARK: One batch

  private enum Plan {
    case nothing
    case append(Append)
    case fullWrite(body: WipedBuffer, isForced: Bool)
  }

  private struct Append {
    let state: VaultState
    let content: GroupContent
    let entry: [UInt8]
    let staged: GroupContent.Staged
    /// Where the entry will stand, the file's length, and where a torn tail ends.
    let offset: Int
    let end: Int
    let tornEnd: Int
  }

  /// - Parameter batch: changes of records of `group`, no record twice; each part is made as a whole or refused.
  private func write(
    _ batch: [[RecordChange]], to group: Vault.Identifier
  ) throws(VaultError) -> [WriteQueue.Answer] {
    try handle.forkGuard.check()
    let (file, status) = try lock.acquire()
    // Full writes put another file in place, whose lock is then the one to release.
    defer { lock.release() }
    var changes: [RecordChange] = []
    var answers: [WriteQueue.Answer] = []
    var plan = try handle.loaded.withLock { (loaded) throws(VaultError) -> Plan in
      let (end, tornEnd) = try catchUp(&loaded, status)
      let state = try loaded.state
      let content = try state.content(group)
      answers = batch.map { part in
        Result { () throws(VaultError) in try prepare(part, content, state.sealer, addingTo: &changes) }
      }
      return try self.plan(changes, state, content, end: end, tornEnd: tornEnd, allowingLongJournal: false)
    }
    if case .fullWrite(let body, let isForced) = plan {
      do throws(VaultError) {
        try fullWrite(file) { (state) throws(VaultError) in
          (try state.foldedFile(body, group: group), state.unlocked)
        }
        return answers
      } catch {
        guard !isForced, [.io, .readOnly].contains(error.code) else { throw error }
        // Only the journal's length asked for it, and nothing has happened: append after all (section 5).
        plan = try handle.loaded.withLock { (loaded) throws(VaultError) -> Plan in
          let (end, tornEnd) = try catchUp(&loaded, status)
          let state = try loaded.state
          return try self.plan(
            changes, state, try state.content(group), end: end, tornEnd: tornEnd, allowingLongJournal: true)
        }
        if case .fullWrite = plan { throw error }
      }
    }
    switch plan {
    case .nothing, .fullWrite: return answers
    case .append(let append):
      try self.append(append, file, group: group)
      return answers
    }
  }

  /// Adds the changes of one caller as the group is now, all of them or none.
  /// - Returns: how many removals find their record.
  private func prepare(
    _ part: [RecordChange], _ content: GroupContent, _ sealer: Sealer, addingTo changes: inout [RecordChange]
  ) throws(VaultError) -> Int {
    let before = changes.count
    var removed = 0
    do throws(VaultError) {
      for change in part {
        let old = content.find(change.address.name)
        if case .remove = change.action, old != nil { removed += 1 }
        changes.append(try content.upToDate(change, old, deviceKey: options.deviceKey, sealer))
      }
    } catch {
      changes.removeSubrange(before...)
      throw error
    }
    return removed
  }

  private func plan(
    _ changes: [RecordChange], _ state: VaultState, _ content: GroupContent, end: Int, tornEnd: Int,
    allowingLongJournal: Bool
  ) throws(VaultError) -> Plan {
    let sealer = state.sealer
    guard let body = try content.entryBody(changes, now: options.now(), sealer: sealer) else { return .nothing }
    let count =
      JournalFrame.headCount + JournalFrame.checkCount + Sealer.overhead
      + Padding.paddedCount(body.bytes.count, step: GroupContent.entryStep)
    let isAppendable =
      mayAppend && Vault.Limits.entryBytes.contains(count) && state.tail + count <= options.limits.fileBytes
    // What a fold by this writer would take away: an owner's takes all entries, a holder's its own.
    let foldable = state.unlocked.isOwner ? state.journalBytes : content.entryBytes
    let isJournalLong = foldable + count > max(64 << 10, state.snapshot.count)
    guard isAppendable, allowingLongJournal || !isJournalLong else {
      return .fullWrite(body: body, isForced: !isAppendable)
    }
    let sealed = sealer.sealBody(
      UnsafeRawBufferPointer(body.bytes), step: GroupContent.entryStep, with: content.key,
      as: content.entryContext(state.snapshot.manifestTag))
    var writer = ByteWriter()
    writer.bytes.reserveCapacity(count)
    writer.integer(UInt32(count))
    writer.integer(UInt32(0))
    writer.raw(content.id)
    writer.raw(sealed)
    writer.raw(Snapshot.checksum(writer.bytes.span.bytes))
    // The reader's own code judges the entry before it is written: a writer's fault must not reach the file.
    let staged = try sealed.span.bytes.withUnsafeBytes { (sealed) throws(VaultError) in
      try content.stage(sealed: sealed, manifestTag: state.snapshot.manifestTag, sealer: sealer)
    }
    return .append(
      Append(
        state: state, content: content, entry: writer.bytes, staged: staged, offset: state.tail, end: end,
        tornEnd: tornEnd))
  }

  /// Brings the handle's state up to the locked file.
  private func catchUp(
    _ loaded: inout VaultHandle.Loaded, _ status: stat
  ) throws(VaultError) -> (end: Int, tornEnd: Int) {
    var state = try loaded.state
    if state.file?.identity != FileIdentity(status) { state = try handle.reload(&loaded) }
    for _ in 0..<2 {
      let (freshness, end, tornEnd) = try state.catchUp(under: .writerLock(end: Int(status.st_size)))
      if freshness == .current { return (end, tornEnd) }
      state = try handle.reload(&loaded)
    }
    throw path.error(.io, "the file changes although it is locked")
  }

  // MARK: Append

  private func append(_ append: Append, _ file: Descriptor, group: Vault.Identifier) throws(VaultError) {
    let state = append.state
    let offset = append.offset
    // Without this, an append behind a rename that never became durable could vanish with the new name (5.1).
    if !state.isNameDurable {
      replacement.removeLeftover()
      _ = try path.synchronizeDirectory()
      state.isNameDurable = true
    }
    if append.tornEnd > offset {
      let torn = try FileImage(file, offset..<append.tornEnd, limit: options.limits.fileBytes)
      try withExtendedLifetime(torn) { () throws(VaultError) in try KeptTornTail(path: path).keep(torn.bytes) }
    }
    var bytes = append.entry
    let entryEnd = offset + bytes.count
    if append.tornEnd > entryEnd { bytes.append(contentsOf: repeatElement(0, count: append.tornEnd - entryEnd)) }
    if append.end <= entryEnd {
      let room = max(0, options.limits.fileBytes - entryEnd)
      bytes.append(contentsOf: repeatElement(0, count: min(options.reserveBytes, room)))
    }
    var writtenCount = 0
    do throws(VaultError) {
      try bytes.span.bytes.withUnsafeBytes { (bytes) throws(VaultError) in
        try file.write(bytes, at: offset, done: &writtenCount)
      }
    } catch {
      if writtenCount > 0 { try undo(file, from: offset, count: writtenCount, to: append.end) }
      throw error
    }
    do throws(VaultError) { try file.synchronizeData() } catch {
      try recover(file, error, from: offset, count: append.entry.count, group: group, append)
      return
    }
    let check = Vault.Tag(append.entry.span.bytes, at: append.entry.count - Vault.Tag.count)
    // Also when another load or a lock has taken its place meanwhile: then nobody looks at it any more.
    handle.loaded.withLock { _ in
      state.append(
        append.staged, to: append.content, at: offset, count: append.entry.count, check: check)
      note(state)
    }
  }

  /// Notes how far the vault has come, for the mark. While the lock of the file is held: afterwards a reader may take over
  /// what another writer has not synced yet.
  private func note(_ state: VaultState) {
    guard handle.mark != nil else { return }
    written = Result { () throws(VaultError) in try RollbackMark(state) }
  }

  /// Takes back what a failed write left.
  private func undo(_ file: Descriptor, from offset: Int, count: Int, to end: Int) throws(VaultError) {
    do throws(VaultError) {
      let zeros = [UInt8](repeating: 0, count: max(0, min(count, end - offset)))
      try file.write(zeros, at: offset)
      guard ftruncate(file.raw, off_t(end)) == 0 else { throw .io("\(path.file): truncate") }
      try file.synchronizeData()
    } catch {
      mayAppend = false
      throw path.error(
        .durabilityUnknown, "a failed append could not be taken back", errno: error.errno, cause: error)
    }
  }

  /// After a failed sync the page cache may hold what the disk does not. A full write goes to other blocks and
  /// answers the question; otherwise nobody knows.
  private func recover(
    _ file: Descriptor, _ failure: VaultError, from offset: Int, count: Int, group: Vault.Identifier, _ append: Append
  ) throws(VaultError) {
    mayAppend = false
    do throws(VaultError) {
      // The entry in doubt is in the file, so folding what is there makes the same change.
      try fullWrite(file) { (state) throws(VaultError) in
        (try state.foldedFile(nil, group: nil), state.unlocked)
      }
    } catch {
      do throws(VaultError) {
        try file.write([UInt8](repeating: 0, count: count), at: offset)
        try file.synchronizeData()
      } catch {}  // said below: nobody knows
      throw path.error(
        .durabilityUnknown, "the disk refused to sync an append: the change may or may not survive",
        errno: failure.errno, cause: failure)
    }
  }

  // MARK: Full write

  /// Locks the file that the path names and makes a new one of it.
  private func fullWrite(_ make: Rewrite) throws(VaultError) {
    try handle.forkGuard.check()
    let (file, _) = try lock.acquire()
    defer { lock.release() }
    try fullWrite(file, make)
  }

  /// Makes a new file of the locked one and puts it in place (5.2).
  ///
  /// - Parameter make: gives the new file's bytes, and what opens it for this handle.
  private func fullWrite(
    _ file: Descriptor, _ make: (VaultState) throws(VaultError) -> (file: [UInt8], opening: Unlocked)
  ) throws(VaultError) {
    let unlocked = try handle.withLatest { (_, state) throws(VaultError) in state.unlocked }
    let sealer = try Sealer(random: options.random)
    let status = try file.status()
    // A load of its own: readers go on with theirs, and nothing half done is ever seen.
    let old = try VaultState(
      try FileImage(file, 0..<Int(status.st_size), limit: options.limits.fileBytes), file: OpenFile(file, status),
      path: path, options: options, sealer: sealer
    ) { (snapshot, sealer) throws(VaultError) in try unlocked.reopened(in: snapshot, sealer: sealer) }
    try handle.mark?.check(old)
    let (bytes, next) = try make(old)
    try old.keepTornTail()
    guard bytes.count <= options.limits.fileBytes else {
      throw VaultError(.limitExceeded, "the vault would exceed \(options.limits.fileBytes) bytes")
    }
    let checked = try VaultState(
      FileImage(bytes), file: nil, path: path, options: options, sealer: sealer
    ) { (snapshot, sealer) throws(VaultError) in try next.reopened(in: snapshot, sealer: sealer) }
    for group in checked.groups { _ = try checked.content(group.id) }
    let fresh: OpenFile
    do throws(VaultError) { fresh = try replacement.replace(status, with: bytes) } catch {
      if error.code == .durabilityUnknown { lock.pass(to: nil) }
      throw error
    }
    checked.adopt(fresh)
    checked.dropImage()
    note(checked)
    handle.loaded.withLock { $0.replace(checked, since: unlocked) }
    lock.pass(to: fresh.descriptor)
    mayAppend = true
  }
}
