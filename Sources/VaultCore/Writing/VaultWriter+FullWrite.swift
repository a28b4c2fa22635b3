internal import DurableFiles
internal import Synchronization
internal import VaultSealing

extension VaultWriter {
  /// Locks the file at the path and replaces it with a new one.
  func fullWrite(_ make: Rewrite, until deadline: Deadline) throws(VaultError) {
    try handle.forkGuard.check()
    let (file, _) = try lock.acquire(until: deadline)
    defer { lock.release() }
    try fullWrite(file, make)
  }

  /// Replaces the locked file with a new one (5.2).
  ///
  /// - Parameters:
  ///   - source: the bytes to load instead of those of the file, and the key that opens them.
  ///   - make: returns the bytes of the new file, and the key that opens it for this handle.
  func fullWrite(
    _ file: Descriptor, reading source: (image: FileImage, unlocked: Unlocked)? = nil,
    _ make: (VaultState) throws(VaultError) -> FullWrite
  ) throws(VaultError) {
    // Loaded again if the file was replaced meanwhile, also by this handle with its new slot.
    let unlocked =
      if let source {
        source.unlocked
      } else {
        try handle.withCurrent { (_, state) throws(VaultError) in state.unlocked }
      }
    let sealer = try Sealer(random: options.random)
    let status = try file.status()
    // A separate load. Readers continue with theirs and never see an intermediate state.
    let image =
      if let source { source.image } else {
        try FileImage(file, 0..<Int(status.st_size), limit: options.limits.fileBytes)
      }
    let old = try VaultState(
      image, file: OpenFile(file, status), path: path, options: options, sealer: sealer
    ) { (snapshot, sealer) throws(VaultError) in try unlocked.reopened(in: snapshot, sealer: sealer) }
    try handle.mark?.check(old)
    let write = try make(old)
    let (bytes, next) = (write.file, write.opening)
    try old.keepTornTail()
    guard bytes.count <= options.limits.fileBytes else {
      throw VaultError(.limitExceeded, "the vault would exceed \(options.limits.fileBytes) bytes")
    }
    let checked = try VaultState(
      FileImage(bytes), file: nil, path: path, options: options, sealer: sealer
    ) { (snapshot, sealer) throws(VaultError) in try next.reopened(in: snapshot, sealer: sealer) }
    for group in checked.groups { _ = try checked.content(group.id) }
    for group in write.logged.before { _ = try handle.log([group.event], group.keys, isSynced: true) }
    let fresh: OpenFile
    // Readers of this handle may find the new file before this thread stores its state.
    handle.loaded.withLock { $0.expect(next, after: unlocked, changing: write.changes) }
    do throws(VaultError) { fresh = try replacement.replace(status, with: bytes) } catch {
      if error.code == .durabilityUnknown {
        lock.pass(to: nil)
      } else {
        handle.loaded.withLock { $0.expect(nil, after: unlocked) }
      }
      throw error
    }
    checked.adopt(fresh)
    checked.dropImage()
    for group in write.logged.after {
      // The write is durable. The next event under the new key takes the place of this one.
      do throws(VaultError) { _ = try handle.log([group.event], group.keys, isSynced: true) } catch {
        options.auditFailure?(error)
      }
    }
    recordForMark(checked)
    handle.loaded.withLock { $0.replace(checked, since: unlocked) }
    lock.pass(to: fresh.descriptor)
    mayAppend = true
  }
}
