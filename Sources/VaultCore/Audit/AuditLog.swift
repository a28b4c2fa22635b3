internal import DurableFiles
internal import Synchronization
internal import VaultSealing

/// The log in which the reads and writes of one access group are logged, as one process sees it (`Docs/Format.md` annex
/// F).
///
/// The log is a chain of files at the storage's ``AuditLogLocation``; events are sealed with a key of the group and
/// appended to the current file. Every process that reads or writes the group appends to the same file, so all of them
/// agree by its lock:
///
///     process A                            process B
///     locks the log's file
///     opens the header: 41 events          waits
///     writes event 42, then the header
///     syncs, if a write depends on it
///     unlocks                              locks
///     makes the change in the vault        the header is another one: opens it, looks behind its events
///                                          writes event 43, then the header
///
/// A write calls it with the lock of the vault's file held, from the thread that leads the ``WriteQueue``; a read on
/// the thread of its caller, with no other lock. This object's `state` (threads of this process) is taken before the
/// log's file (other processes), and both before the mark's file. A caller never has the lock of the handle: an append
/// may wait as long as the options say, and readers of other groups shall not wait with it.
///
/// Under fail-closed an event that cannot be written is an error, and what it would have logged does not happen. Under
/// fail-open it is counted, in this process, and the next event that it can write says how many are missing.
///
/// The keys are an argument of each call: what is kept between two calls is wiped with the vault, and has none. If the
/// log has a key that is later than they are (the group was rotated), the answer is `laterKey`, and the caller loads
/// the vault again.
final class AuditLog: Sendable {
  /// An event to log.
  struct Event {
    let action: AuditEvent.Action
    var service: [UInt8] = []
    var key: [UInt8] = []
    var item: (tag: UInt16, data: [UInt8])?
    /// Whether the event can be the first one of a log: *start* of a group that never had one.
    var beginsLog = false
  }

  /// The place in the log that a mark names.
  typealias Point = RollbackMark.Log

  /// What became of an append.
  enum Outcome {
    /// With the newest event of the log that this process knows to be on the disk.
    case done(durable: Point?)
    /// The log is sealed with the key of this later epoch: the caller loads the vault again.
    case laterKey(UInt32)
  }

  struct State {
    var file: OpenFile?
    var sealer: Sealer?
    /// The header that this process wrote last, with its bytes.
    var written: AuditAppend.Written?
    /// The newest event of the file that is known to be on the disk; `nil` if this process has synced none.
    var durable: Point?
    /// The events that could not be logged since the last one that could.
    var lost: UInt64 = 0
    /// The time at which a wait for the lock timed out, by ``Vault/Options/now``.
    var timedOut: Int64?
    /// What of the mark was compared with the log last.
    var compared: AuditMaker.Compared?
    /// The time at which a read raised the mark, by ``Vault/Options/now``.
    var raised: Int64?
    /// The new names of files that had the log's name and were too short for a log.
    var setAside: [String] = []
    /// How this process has logged *start*, if nothing was logged by it since.
    var start: Start?

    /// Forgets what this process knows of a file that has the log's name no more.
    mutating func forgetFile() {
      file = nil
      written = nil
      durable = nil
    }
  }

  /// How an event *start* was logged.
  enum Start { case inNewFile, behindOthers }

  let group: Vault.Identifier
  let files: AuditFiles
  let options: Vault.Options
  private let mark: MarkKeeper?
  let state = Mutex(State())
  private let undelivered = Atomic(true)

  init(
    of group: Vault.Identifier, in location: AuditLogLocation, _ options: Vault.Options, mark: MarkKeeper? = nil
  ) {
    self.group = group
    files = AuditFiles(of: group, in: location)
    self.options = options
    self.mark = mark
  }

  /// Whether there may be events that were not delivered: also those of a program that ended before.
  var isUndelivered: Bool {
    get { undelivered.load(ordering: .relaxed) }
    set { undelivered.store(newValue, ordering: .relaxed) }
  }

  // MARK: Appending

