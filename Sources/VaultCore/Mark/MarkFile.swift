internal import Glibc
internal import Synchronization

/// The file that a ``RollbackMark`` is kept in. Replaced by the steps of `Docs/Format.md` 9.3, under a lock of its own,
/// so that several programs may raise one mark.
struct MarkFile: Sendable {
  // Some 150 bytes for each of at most 1,024 groups.
  private static let longest = 1 << 20

  private let path: VaultPath
  private let timeout: Duration

  /// - Parameter path: links are followed, and the file may belong to anybody: who keeps the mark is the
  ///   administrator's choice. What others may write is refused.
  init(_ path: String, timeout: Duration) {
    self.path = VaultPath(path, policy: .relaxed)
    self.timeout = timeout
  }

  /// Reads the mark.
  /// - Throws: ``VaultError/Code/markMissing``, ``VaultError/Code/malformed``,
  ///   ``VaultError/Code/insecurePermissions``, ``VaultError/Code/io``.
  func read() throws(VaultError) -> RollbackMark {
    try concerningMark { () throws(VaultError) in
      let (descriptor, status) = try path.open(limits: .format)
      return try Self.read(descriptor, status)
    }
  }

  var exists: Bool {
    get throws(VaultError) { try path.status() != nil }
  }

  /// Makes the file.
  /// - Throws: ``VaultError/Code/alreadyExists``.
  func create(_ mark: RollbackMark) throws(VaultError) {
    try concerningMark { () throws(VaultError) in
      guard try path.status() == nil else { throw Replacement.exists }
      try path.makeDirectory()
      try path.judgeDirectory()
      FileLock.release(try Replacement(path: path).create(Array(mark.text.utf8), timeout: timeout).descriptor)
    }
  }

  /// Replaces the mark by what `change` makes of it; leaves the file alone when that is the same.
  func update(_ change: (RollbackMark) throws(VaultError) -> RollbackMark) throws(VaultError) {
    try concerningMark { () throws(VaultError) in
      try path.judgeDirectory()
      let lock = WriterLock(path, timeout: timeout)
      let (file, status) = try lock.acquire()
      defer { lock.release() }
      let old = try Self.read(file, status)
      let new = try change(old)
      if new != old {
        lock.pass(to: try Replacement(path: path).replace(status, with: Array(new.text.utf8)).descriptor)
      }
    }
  }

  private static func read(_ descriptor: Descriptor, _ status: stat) throws(VaultError) -> RollbackMark {
    guard status.st_mode & S_IFMT == S_IFREG else { throw .malformed("the mark") }
    guard status.st_mode & 0o022 == 0 else {
      throw VaultError(.insecurePermissions, "group or others may write to the file")
    }
    let image = try FileImage(descriptor, 0..<Int(status.st_size), limit: longest)
    return try RollbackMark(parsing: withExtendedLifetime(image) { Array(image.bytes) })
  }

  /// Says of errors about files that this one is meant.
  private func concerningMark<R>(_ body: () throws(VaultError) -> R) throws(VaultError) -> R {
    do throws(VaultError) { return try body() } catch {
      switch error.code {
      case .rolledBack, .tampered, .malformed: throw error
      case .notAVault, .limitExceeded: throw .malformed("the mark")
      case .notFound:
        throw VaultError(.markMissing, "there is no mark where one should be", errno: error.errno, cause: error)
      default: throw VaultError(error.code, "the mark: \(error.message)", errno: error.errno, cause: error)
      }
    }
  }
}

/// Checks every load of a vault against its mark, and raises the mark.
final class MarkKeeper: Sendable {
  private let file: MarkFile
  private let raises: Bool
  private let lastFailure = Mutex<VaultError?>(nil)

  /// Nil when the vault has no mark.
  init?(_ options: Vault.Options) {
    guard let path = options.markPath else { return nil }
    file = MarkFile(path, timeout: options.lockTimeout)
    raises = options.raisesMark
  }

  /// Loads and refuses what is older than the mark. For loads without the vault's lock: the mark is read first, since a
  /// writer may go on and raise it meanwhile.
  static func checking(
    _ keeper: MarkKeeper?, _ load: () throws(VaultError) -> VaultState
  ) throws(VaultError) -> VaultState {
    let mark = try keeper?.file.read()
    let state = try load()
    try mark?.check(try RollbackMark(state))
    return state
  }

  /// Refuses a load under the vault's lock that is older than the mark.
  func check(_ state: VaultState) throws(VaultError) { try file.read().check(try RollbackMark(state)) }

  var exists: Bool {
    get throws(VaultError) { try file.exists }
  }

  /// Makes the mark of a new vault.
  func create(_ state: VaultState) throws(VaultError) { try file.create(try RollbackMark(state)) }

  /// Raises the mark to a state that passed, or was written by this handle.
  func raise(to seen: RollbackMark) throws(VaultError) {
    guard raises else { return }
    try file.update { (mark) throws(VaultError) in try mark.raised(to: seen) }
    note(nil)
  }

  /// Why the mark could not be raised; nil when it was.
  func note(_ failure: VaultError?) { lastFailure.withLock { $0 = failure } }

  var failure: VaultError? { lastFailure.withLock(\.self) }
}
