internal import DurableFiles
internal import Synchronization

/// The file of a ``RollbackMark``. It is replaced by the steps of `Docs/Format.md` 9.3, under its own lock, so that
/// several programs may raise one mark.
struct MarkFile: Sendable {
  // About 300 bytes for each of at most 1,024 groups.
  private static let longest = 1 << 20

  private let path: VaultPath
  private let timeout: Duration

  /// - Parameter path: links are followed and any owner is accepted, because the administrator chooses the account that
  ///   keeps the mark. A file or directory that group or others may write is refused.
  init(_ path: String, timeout: Duration) throws(VaultError) {
    self.path = try VaultPath(path, policy: .relaxed, refusing: 0o022)
    self.timeout = timeout
  }

  /// Reads the mark.
  /// - Throws: ``VaultError/Code/markMissing``, ``VaultError/Code/malformed``,
  ///   ``VaultError/Code/insecurePermissions``, ``VaultError/Code/io``.
  func read() throws(VaultError) -> RollbackMark {
    try concerningMark { () throws(VaultError) in
      let (descriptor, status) = try path.open(limit: Vault.Limits.format.fileBytes)
      return try read(descriptor, status)
    }
  }

  /// Refuses a path where no mark can be made.
  func judgeNew() throws(VaultError) { try concerningMark { () throws(VaultError) in try path.judgeNew() } }

  private var replacement: Replacement { Replacement(path: path, kind: .mark) }

  /// Creates the file.
  /// - Throws: ``VaultError/Code/alreadyExists``.
  func create(_ mark: RollbackMark) throws(VaultError) {
    try concerningMark { () throws(VaultError) in
      try path.prepareNew()
      try replacement.create(Array(mark.text.utf8)).descriptor.unlock()
    }
  }

  /// Replaces the mark with the result of `change`, if that is different.
  ///
  /// - Parameter patience: the maximum time to wait for the lock; `nil` for that of the options.
  func update(
    atMost patience: Duration? = nil, _ change: (RollbackMark) throws(VaultError) -> RollbackMark
  ) throws(VaultError) {
    try concerningMark { () throws(VaultError) in
      try path.judgeDirectory()
      let lock = WriterLock(path)
      let (file, status) = try lock.acquire(until: Deadline(after: min(timeout, patience ?? timeout)))
      defer { lock.release() }
      let old = try read(file, status)
      let new = try change(old)
      if new != old {
        lock.pass(to: try replacement.replace(status, with: Array(new.text.utf8)).descriptor)
      }
    }
  }

  private func read(_ descriptor: Descriptor, _ status: stat) throws(VaultError) -> RollbackMark {
    guard status.st_mode & S_IFMT == S_IFREG else { throw .malformed("the mark") }
    try path.judge(status)
    let image = try FileImage(descriptor, 0..<Int(status.st_size), limit: Self.longest)
    return try RollbackMark(parsing: image.span.copy)
  }

  /// Adds to file errors that they concern the mark.
  private func concerningMark<R>(_ body: () throws(VaultError) -> R) throws(VaultError) -> R {
    do throws(VaultError) { return try body() } catch {
      switch error.code {
      case .rolledBack, .tampered, .malformed: throw error
      case .notAVault, .limitExceeded: throw .malformed("the mark")
      case .notFound:
        throw path.error(.markMissing, "there is no mark at the configured path", errno: error.errno, cause: error)
      default:
        throw VaultError(error.code, "the mark: \(error.message)", errno: error.errno, cause: ErrorSubject.mark)
      }
    }
  }
}

/// Compares every load of a vault with its mark, and raises the mark.
final class MarkKeeper: Sendable {
  private let file: MarkFile
  let raises: Bool
  private let lastFailure = Mutex<VaultError?>(nil)
  private let report: (@Sendable (VaultError) -> Void)?

  /// `nil` if the vault has no mark.
  init?(_ options: Vault.Options) throws(VaultError) {
    guard let path = options.markPath else { return nil }
    file = try MarkFile(path, timeout: options.lockTimeout)
    raises = options.raisesMark
    report = options.markFailure
  }

  /// Loads the vault and refuses a state that is older than the mark. For loads without the vault's lock: the mark is
  /// read first, because a writer may raise it meanwhile.
  static func checking(
    _ keeper: MarkKeeper?, _ load: () throws(VaultError) -> VaultState
  ) throws(VaultError) -> VaultState {
    let mark = try keeper?.file.read()
    let state = try load()
    try mark?.check(try RollbackMark(state))
    return state
  }

  /// Refuses a state that is older than the mark. For loads under the vault's lock.
  func check(_ state: VaultState) throws(VaultError) { try file.read().check(try RollbackMark(state)) }

  /// The mark's line of a group's log; `nil` if it has none.
  func log(of group: Vault.Identifier) throws(VaultError) -> RollbackMark.Log? { try file.read().logs[group] }

  /// Refuses a state of a group's log that is older than the mark, or as old with different contents. Called with the
  /// log locked: no process raises the line above it meanwhile.
  ///
  /// - Returns: the mark's line, whose event is still to be looked for unless it is `seen`; `nil` if there is none.
  func checkLog(_ group: Vault.Identifier, _ seen: RollbackMark.Log) throws(VaultError) -> RollbackMark.Log? {
    guard let marked = try log(of: group) else { return nil }
    guard marked != seen, marked.count >= seen.count else { return marked }
    throw VaultError(
      .rolledBack, "it is at event \(seen.count), and the mark is at event \(marked.count): this is an older copy")
  }

  /// Refuses a path where no mark can be made.
  func judgeNew() throws(VaultError) { try file.judgeNew() }

  /// Creates the mark of a new vault.
  func create(_ state: VaultState) throws(VaultError) { try file.create(try RollbackMark(state)) }

  /// The longest that a read waits for the lock of the mark.
  private static let patienceOfRead = Duration.milliseconds(250)

  /// Raises the mark to a state that was checked against it or written by this handle. Stores the error that prevents
  /// it.
  ///
  /// - Parameter isRead: whether the state was read. A reader does not wait long for the mark, because nothing of its
  ///   own is lost, and its failure is reported at once: there may be no later write that looks for it.
  func raise(isRead: Bool, to seen: () throws(VaultError) -> RollbackMark) {
    guard raises else { return }
    do throws(VaultError) {
      let seen = try seen()
      let present = try file.read()
      // Another process may have raised it as far. That needs no lock.
      if try present.raised(to: seen) != present {
        try file.update(atMost: isRead ? Self.patienceOfRead : nil) { (mark) throws(VaultError) in
          try mark.raised(to: seen)
        }
      }
      lastFailure.withLock { $0 = nil }
    } catch {
      let isFirst = lastFailure.withLock { failure in
        defer { failure = error }
        return failure == nil
      }
      if isRead, isFirst { report?(error) }
    }
  }

  var failure: VaultError? { lastFailure.withLock(\.self) }
}
