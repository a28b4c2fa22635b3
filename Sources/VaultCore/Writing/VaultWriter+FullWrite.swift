internal import DurableFiles
internal import Synchronization
internal import VaultSealing

extension VaultWriter {
  /// Locks the file at the path and replaces it with a new one.
  func fullWrite(_ make: Rewrite, until deadline: Deadline) throws(VaultError) {
    try handle.forkGuard.check()
    let locked = try storage.lock(until: LockDeadline(deadline))
    defer { locked.release() }
    try fullWrite(locked, make)
  }

  /// The bytes that a full write reads instead of those of the storage, and the key that opens them.
  struct Original {
    let image: FileImage
    let version: any StorageVersion
    let unlocked: Unlocked
  }

  /// Replaces the locked vault with a new one (5.2).
  ///
  /// - Parameter make: returns the new bytes, and the key that opens them for this handle.
  func fullWrite(
    _ locked: any LockedStorage, reading given: Original? = nil, _ make: (VaultState) throws(VaultError) -> FullWrite
  ) throws(VaultError) {
    let source = if let given { given } else { try readAll(locked) }
    let unlocked = source.unlocked
    let sealer = try Sealer(random: options.random)
    // A separate load. Readers continue with theirs and never see an intermediate state.
    let old = try VaultState(
      source.image, version: source.version, storage: storage, options: options, sealer: sealer
    ) { (snapshot, sealer) throws(VaultError) in try unlocked.reopened(in: snapshot, sealer: sealer) }
    try handle.mark?.check(old)
    let write = try make(old)
    let (bytes, next) = (write.file, write.opening)
    guard bytes.count <= options.limits.fileBytes else {
      throw VaultError(.limitExceeded, "the vault would exceed \(options.limits.fileBytes) bytes")
    }
    let checked = try VaultState(
      FileImage(bytes), version: nil, storage: storage, options: options, sealer: sealer
    ) { (snapshot, sealer) throws(VaultError) in try next.reopened(in: snapshot, sealer: sealer) }
    for group in checked.groups { _ = try checked.content(group.id) }
    try write.beforeStoring()
    do throws(VaultError) {
      for group in write.logged.before { try log([group.event], group.keys) }
    } catch { throw handle.takeBackStarts(write.logged.newGroups, after: error) }
    let fresh: any StorageVersion
    // Readers of this handle may find the new file before this thread stores its state.
    handle.loaded.withLock { $0.expect(next, after: unlocked, changing: write.changes) }
    do throws(VaultError) { fresh = try locked.replace(with: bytes, behind: old.position) } catch {
      if error.code != .durabilityUnknown { handle.loaded.withLock { $0.expect(nil, after: unlocked) } }
      throw handle.takeBackStarts(write.logged.newGroups, after: error)
    }
    checked.adopt(fresh)
    checked.dropImage()
    for group in write.logged.after {
      // The write is durable. The next event under the new key takes the place of this one.
      do throws(VaultError) { try log([group.event], group.keys) } catch {
        options.auditFailure?(error)
      }
    }
    recordForMark(checked)
    handle.loaded.withLock { $0.replace(checked, since: unlocked) }
    mayAppend = true
  }

  /// Reads everything, under the lock.
  private func readAll(_ locked: any LockedStorage) throws(VaultError) -> Original {
    // Loaded again if the vault was replaced meanwhile, also by this handle with its new slot.
    let (version, unlocked) = try handle.withCurrent { (_, state) throws(VaultError) in
      (state.version, state.unlocked)
    }
    guard let version,
      case .added(let bytes) = try locked.changes(since: .start(of: version), limit: options.limits.fileBytes)
    else { throw changedByOthers }
    guard bytes.count <= options.limits.fileBytes else {
      throw storage.error(.limitExceeded, "the vault is longer than \(options.limits.fileBytes) bytes")
    }
    return Original(image: bytes.image, version: version, unlocked: unlocked)
  }
}
