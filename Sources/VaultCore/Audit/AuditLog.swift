internal import DurableFiles
internal import Synchronization
internal import VaultSealing

/// The cause of an error that concerns a log.
package struct AuditRefusal: Error { let error: VaultError }

/// The file in which the reads and writes of one access group are logged (`Docs/Format.md` annex F).
final class AuditLog: Sendable {
  /// A read or write to log.
  struct Event {
    let action: AuditEntry.Action
    var service: [UInt8] = []
    var key: [UInt8] = []
  }

  private struct State {
    var file: OpenFile?
    var sealer: Sealer?
    /// The head that this process wrote last, with its bytes.
    var head: (bytes: [UInt8], head: AuditHead)?
    /// The events that could not be logged since the last one that could.
    var lost: UInt64 = 0
    /// The time at which a wait for the lock timed out, by ``Vault/Options/now``.
    var timedOut: Int64?
  }

  private let vault: VaultPath
  private let path: VaultPath
  private let options: Vault.Options
  private let state = Mutex(State())

  /// - Parameter vault: the path of the vault's file, beside which the log is.
  init(of group: Vault.Identifier, beside vault: VaultPath, _ options: Vault.Options) {
    (self.vault, self.options) = (vault, options)
    path = vault.beside(".audit-\(group)")
  }

  private static let program = Array((programName() ?? "").utf8.prefix(64))

  // MARK: Appending

  /// Logs reads or writes before they are made. With fail-open, an event that cannot be logged is counted.
  ///
  /// - Parameter slot: the slot that opened the vault.
  /// - Returns: `false` if the log is sealed with a key of a later epoch than `keys`, and `mayBeStale`.
  /// - Throws: with fail-closed, the error of the log.
  func append(
    _ events: [Event], _ keys: AuditKeys, by slot: Vault.Identifier, mayBeStale: Bool = false
  ) throws(VaultError) -> Bool {
    do throws(VaultError) {
      return try concerningLog { () throws(VaultError) in
        try state.withLock { (state) throws(VaultError) -> Bool in
          try append(events, keys, slot, mayBeStale, &state)
        }
      }
    } catch {
      guard keys.policy == .failOpen else { throw error }
      let isFirst = state.withLock { state in
        defer { state.lost += UInt64(events.count) }
        return state.lost == 0
      }
      if isFirst { options.auditFailure?(error) }
      return true
    }
  }

  private func append(
    _ events: [Event], _ keys: AuditKeys, _ slot: Vault.Identifier, _ mayBeStale: Bool, _ state: inout State
  ) throws(VaultError) -> Bool {
    let sealer = if let known = state.sealer { known } else { try Sealer(random: options.random) }
    state.sealer = sealer
    let file = try lockedFile(&state, keys.policy)
    defer { file.unlock() }
    let size = Int(try file.status().st_size)
    guard let key = try keys.key(of: keys.epoch, sealer) else { throw Self.unknown }
    guard var head = try head(file, size, keys, key, sealer, &state) else { return try later(mayBeStale) }
    var flags = AuditBody.Flags.first
    guard try takeOver(&head, file, size, keys, sealer, &flags) else { return try later(mayBeStale) }
    if head.mayBeRestarted { flags.insert(.restarted) }
    (head.boot, head.epoch) = (AuditHead.presentBoot, keys.epoch)
    if size > head.end { try file.truncate(to: head.end) }
    var bytes = ByteWriter()
    for event in events {
      head.count += 1
      var body = body(of: event, previous: head.tag, flags, slot, lost: flags.contains(.first) ? state.lost : 0)
      head.tag = AuditFrame.write(&body, number: head.count, to: &bytes, keys, key, sealer)
      flags = []
    }
    do throws(VaultError) { try file.write(bytes.bytes, at: head.end) } catch {
      do throws(VaultError) { try file.truncate(to: min(size, head.end)) } catch {}  // no reader takes it for an entry
      throw error
    }
    let start = head.end
    head.end += bytes.count
    do throws(VaultError) { try write(head, to: file, keys, key, sealer, &state) } catch {
      // The next writer would take the entries over, although these events are counted as lost.
      do throws(VaultError) { try file.truncate(to: start) } catch {}
      throw error
    }
    state.lost = 0
    return true
  }

  /// Ends an append to a log that is sealed with a later key.
  private func later(_ mayBeStale: Bool) throws(VaultError) -> Bool {
    guard mayBeStale else {
      throw VaultError(.tampered, "the log is sealed with a newer key of the access group: unlock the vault again")
    }
    return false
  }