  /// Logs reads or writes before they are made. With fail-open, an event that cannot be logged is counted.
  ///
  /// - Parameters:
  ///   - slot: the slot that opened the vault.
  ///   - isSynced: whether the events must be on the disk before the method returns.
  ///   - mayBeStale: whether the caller can load the vault again.
  /// - Throws: with fail-closed, the error of the log.
  func append(
    _ events: [Event], _ keys: AuditKeys, by slot: Vault.Identifier, isSynced: Bool, mayBeStale: Bool = false
  ) throws(VaultError) -> Outcome {
    do throws(VaultError) {
      let outcome = try withAppend(keys, slot, first: events, mayBeStale: mayBeStale) {
        (append, state) throws(VaultError) in
        try append.write(events, lost: state.lost)
        state.lost = 0
        if events.first?.action == .start { state.start = .behindOthers }
        if isSynced { try append.synchronize() }
      }
      guard case .laterKey = outcome, !mayBeStale else {
        raiseOnceASecond()
        return outcome
      }
      throw concerning(AuditAppend.rolledBack)
    } catch {
      guard keys.policy == .failOpen else { throw error }
      lose(events.count, because: error)
      return .done(durable: nil)
    }
  }

  /// Counts events that a fail-open log does not get. The first of them is reported.
  func lose(_ count: Int, because error: VaultError) {
    let isFirst = state.withLock { state in
      defer { state.lost += UInt64(count) }
      return state.lost == 0
    }
    if isFirst { options.auditFailure?(error) }
  }

  /// Hands the current file over to a new one, and removes files that are older than the settings say.
  func handOver(
    _ keys: AuditKeys, by slot: Vault.Identifier, mayBeStale: Bool
  ) throws(VaultError) -> Outcome {
    try withAppend(keys, slot, first: [], mayBeStale: mayBeStale) { (append, _) throws(VaultError) in
      try append.handOver()
    }
  }

  /// Checks what an append needs, and extends the reserve. Makes no file, and hands none over.
  ///
  /// - Returns: what an append will soon have as its error, or may have now: another process has the lock.
  /// - Throws: the error that an append would have.
  func examine(
    _ keys: AuditKeys, mayBeStale: Bool = false
  ) throws(VaultError) -> (outcome: Outcome, warning: VaultError?) {
    var warning: VaultError?
    var hasFile = false
    do throws(VaultError) {
      let outcome = try withAppend(keys, .zero, first: nil, isPatient: false, mayBeStale: mayBeStale) {
        (append, _) throws(VaultError) in
        hasFile = true
        warning = try append.examineReserve()
      }
      if case .done = outcome, !hasFile { warning = try examineRoom() }
      return (outcome, warning.map { concerning($0) })
    } catch {
      guard error.code == .lockTimeout else { throw error }
      return (.done(durable: nil), error)
    }
  }

  /// Checks whether a new file would find its space.
  ///
  /// - Returns: the error of its reserve, if only a file without one finds its space.
  private func examineRoom() throws(VaultError) -> VaultError? {
    try concerningLog { () throws(VaultError) -> VaultError? in
      try files.expectRoom(AuditHeader.byteCount + AuditFrame.counts.upperBound)
      return files.leavesRoom(besides: AuditAppend.reserveBytes) ? nil : files.scarcity
    }
  }

