internal import CVaultSystem
internal import Glibc

/// Writes a whole new vault file beside the old one and puts it in its place (`Docs/Format.md` 9.3).
///
/// A crash before the rename leaves the old file, after it the new one.
struct Replacement {
  let path: VaultPath

  /// Replaces the vault, whose lock the caller holds.
  ///
  /// - Parameter old: the file that is replaced; owner and mode are carried over as the policy says.
  /// - Returns: the new file, locked until the caller releases it.
  /// - Throws: ``VaultError/Code/durabilityUnknown`` when the new file is in place but the directory could not be
  ///   synced; any other class means that the old file stands.
  func replace(_ old: stat, with bytes: [UInt8]) throws(VaultError) -> OpenFile {
    unlink(path.temporary)  // the leftover of a crash: ours, since we hold the lock
    let descriptor = try openTemporary()
    return try finish(
      descriptor, bytes,
      prepare: { (descriptor) throws(VaultError) in
        try takeOver(old, descriptor)
      }
    ) {
      rename(path.temporary, path.file)
    }
  }

  /// Creates a vault where nothing may be yet.
  /// - Returns: the new file, locked until the caller releases it.
  /// - Throws: ``VaultError/Code/alreadyExists``.
  func create(_ bytes: [UInt8], timeout: Duration) throws(VaultError) -> OpenFile {
    let descriptor = try claimTemporary(timeout)
    // Looked at again: another creator may have finished while we waited.
    guard try path.status() == nil else {
      discard(descriptor)
      throw Self.exists
    }
    return try finish(descriptor, bytes, prepare: { _ throws(VaultError) in }) {
      let answer = csystem_rename_noreplace(path.temporary, path.file)
      guard answer != 0, errno == EINVAL || errno == ENOSYS else { return answer }
      return rename(path.temporary, path.file)  // a file system without the flag; we looked a moment ago
    }
  }

  static let exists = VaultError(.alreadyExists, "something is at this path already")

  /// Makes and locks the temporary file. Fails with EEXIST when one is there, or when another creator took ours
  /// between the two steps.
  private func openTemporary() throws(VaultError) -> Descriptor {
    let descriptor = try Descriptor.open(
      path.temporary, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW, mode: 0o600
    ) { .writing("make the temporary file", $0) }
    // Whoever opens the new vault waits until the directory is synced.
    guard retrying({ flock(descriptor.raw, LOCK_EX | LOCK_NB) }) == 0 else {
      throw .io("lock the temporary file", errno == EWOULDBLOCK ? EEXIST : errno)
    }
    guard names(descriptor) else { throw .io("lock the temporary file", EEXIST) }
    guard fchmod(descriptor.raw, 0o600) == 0 else {
      let error = VaultError.io("set the mode of the temporary file")
      discard(descriptor)
      throw error
    }
    return descriptor
  }

  /// Whether the temporary file's name still means `descriptor`. Only who holds the lock of the file that the name
  /// means may unlink it.
  private func names(_ descriptor: Descriptor) -> Bool {
    var named = stat()
    var own = stat()
    return lstat(path.temporary, &named) == 0 && fstat(descriptor.raw, &own) == 0
      && FileIdentity(named) == FileIdentity(own)
  }

  /// Removes the temporary file, if it is the one whose lock we hold.
  private func discard(_ descriptor: Descriptor) {
    if names(descriptor) { unlink(path.temporary) }
    FileLock.release(descriptor)
  }

  /// Opens the temporary file of a creation; one that stands there already is waited for and then removed.
  private func claimTemporary(_ timeout: Duration) throws(VaultError) -> Descriptor {
    let start = ContinuousClock.now
    while ContinuousClock.now - start < timeout {
      do throws(VaultError) { return try openTemporary() } catch {
        guard error.errno == EEXIST else { throw error }
      }
      let other: Descriptor
      do throws(VaultError) {
        other = try Descriptor.open(path.temporary, O_RDWR | O_NOFOLLOW | O_NONBLOCK) {
          .writing("open the temporary file", $0)
        }
      } catch {
        if error.errno == ENOENT { continue }
        throw error
      }
      try FileLock.acquire(other, timeout: timeout)
      discard(other)
      guard try path.status() == nil else { throw Self.exists }
    }
    throw VaultError(.lockTimeout, "other processes keep creating this vault")
  }

  private func takeOver(_ old: stat, _ descriptor: Descriptor) throws(VaultError) {
    let strict = path.policy == .strict
    // Root keeps a user's vault the user's. Who may not give files away keeps its own uid, relaxed only.
    if fchown(descriptor.raw, old.st_uid, old.st_gid) != 0 {
      let error = VaultError.io("keep the owner")
      let isOurs = old.st_uid == geteuid()
      guard isOurs || !strict else { throw error }
      // Another group must not get this one's rights, nor may this one lose them unsaid. Without any, none is missed.
      guard fchown(descriptor.raw, uid_t.max, old.st_gid) == 0 || old.st_mode & 0o070 == 0 else {
        throw .io("keep the group")
      }
    }
    guard fchmod(descriptor.raw, strict ? 0o600 : old.st_mode & 0o664) == 0 else { throw .io("keep the mode") }
  }

  private func finish(
    _ descriptor: Descriptor, _ bytes: [UInt8], prepare: (Descriptor) throws(VaultError) -> Void,
    rename: () -> Int32
  ) throws(VaultError) -> OpenFile {
    let file: OpenFile
    do throws(VaultError) {
      try prepare(descriptor)
      try descriptor.write(bytes, at: 0)
      try descriptor.synchronize()
      // Before the rename: once the file is in place, nothing may fail as if it were not.
      file = OpenFile(descriptor, try descriptor.status())
      guard rename() == 0 else { throw errno == EEXIST ? Self.exists : .writing("put the new vault in place") }
    } catch {
      discard(descriptor)
      throw error
    }
    do throws(VaultError) {
      guard try path.synchronizeDirectory() else { throw .io("open the directory") }
    } catch {
      FileLock.release(descriptor)
      throw VaultError(
        .durabilityUnknown, "the new vault is in place, but its name may not survive a power cut",
        errno: error.errno, cause: error)
    }
    return file
  }
}
