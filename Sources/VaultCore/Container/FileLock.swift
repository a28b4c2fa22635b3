internal import Glibc

/// The writer lock: `flock` on the vault file itself (`Docs/Format.md` 9.2).
enum FileLock {
  /// Takes the exclusive lock, or throws ``VaultError/Code/lockTimeout``.
  ///
  /// The wait stands in the kernel's queue, on a thread of its own: polling starves under load. When it is
  /// abandoned, the thread keeps the descriptor alive and lets the lock go as soon as it is granted.
  static func acquire(_ descriptor: Descriptor, timeout: Duration) throws(VaultError) {
    if flock(descriptor.raw, LOCK_EX | LOCK_NB) == 0 { return }
    guard errno == EWOULDBLOCK || errno == EINTR else { throw .io("flock") }
    let gate = Gate<Int32>()
    let claim = Claim()
    HelperThread.run {
      let failed = retrying { flock(descriptor.raw, LOCK_EX) } != 0
      let error = failed ? errno : 0
      if claim.take() { gate.open(error) } else if !failed { release(descriptor) }
    }
    if let error = gate.wait(atMost: timeout) {
      guard error == 0 else { throw .io("flock", error) }
    } else if claim.take() {
      throw VaultError(.lockTimeout, "another writer has held the lock for \(timeout)")
    } else if gate.wait() != 0 {  // granted at the last moment
      throw .io("flock")
    }
  }

  /// Lets the lock go before the descriptor is closed: an inherited duplicate would keep it.
  static func release(_ descriptor: Descriptor) { flock(descriptor.raw, LOCK_UN) }
}