  private func body(
    of event: Event, previous: Vault.Tag, _ flags: AuditBody.Flags, _ slot: Vault.Identifier, lost: UInt64
  ) -> ByteWriter {
    var body = ByteWriter()
    body.bytes.reserveCapacity(192 + event.service.count + event.key.count)
    body.raw(previous)
    body.integer(options.now())
    body.integer(event.action.rawValue)
    body.integer(flags.rawValue)
    body.integer(UInt16(0))
    body.integer(getuid())
    body.integer(getpid())
    body.raw(slot)
    body.integer(lost)
    body.lp16(Self.program)
    body.lp16(event.service)
    body.lp16(event.key)
    body.integer(UInt32(0))
    return body
  }

  /// Takes over entries that the head does not count: their writer was killed before it wrote the head.
  /// - Returns: `false` if there is an entry that is sealed with a later key.
  private func takeOver(
    _ head: inout AuditHead, _ file: Descriptor, _ size: Int, _ keys: AuditKeys, _ sealer: Sealer,
    _ flags: inout AuditBody.Flags
  ) throws(VaultError) -> Bool {
    if size < head.end { flags.insert(.short) }
    var appends = 0
    while head.end < size {
      guard let found = try AuditFrame(file, at: head.end, before: size, keys, sealer),
        found.body.entry.number == head.count + 1, found.body.previous == head.tag
      else {
        if try AuditFrame.isLater(file, at: head.end, before: size, than: keys.epoch) { return false }
        flags.insert(.torn)
        break
      }
      if found.body.flags.contains(.first) { appends += 1 }
      (head.count, head.tag, head.end) = (head.count + 1, found.tag, head.end + found.count)
    }
    if appends > 1 { flags.insert(.oldHead) }
    return true
  }

  // MARK: The head

  /// The head of the locked file; a new one for a new file; `nil` if only a later key of the group opens it.
  private func head(
    _ file: Descriptor, _ size: Int, _ keys: AuditKeys, _ key: SealingKey, _ sealer: Sealer, _ state: inout State
  ) throws(VaultError) -> AuditHead? {
    guard size >= AuditHead.byteCount else {
      try prepareNew(file)
      let head = AuditHead(epoch: keys.epoch)
      try file.truncate(to: 0)
      try write(head, to: file, keys, key, sealer, &state)
      try file.synchronize()
      _ = try path.synchronizeDirectory()
      return head
    }
    let image = try FileImage(file, 0..<AuditHead.byteCount, limit: AuditHead.byteCount)
    guard let epoch = AuditHead.statedEpoch(of: image.span, keys) else { throw Self.unknown }
    if epoch > keys.epoch { return nil }
    if let known = state.head, image.span.starts(with: known.bytes) { return known.head }
    guard let head = try AuditHead(image.span, keys, sealer) else { throw Self.unknown }
    return head
  }

  private func write(
    _ head: AuditHead, to file: Descriptor, _ keys: AuditKeys, _ key: SealingKey, _ sealer: Sealer,
    _ state: inout State
  ) throws(VaultError) {
    let bytes = head.bytes(keys, key, sealer)
    state.head = nil
    try file.write(bytes, at: 0)
    state.head = (bytes, head)
  }

  private static let unknown = VaultError(
    .tampered, "it cannot be continued: its head is damaged or not that of this access group")

  // MARK: The file

  /// How long an append waits for a process that holds the lock. A service that must not stop waits a short time, and
  /// only once in a second: its other threads wait for the append, too.
  private func wait(_ state: State, _ policy: AuditPolicy) -> Duration {
    guard policy == .failOpen else { return options.lockTimeout }
    let now = options.now()
    if let timedOut = state.timedOut, (timedOut..<timedOut + 1_000).contains(now) { return .zero }
    return min(options.lockTimeout, .milliseconds(250))
  }

  /// The file that has the log's name, locked.
  private func lockedFile(_ state: inout State, _ policy: AuditPolicy) throws(VaultError) -> Descriptor {
    let deadline = Deadline(after: wait(state, policy))
    while true {
      let isKnown = state.file != nil
      let file = if let open = state.file { open } else { try openForWriting() }
      (state.file, state.head) = (nil, state.file == nil ? nil : state.head)
      do throws(VaultError) { try file.descriptor.acquireLock(until: deadline) } catch {
        if error.code == .lockTimeout, deadline.timeout > .zero { state.timedOut = options.now() }
        throw error
      }
      do throws(VaultError) {
        if try path.identity()?.identity == file.identity {
          state.file = file
          return file.descriptor
        }
        guard isKnown || deadline.remaining > .zero else {
          throw VaultError(.lockTimeout, "other processes keep replacing the file")
        }
      } catch {
        file.descriptor.unlock()
        throw error
      }
      file.descriptor.unlock()  // moved away or replaced while this process waited
    }
  }

