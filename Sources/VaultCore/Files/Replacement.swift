internal import CVaultSystem
internal import Glibc

/// Writes a whole new vault file, or mark, beside the old one and puts it in its place (`Docs/Format.md` 9.3).
///
/// A crash before the rename leaves the old file, after it the new one.
struct Replacement {
  let path: VaultPath
  /// How long other creators are waited for.
  let timeout: Duration
  /// How the files begin that are made here.
  var magic = Snapshot.magic

  /// Replaces the vault, whose lock the caller holds.
  ///
  /// - Parameter old: the file that is replaced; owner and mode are carried over as the policy says.
  /// - Returns: the new file, locked until the caller releases it.
  /// - Throws: ``VaultError/Code/durabilityUnknown`` when the new file is in place but the directory could not be
  ///   synced; any other class means that the old file stands.
  func replace(_ old: stat, with bytes: [UInt8]) throws(VaultError) -> OpenFile {
    let descriptor = try reserveTemporary()
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
  func create(_ bytes: [UInt8]) throws(VaultError) -> OpenFile {
    let descriptor = try reserveTemporary { () throws(VaultError) in
      // Another creator may have finished while we waited.
      guard try path.status() == nil else { throw path.exists }
    }
    return try finish(descriptor, bytes, prepare: { _ throws(VaultError) in }) {
      let answer = csystem_rename_noreplace(path.temporary, path.file)
      guard answer != 0, errno == EINVAL || errno == ENOSYS else { return answer }
      return rename(path.temporary, path.file)  // a file system without the flag; we looked a moment ago
    }
  }

  // MARK: The temporary file

  /// Makes and locks the temporary file. What a killed program left there is removed, and a program that is still at
  /// work there is waited for.
  ///
  /// - Parameter check: refuses to go on; called when the name is reserved.
  private func reserveTemporary(
    _ check: () throws(VaultError) -> Void = { () throws(VaultError) in }
  ) throws(VaultError) -> Descriptor {
    let start = ContinuousClock.now
    repeat {
      if let descriptor = try openTemporary() {
        do throws(VaultError) { try check() } catch {
          discard(descriptor)
          throw error
        }
        return descriptor
      }
      guard let leftover = try openLeftover() else { continue }
      try FileLock.acquire(leftover, timeout: timeout)
      guard try isOurs(leftover) else {
        FileLock.release(leftover)
        throw inTheWay
      }
      guard !names(leftover) || unlink(path.temporary) == 0 || errno == ENOENT else {
        let error = VaultError.writing("\(path.temporary): remove the temporary file")
        FileLock.release(leftover)
        throw error
      }
      FileLock.release(leftover)
      try check()
    } while ContinuousClock.now - start < timeout
    throw path.error(.lockTimeout, "other processes keep creating this file")
  }

  /// Makes the temporary file; `nil` when there is one, or when another creator took ours before it was locked.
  private func openTemporary() throws(VaultError) -> Descriptor? {
    let descriptor: Descriptor
    do throws(VaultError) {
      descriptor = try Descriptor.open(
        path.temporary, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW, mode: 0o600, named: path.file
      ) { .writing("\(path.temporary): make the temporary file", $0) }
    } catch {
      guard error.errno == EEXIST else { throw error }
      return nil
    }
    // Whoever opens the new vault waits until the directory is synced.
    guard retrying({ flock(descriptor.raw, LOCK_EX | LOCK_NB) }) == 0 else {
      guard errno == EWOULDBLOCK else { throw .io("\(path.temporary): lock the temporary file") }
      return nil
    }
    guard names(descriptor) else { return nil }
    guard fchmod(descriptor.raw, 0o600) == 0 else {
      let error = VaultError.io("\(path.temporary): set the mode of the temporary file")
      discard(descriptor)
      throw error
    }
    return descriptor
  }

  /// Opens what is at the temporary file's name; `nil` when it is gone.
  /// - Throws: ``VaultError/Code/io`` when it is not beyond doubt one of our temporary files.
  private func openLeftover() throws(VaultError) -> Descriptor? {
    let leftover: Descriptor
    do throws(VaultError) {
      leftover = try Descriptor.open(path.temporary, O_RDWR | O_NOFOLLOW | O_NONBLOCK) { number in
        [EROFS, ENOENT].contains(number) ? .writing("\(path.temporary): open the temporary file", number) : inTheWay
      }
    } catch {
      guard error.errno == ENOENT else { throw error }
      return nil
    }
    guard try isOurs(leftover) else { throw inTheWay }
    return leftover
  }

  private var inTheWay: VaultError {
    VaultError(
      .io, "\(path.temporary): is in the way of a temporary file, and may be something else: move it away",
      errno: EEXIST)
  }

  /// Whether it is what a killed program left: a file with one name that begins as ours do, or whose first sector never
  /// reached the disk. Nothing else may have that name (``VaultPath/judgeNew()``).
  private func isOurs(_ descriptor: Descriptor) throws(VaultError) -> Bool {
    let status = try descriptor.status()
    guard status.st_mode & S_IFMT == S_IFREG, status.st_nlink <= 1 else { return false }
    let start = try FileImage(descriptor, 0..<512, limit: 512)
    return withExtendedLifetime(start) {
      zip(start.bytes, magic).allSatisfy(==) || start.bytes.allSatisfy { $0 == 0 }
    }
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

  /// Removes what a killed full write left, under the vault's lock. Anything else stays: only a full write needs the
  /// name.
  func removeLeftover() {
    do throws(VaultError) {
      guard let leftover = try openLeftover(), flock(leftover.raw, LOCK_EX | LOCK_NB) == 0 else { return }
      discard(leftover)
    } catch {}
  }

  private func takeOver(_ old: stat, _ descriptor: Descriptor) throws(VaultError) {
    let strict = path.policy == .strict
    // Root keeps a user's vault the user's. Who may not give files away keeps its own uid, relaxed only.
    if fchown(descriptor.raw, old.st_uid, old.st_gid) != 0 {
      let error = VaultError.io("\(path.file): keep the owner")
      let isOurs = old.st_uid == geteuid()
      guard isOurs || !strict else { throw error }
      // Another group must not get this one's rights, nor may this one lose them unsaid. Without any, none is missed.
      guard fchown(descriptor.raw, uid_t.max, old.st_gid) == 0 || old.st_mode & 0o070 == 0 else {
        throw .io("keep the group")
      }
    }
    guard fchmod(descriptor.raw, strict ? 0o600 : old.st_mode & 0o664) == 0 else {
      throw .io("\(path.file): keep the mode")
    }
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
      guard rename() == 0 else {
        throw errno == EEXIST ? path.exists : .writing("\(path.file): put the new file in place")
      }
    } catch {
      discard(descriptor)
      throw error
    }
    do throws(VaultError) {
      guard try path.synchronizeDirectory() else { throw .io("\(path.directory): open the directory") }
    } catch {
      FileLock.release(descriptor)
      throw path.error(
        .durabilityUnknown, "the new file is in place, but its name may not survive a power cut",
        errno: error.errno, cause: error)
    }
    return file
  }
}
