internal import CVaultSystem
internal import Glibc

/// The writer lock: `flock` on the vault file itself (`Docs/Format.md` 9.2).
enum FileLock {
  /// Takes the exclusive lock, or throws ``VaultError/Code/lockTimeout``.
  ///
  /// The wait stands in the kernel's queue, on a thread of its own, which ends with it: polling starves under load.
  static func acquire(_ descriptor: Descriptor, timeout: Duration) throws(VaultError) {
    if try isGranted(descriptor) { return }
    let start = ContinuousClock.now
    let end = timespec(after: timeout)
    var thread = pthread_t()
    let argument = UnsafeMutableRawPointer(bitPattern: Int(descriptor.raw))
    guard pthread_create(&thread, nil, csystem_wait_for_lock, argument) == 0 else {
      return try poll(descriptor, for: timeout, since: start)
    }
    var answer: UnsafeMutableRawPointer?
    if csystem_join_until(thread, end.tv_sec, end.tv_nsec, &answer) != 0 {
      pthread_cancel(thread)
      pthread_join(thread, &answer)
    }
    switch Int(bitPattern: answer) {
    case 0: return
    case CSYSTEM_CANCELLED:
      release(descriptor)  // the kernel may have granted it as the thread ended
      throw Self.timeout(timeout)
    case let error: throw .io("flock", Int32(error))
    }
  }

  /// Waits where the system gives no thread. Others may get ahead, but the wait ends.
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
    VaultError(.lockTimeout, "another writer has held the lock for \(timeout)")
  }

  /// Lets the lock go before the descriptor is closed: an inherited duplicate would keep it.
  static func release(_ descriptor: Descriptor) { flock(descriptor.raw, LOCK_UN) }
}

extension timespec {
  /// So long from now by the clock that setting the time does not move. More than some sixty years are sixty.
  fileprivate init(after duration: Duration) {
    self.init()
    clock_gettime(CLOCK_MONOTONIC, &self)
    let (seconds, attoseconds) = duration.components
    let nanoseconds = tv_nsec + Int(attoseconds / 1_000_000_000)
    tv_sec += Int(min(seconds, 1 << 31)) + nanoseconds / 1_000_000_000
    tv_nsec = nanoseconds % 1_000_000_000
  }
}