  /// Runs `body` on the current file, locked and ready for an append.
  ///
  /// - Parameter first: the events with which the file is made if there is none that can be continued; `nil` for a
  ///   caller that only looks: then no file is made, but checked whether one could be, and none is handed over.
  private func withAppend(
    _ keys: AuditKeys, _ slot: Vault.Identifier, first: [Event]?, isPatient: Bool = true, mayBeStale: Bool = false,
    _ body: (inout AuditAppend, inout State) throws(VaultError) -> Void
  ) throws(VaultError) -> Outcome {
    var mayBeWritten = false
    do throws(VaultError) {
      return try state.withLock { (state) throws(VaultError) -> Outcome in
        let sealer = if let known = state.sealer { known } else { try Sealer(random: options.random) }
        state.sealer = sealer
        let deadline = Deadline(after: wait(state, isPatient ? keys.policy : .failOpen))
        if first != nil { state.start = nil }
        for _ in 0..<Self.mostAttempts {
          var maker = AuditMaker(
            files: files, keys: keys, slot: slot, options: options, sealer: sealer, mark: mark,
            compared: state.compared)
          defer { if let name = maker.setAside { state.setAside.append(name) } }
          guard let file = try lockedFile(&state, until: deadline) else {
            guard let begun = try begin(&maker, first, why: .notThere, &state) else { continue }
            return begun
          }
          defer { file.descriptor.unlock() }
          guard Int(try file.descriptor.status().st_size) >= AuditHeader.byteCount else {
            guard let begun = try begin(&maker, first, why: .tooShort, replacing: file, &state) else { continue }
            return begun
          }
          switch try AuditAppend.open(
            file, maker, state.written, durable: state.durable, mayBeStale: mayBeStale)
          {
          case .laterKey(let epoch): return .laterKey(epoch)
          case .ready(var append):
            state.compared = append.compared
            defer {
              state.written = append.written
              state.durable = append.durable
              if append.mayBeWritten {
                mayBeWritten = true
                isUndelivered = true
              }
            }
            if first != nil, try append.handOverIfDue() {
              state.file = nil
              continue
            }
            try body(&append, &state)
            return .done(durable: append.durable)
          }
        }
        throw VaultError(.lockTimeout, "other processes keep replacing the file")
      }
    } catch { throw concerning(error, mayBeWritten: mayBeWritten) }
  }

  /// More files than other processes make while one waits.
  private static let mostAttempts = 100

  /// Makes the current file, or only checks whether the earlier files and the mark allow it if there is no `first`.
  /// - Returns: `nil` if another process was faster.
  private func begin(
    _ maker: inout AuditMaker, _ first: [Event]?, why: AuditMaker.Reason, replacing old: OpenFile? = nil,
    _ state: inout State
  ) throws(VaultError) -> Outcome? {
    guard let first else {
      guard try maker.next(replacing: old) != nil else { return nil }
      return .done(durable: nil)
    }
    guard let made = try maker.make(first, lost: state.lost, why: why, replacing: old) else { return nil }
    hold(made, &state)
    if first.first?.action == .start { state.start = .inNewFile }
    return .done(durable: state.durable)
  }

  /// Takes a file that this process made, which says how many events were lost.
  private func hold(_ made: AuditMaker.Made, _ state: inout State) {
    made.file.descriptor.unlock()
    state.file = made.file
    state.written = made.written
    state.lost = 0
    state.durable = Point(count: made.written.header.count, tag: made.written.header.last)
    isUndelivered = true
  }

  // MARK: The mark

  /// Raises the mark's line of the log, at most once a second, because it takes syncs.
  private func raiseOnceASecond() {
    guard let mark, mark.raises else { return }
    let now = options.now()
    let raised = state.withLock { state -> (Result<Point, VaultError>, AuditAppend.Written)? in
      if let raised = state.raised, (raised..<raised + 1_000).contains(now) { return nil }
      guard let file = state.file, let written = state.written else { return nil }
      state.raised = now
      let point = Result { () throws(VaultError) in
        let point = Point(count: written.header.count, tag: written.header.last)
        if state.durable != point { try file.descriptor.synchronizeData() }
        state.durable = point
        return point
      }
      return (point, written)
    }
    guard let (point, written) = raised else { return }
    mark.raise(isRead: true) { () throws(VaultError) in
      RollbackMark(vaultID: written.vaultID, logs: [written.groupID: try point.get()])
    }
  }

  // MARK: The file

  /// How long an append waits for a process that holds the lock. A service that must not stop waits a short time, and
  /// only once in a second: its other threads wait for the append, too.
  private func wait(_ state: State, _ policy: AuditPolicy) -> Duration {
    guard policy == .failOpen else { return options.lockTimeout }
    let now = options.now()
    if let timedOut = state.timedOut, (timedOut..<timedOut + 1_000).contains(now) { return .zero }
    return min(options.lockTimeout, .milliseconds(250))
  }

