internal import CDurableFiles

/// The exclusive advisory lock of a file (`flock`).
extension Descriptor {
  /// Takes the lock if no other process holds it.
  package func tryLock() throws(Failure) -> Bool {
    if retrying({ flock(raw, LOCK_EX | LOCK_NB) }) == 0 { return true }
    guard errno == EWOULDBLOCK else { throw Failure(.lock, path, errno: errno) }
    return false
  }

  /// Whether the file must be open for writing to be locked, as on some network file systems. Otherwise the lock is
  /// taken if it is free.
  package func lockNeedsWriting() -> Bool { retrying { flock(raw, LOCK_EX | LOCK_NB) } != 0 && errno == EBADF }

  /// Takes the lock. Waits until no other process holds it.
  package func lock() throws(Failure) {
    guard retrying({ flock(raw, LOCK_EX) }) == 0 else { throw Failure(.lock, path, errno: errno) }
  }

  /// Takes the lock. Returns `false` if another process still holds it at the deadline.
  ///
  /// A separate thread waits in the kernel's queue and ends with the wait. Polling is not cheaper: it takes the
  /// processor from the process that holds the lock, and can starve under load (`Docs/Decisions/0050`).
  package func lock(until deadline: Deadline) throws(Failure) -> Bool {
    if try tryLock() { return true }
    let remaining = deadline.remaining
    guard remaining > .zero else { return false }
    let end = timespec(after: remaining)
    switch cfiles_lock_until(raw, end.tv_sec, end.tv_nsec) {
    case 0: return true
    case CFILES_NO_THREAD:
      // Polls. Other processes may get the lock first, but the wait ends at the deadline.
      var pause: UInt32 = 100
      repeat {
        usleep(pause)
        if try tryLock() { return true }
        pause = min(pause * 2, 5_000)
      } while deadline.remaining > .zero
      return false
    case ETIMEDOUT:
      unlock()  // the kernel may have granted the lock while the thread ended
      return false
    case let error: throw Failure(.lock, path, errno: error)
    }
  }

  /// Releases the lock before the descriptor is closed, because an inherited duplicate would keep it.
  package func unlock() { flock(raw, LOCK_UN) }
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
