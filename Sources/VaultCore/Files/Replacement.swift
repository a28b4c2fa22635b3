internal import DurableFiles

/// Writes a new vault file or mark under a temporary name and renames it over the old one (`Docs/Format.md` 9.3).
///
/// After a crash either the old or the new file exists, never a part of one.
struct Replacement {
  let path: VaultPath
  /// The time to wait for other processes that create the same file.
  let timeout: Duration
  /// The first bytes of the file, which identify leftovers.
  var magic = Snapshot.magic

  /// Replaces the vault, whose lock the caller holds.
  ///
  /// - Parameter old: the status of the replaced file. The new file gets its owner and mode according to the policy.
  /// - Returns: the new file, locked until the caller releases it.
  /// - Throws: ``VaultError/Code/durabilityUnknown`` when the new file is in place but the directory could not be
  ///   synced. With any other code the old file is still in place.
  func replace(_ old: stat, with bytes: [UInt8]) throws(VaultError) -> OpenFile {
    let descriptor = try reserveTemporary()
    return try finish(descriptor, bytes, replacing: old)
  }

  /// Creates a file at a path where none may exist.
  /// - Returns: the new file, locked until the caller releases it.
  /// - Throws: ``VaultError/Code/alreadyExists``.
  func create(_ bytes: [UInt8]) throws(VaultError) -> OpenFile {
    let descriptor = try reserveTemporary { () throws(VaultError) in
      // Another process may have created the file meanwhile.
      guard try path.status() == nil else { throw path.exists }
    }
    return try finish(descriptor, bytes, replacing: nil)
  }

  // MARK: The temporary file

  /// Creates and locks the temporary file. Removes the leftover of a killed program and waits for a program that still
  /// uses the name.
  ///
  /// - Parameter check: called once the name is reserved. Throws to stop.
  private func reserveTemporary(
    _ check: () throws(VaultError) -> Void = { () throws(VaultError) in }
  ) throws(VaultError) -> Descriptor {
    let deadline = Deadline(after: timeout)
    repeat {
      if let descriptor = try openTemporary() {
        do throws(VaultError) { try check() } catch {
          descriptor.discard(path.temporary)
          throw error
        }
        return descriptor
      }
      guard let leftover = try openLeftover() else { continue }
      try leftover.acquireLock(until: deadline)
      guard try isOurs(leftover) else {
        leftover.unlock()
        throw inTheWay
      }
      guard leftover.discard(path.temporary) else {
        throw .writing("\(path.temporary): remove the temporary file")
      }
      try check()
    } while deadline.remaining > .zero
    throw path.error(.lockTimeout, "other processes keep creating this file")
  }

  /// Creates the temporary file; `nil` if it exists, or if another process took it before it was locked.
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
    // Any process that opens the new vault for writing waits until the directory is synced.
    guard try descriptor.tryLock(), descriptor.hasName(path.temporary) else { return nil }
    guard fchmod(descriptor.raw, 0o600) == 0 else {
      let error = VaultError.io("\(path.temporary): set the mode of the temporary file")
      descriptor.discard(path.temporary)
      throw error
    }
    return descriptor
  }

  /// Opens the file with the temporary name; `nil` if it does not exist any more.
  /// - Throws: ``VaultError/Code/io`` unless it certainly is one of our temporary files.
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
      .io, "\(path.temporary): this file prevents creating a temporary file and may not be a leftover: move it away",
      errno: EEXIST)
  }

  /// Whether the file is the leftover of a killed program: a file without other hard links that begins like ours, or
  /// whose first sector never reached the disk. No other file gets such a name (``VaultPath/judgeNew()``).
  private func isOurs(_ descriptor: Descriptor) throws(VaultError) -> Bool {
    let status = try descriptor.status()
    guard status.st_mode & S_IFMT == S_IFREG, status.st_nlink <= 1 else { return false }
    let start = try FileImage(descriptor, 0..<512, limit: 512)
    return start.span.isZero || zip(start.span.copy, magic).allSatisfy(==)
  }

  /// Removes the leftover of a killed full write, under the vault's lock. Other files are not removed, because only a
  /// full write needs the name.
  func removeLeftover() {
    do throws(VaultError) {
      guard let leftover = try openLeftover(), try leftover.tryLock() else { return }
      leftover.discard(path.temporary)
    } catch {}
  }

  private func takeOver(_ old: stat, _ descriptor: Descriptor) throws(VaultError) {
    let strict = path.policy == .strict
    // If root writes, the file keeps its owner. With the relaxed policy, a process that may not change the owner
    // becomes the owner.
    if fchown(descriptor.raw, old.st_uid, old.st_gid) != 0 {
      let error = VaultError.io("\(path.file): keep the owner")
      let isOurs = old.st_uid == geteuid()
      guard isOurs || !strict else { throw error }
      // A different group must not get the rights of the old group, and the old group must not lose them silently. This
      // does not matter if the mode gives the group no rights.
      guard fchown(descriptor.raw, uid_t.max, old.st_gid) == 0 || old.st_mode & 0o070 == 0 else {
        throw .io("keep the group")
      }
    }
    guard fchmod(descriptor.raw, strict ? 0o600 : old.st_mode & 0o664) == 0 else {
      throw .io("\(path.file): keep the mode")
    }
  }

  private func finish(
    _ descriptor: Descriptor, _ bytes: [UInt8], replacing old: stat?
  ) throws(VaultError) -> OpenFile {
    let file: OpenFile
    do throws(VaultError) {
      if let old { try takeOver(old, descriptor) }
      try descriptor.write(bytes, at: 0)
      try descriptor.synchronize()
      // Before the rename: after it, an error would look as if the file had not been replaced.
      file = OpenFile(descriptor, try descriptor.status())
      try Descriptor.rename(path.temporary, to: path.file, replaces: old != nil)
    } catch {
      descriptor.discard(path.temporary)
      throw error
    }
    do throws(VaultError) {
      guard try path.synchronizeDirectory() else { throw .io("\(path.directory): open the directory") }
    } catch {
      descriptor.unlock()
      throw path.error(
        .durabilityUnknown, "the new file is in place, but its name may not survive a power failure",
        errno: error.errno, cause: error)
    }
    return file
  }
}