  /// The file that has the log's name, locked; `nil` if there is none.
  func lockedFile(_ state: inout State, until deadline: Deadline) throws(VaultError) -> OpenFile? {
    while true {
      let isKnown = state.file != nil
      if state.file == nil {
        state.forgetFile()
        try files.judgeFolder()
      }
      guard let file = if let open = state.file { open } else { try files.open(files.current, forWriting: true) } else {
        return nil
      }
      state.file = nil
      do throws(VaultError) { try file.descriptor.acquireLock(until: deadline) } catch {
        if error.code == .lockTimeout, deadline.timeout > .zero { state.timedOut = options.now() }
        throw error
      }
      do throws(VaultError) {
        if try files.current.identity()?.identity == file.identity {
          state.file = file
          return file
        }
        guard isKnown || deadline.remaining > .zero else {
          throw VaultError(.lockTimeout, "other processes keep replacing the file")
        }
      } catch {
        file.descriptor.unlock()
        throw error
      }
      file.descriptor.unlock()  // moved away, handed over or replaced while this process waited
    }
  }

  /// Sets a log aside that an append refuses, and begins a new one. Handed-over files of later keys belong to it.
  ///
  /// - Parameter names: gets the new names; none if the log can be continued, or if there is none.
  func setAsideIfRefused(
    _ keys: AuditKeys, by slot: Vault.Identifier, to names: inout [String]
  ) throws(VaultError) {
    do throws(VaultError) {
      // Not compared with the mark: a log that is behind it can be continued once the mark is accepted.
      guard try files.current.status() != nil else { return }
      guard case .laterKey = try AuditLog(group, files, options).examine(keys).outcome else { return }
    } catch {
      guard [.tampered, .unsupportedVersion].contains(error.code) else { return }
    }
    try concerningLog { () throws(VaultError) in
      try state.withLock { (state) throws(VaultError) in
        let sealer = try Sealer(random: options.random)
        guard let file = try lockedFile(&state, until: Deadline(after: options.lockTimeout)) else { return }
        defer { file.descriptor.unlock() }
        // A current file of a known key has none of a later key before it.
        let header = try FileImage(file.descriptor, 0..<AuditHeader.byteCount, limit: AuditHeader.byteCount)
        let isKnown = try AuditHeader.isKnown(header.span, keys, sealer)
        for old in try isKnown ? [] : files.handedOver() {
          guard let open = try files.readable(old), try AuditExamination.isLater(open.descriptor, keys, sealer) else {
            continue
          }
          names.append(try files.setAside(old.path))
        }
        names.append(try files.setAside(files.current))
        state.forgetFile()
        var maker = AuditMaker(files: files, keys: keys, slot: slot, options: options, sealer: sealer, mark: nil)
        // Not held: the next append compares it with the mark.
        if let made = try maker.make([], lost: state.lost, why: .setAside) {
          made.file.descriptor.unlock()
          state.lost = 0
        }
      }
    }
  }

  // MARK: Reading

  /// The newest event, synced; `nil` if there is no log that can be continued. Does not compare it with the mark.
  func newest(_ keys: AuditKeys) throws(VaultError) -> Point? {
    guard try files.current.status() != nil else { return nil }
    let unmarked = AuditLog(group, files, options)
    var point: Point?
    do throws(VaultError) {
      _ = try unmarked.withAppend(keys, .zero, first: nil) { (append, _) throws(VaultError) in
        point = try append.newest()
      }
    } catch {
      guard [.tampered, .rolledBack, .unsupportedVersion, .limitExceeded].contains(error.code) else { throw error }
    }
    return point
  }

  private init(_ group: Vault.Identifier, _ files: AuditFiles, _ options: Vault.Options) {
    self.group = group
    self.files = files
    self.options = options
    mark = nil
  }

  /// Adds to errors that they concern the log. A missing log is not reported as a missing vault or record.
  func concerningLog<R>(_ body: () throws(VaultError) -> R) throws(VaultError) -> R {
    do throws(VaultError) { return try body() } catch { throw concerning(error) }
  }

  /// - Parameter mayBeWritten: whether an event was written before the error.
  func concerning(_ error: VaultError, mayBeWritten: Bool = false) -> VaultError {
    if error.cause is AuditRefusal { return error }
    let code = error.code == .notFound ? .io : error.code
    return VaultError(
      code, "the audit log \(files.current.file): \(error.message(without: files.current.file))", errno: error.errno,
      cause: AuditRefusal(error: error, mayBeWritten: mayBeWritten))
  }
}