  private func openForWriting() throws(VaultError) -> OpenFile {
    try path.judgeDirectory()
    while true {
      // Without O_CREAT first: the kernel may refuse it for a file that exists.
      if let file = try open(creating: false, unless: ENOENT) { return file }
      if let file = try open(creating: true, unless: EEXIST) { return file }
    }
  }

  /// Opens the log for writing; `nil` if that fails with `number`.
  private func open(creating: Bool, unless number: Int32) throws(VaultError) -> OpenFile? {
    do throws(VaultError) {
      let flags = O_RDWR | O_NOFOLLOW | O_NONBLOCK | (creating ? O_CREAT | O_EXCL : 0)
      let file = try Descriptor.open(path.file, flags, mode: 0o600) { .writing("open", $0) }
      return OpenFile(file, try judged(file))
    } catch {
      guard error.errno == number else { throw error }
      return nil
    }
  }

  private func judged(_ file: Descriptor) throws(VaultError) -> stat {
    let status = try file.status()
    guard status.st_mode & S_IFMT == S_IFREG else { throw VaultError(.io, "it is not a regular file") }
    guard status.st_nlink <= 1 else { throw VaultError(.hardLinked, "the file has several hard links") }
    try path.judge(status)
    return status
  }

  /// Sets the owner of a new file to the vault's, and the mode so that a user who may read the vault may log the reads.
  private func prepareNew(_ file: Descriptor) throws(VaultError) {
    guard let vault = try vault.status() else { return }
    let isShared = path.policy == .relaxed && vault.st_mode & 0o040 != 0
    guard geteuid() != 0 || fchown(file.raw, vault.st_uid, vault.st_gid) == 0,
      !isShared || fchown(file.raw, uid_t.max, vault.st_gid) == 0, fchmod(file.raw, isShared ? 0o660 : 0o600) == 0
    else { throw .io("set the owner and mode") }
  }

  /// Renames a log that cannot be continued, so that a new one begins.
  /// - Returns: the new name; `nil` if there is no log.
  func setAside() throws(VaultError) -> String? {
    try concerningLog { () throws(VaultError) in
      guard try path.status() != nil else { return nil }
      let file = try openForWriting().descriptor
      try file.acquireLock(until: Deadline(after: options.lockTimeout))
      defer { file.unlock() }
      // Another process renamed it while this one waited.
      guard file.hasName(path.file) else { return nil }
      for number in 1...100 where try path.beside(".\(number)").status() == nil {
        let name = path.file + ".\(number)"
        try Descriptor.rename(path.file, to: name, replaces: false)
        return name
      }
      throw VaultError(.alreadyExists, "100 earlier logs exist")
    }
  }

  // MARK: Reading

  /// Opens the log and returns its length and head as of one moment; `nil` if there is no log.
  ///
  /// - Returns: The head is `nil` if it does not verify.
  func forReading(
    _ keys: AuditKeys, _ sealer: Sealer
  ) throws(VaultError) -> (file: Descriptor, size: Int, head: AuditHead?)? {
    try concerningLog { () throws(VaultError) in
      guard try path.status() != nil else { return nil }
      let file = try Descriptor.open(path.file, O_RDONLY | O_NOFOLLOW | O_NONBLOCK) { .io("open", $0) }
      _ = try judged(file)
      try file.acquireLock(until: Deadline(after: options.lockTimeout))
      defer { file.unlock() }
      let image = try FileImage(file, 0..<AuditHead.byteCount, limit: AuditHead.byteCount)
      return (file, Int(try file.status().st_size), try AuditHead(image.span, keys, sealer))
    }
  }

  /// Adds to errors that they concern the log. A missing log is not reported as a missing vault or record.
  private func concerningLog<R>(_ body: () throws(VaultError) -> R) throws(VaultError) -> R {
    do throws(VaultError) { return try body() } catch {
      let code = error.code == .notFound ? .io : error.code
      throw VaultError(
        code, "the audit log \(path.file): \(error.message)", errno: error.errno, cause: AuditRefusal(error: error))
    }
  }
}
