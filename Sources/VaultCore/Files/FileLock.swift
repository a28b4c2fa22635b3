internal import CVaultSystem
internal import Glibc

/// The writer lock: `flock` on the vault file itself (`Docs/Format.md` 9.2).
enum FileLock {
  /// Takes the exclusive lock.
  /// - Throws: ``VaultError/Code/lockTimeout`` after `timeout`.
  ///
  /// A separate thread waits in the kernel's queue, because polling can starve under load. The thread ends with the
  /// wait.
  static func acquire(_ descriptor: Descriptor, timeout: Duration) throws(VaultError) {
    if try isGranted(descriptor) { return }
    let start = ContinuousClock.now
    let end = timespec(after: timeout)
    var thread = pthread_t()
    let argument = unsafe UnsafeMutableRawPointer(bitPattern: Int(descriptor.raw))
    guard unsafe pthread_create(&thread, nil, csystem_wait_for_lock, argument) == 0 else {
      return try poll(descriptor, for: timeout, since: start)
    }
    var answer: UnsafeMutableRawPointer?
    if unsafe csystem_join_until(thread, end.tv_sec, end.tv_nsec, &answer) != 0 {
      pthread_cancel(thread)
      unsafe pthread_join(thread, &answer)
    }
    switch Int(bitPattern: answer) {
    case 0: return
    case CSYSTEM_CANCELLED:
      release(descriptor)  // the kernel may have granted the lock while the thread ended
      throw Self.timeout(timeout)
    case let error: throw .io("flock", Int32(error))
    }
  }

  /// Waits by polling if the system provides no thread. Other processes may get the lock first, but the wait ends.
  private static func poll(
    _ descriptor: Descriptor, for timeout: Duration, since start: ContinuousClock.Instant
  ) throws(VaultError) {
    repeat {
      usleep(5_000)
      if try isGranted(descriptor) { return }
    } while ContinuousClock.now - start < timeout
    throw Self.timeout(timeout)
  }

  private static func isGranted(_ descriptor: Descriptor) throws(VaultError) -> Bool {
    if flock(descriptor.raw, LOCK_EX | LOCK_NB) == 0 { return true }
    guard errno == EWOULDBLOCK || errno == EINTR else { throw .io("flock") }
    return false
  }

  private static func timeout(_ timeout: Duration) -> VaultError {
    VaultError(.lockTimeout, "another process has held the writer lock for \(timeout)")
  }

  /// Releases the lock before the descriptor is closed, because an inherited duplicate would keep it.
  static func release(_ descriptor: Descriptor) { flock(descriptor.raw, LOCK_UN) }
}

extension timespec {
  /// The time `duration` from now on the monotonic clock, limited to about sixty years.
  fileprivate init(after duration: Duration) {
    self.init()
    unsafe clock_gettime(CLOCK_MONOTONIC, &self)
    let (seconds, attoseconds) = duration.components
    let nanoseconds = tv_nsec + Int(attoseconds / 1_000_000_000)
    tv_sec += Int(min(seconds, 1 << 31)) + nanoseconds / 1_000_000_000
    tv_nsec = nanoseconds % 1_000_000_000
  }
}
