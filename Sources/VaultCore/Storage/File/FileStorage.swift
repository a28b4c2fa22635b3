internal import DurableFiles
internal import Synchronization

/// A vault in a file (`Docs/Format.md` section 9).
///
/// Everything that only a file has is in this folder: the path and its links, owners, modes, mounts, a broken last
/// entry, and the reserve of zero bytes at the end.
public final class FileStorage: VaultStorage {
  let path: VaultPath
  private let reserveBytes: Int
  private let limit: Int
  /// The lock of the last write, with its open descriptor. A writer takes it, so that each has its own.
  private let idle = Mutex<WriterLock?>(nil)

  /// Names the file at `path`, which need not exist. A relative path stays relative to the present working directory.
  ///
  /// - Parameter options: of which ``Vault/Options/pathPolicy``, ``Vault/Options/reserveBytes`` and
  ///   ``Vault/Options/limits`` are used. Use those of the vault: with a greater limit than the vault's, the reserve
  ///   can make the file longer than the vault accepts.
  /// - Throws: ``VaultError/Code/io`` for a path with a NUL byte.
  public init(_ path: String, options: Vault.Options = Vault.Options()) throws(VaultError) {
    self.path = try VaultPath(path, policy: options.pathPolicy)
    reserveBytes = options.reserveBytes
    limit = options.limits.fileBytes
  }

  /// The absolute path.
  public var name: String { path.file }

  /// The logs are beside the file.
  public var auditLogs: AuditLogLocation? { AuditLogLocation(beside: path) }

  /// The length of the reserve behind `count` bytes, in bytes. The file stays within its limit.
  func reserve(behind count: Int) -> Int { max(0, min(reserveBytes, limit - count)) }

  // MARK: Reading

  public func load(limit: Int) throws(VaultError) -> StoredVault {
    let (descriptor, status) = try path.open(limit: limit)
    let image = try FileImage(descriptor, 0..<Int(status.st_size), limit: limit)
    let file = OpenFile(descriptor, status)
    // A rename between opening and fstat also makes the count zero, so the path is asked again.
    if status.st_nlink == 0 { file.isFrozen = try path.identity()?.isRemoved ?? false }
    return StoredVault(version: file, bytes: StoredBytes(image))
  }

  /// Makes two system calls if there are no changes (`Docs/Format.md` 4.2).
  public func changes(since position: StoragePosition, limit: Int) throws(VaultError) -> StorageChanges {
    guard let (identity, isRemoved) = try path.identity() else { return .removed }
    guard let file = position.version as? OpenFile, identity == file.identity else { return .replaced(nil) }
    file.isFrozen = isRemoved
    if position.offset == 0 {
      return try file.changes(since: position, end: Int(file.descriptor.status().st_size), limit: limit)
    }
    // A zero entry_len behind the known bytes is the reserve, so nothing was appended.
    var probe: (Vault.Tag, UInt64) = (.zero, 0)
    let count = try unsafe withUnsafeMutableBytes(of: &probe) { (bytes) throws(VaultError) in
      unsafe try file.descriptor.read(into: bytes, at: position.offset - Vault.Tag.count)
    }
    guard count >= Vault.Tag.count, probe.0 == position.tag else { return .replaced(nil) }
    if count < Vault.Tag.count + 4 || UInt32(truncatingIfNeeded: UInt64(littleEndian: probe.1)) == 0 { return .none }
    return try file.changes(since: position, end: Int(file.descriptor.status().st_size), limit: limit)
  }

  public func synchronize(_ version: any StorageVersion) throws(VaultError) {
    try (version as? OpenFile)?.descriptor.synchronizeData()
    _ = try path.synchronizeDirectory()
  }

  // MARK: Writing

  public func lock(until deadline: LockDeadline) throws(VaultError) -> any LockedStorage {
    let lock = idle.withLock { $0.take() } ?? WriterLock(path)
    let (file, status) = try lock.acquire(until: deadline.deadline)
    return LockedFile(self, lock, OpenFile(file, status))
  }

  /// Keeps the descriptor of a released lock for the next writer.
  func keep(_ lock: WriterLock) { idle.withLock { $0 = lock } }

  public func checkVacant() throws(VaultError) { try path.judgeNew() }

  public func create(_ bytes: [UInt8]) throws(VaultError) -> (storage: any LockedStorage, version: any StorageVersion) {
    try path.prepareNew()
    let file = try Replacement(path: path).create(bytes, reserve: reserve(behind: bytes.count))
    file.isNameDurable = true
    let lock = WriterLock(path)
    lock.pass(to: file.descriptor)
    return (LockedFile(self, lock, file), file)
  }

  /// Watches the path with the system's means (`Docs/Decisions/0035`, `0064`).
  public func observe(_ notify: @escaping @Sendable () -> Void) throws(VaultError) -> StorageObservation {
    let watch = try FileWatch<VaultError>(path.file, .eachWrite, notify)
    return StorageObservation { watch.stop() }
  }
}

extension VaultStorage where Self == FileStorage {
  /// The file at `path`: see ``FileStorage/init(_:options:)``.
  public static func file(
    _ path: String, options: Vault.Options = Vault.Options()
  ) throws(VaultError) -> FileStorage {
    try FileStorage(path, options: options)
  }

  /// Names the file at `path`, on a helper thread, because resolving links may wait for a file system.
  static func at(_ path: String, _ options: Vault.Options) async throws(VaultError) -> FileStorage {
    try await HelperPool.waiting(for: path).run { () throws(VaultError) in
      try FileStorage(path, options: options)
    }
  }
}
