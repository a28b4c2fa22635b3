internal import Glibc

/// The lock of the vault file that the path names, whatever happens to that file meanwhile (`Docs/Format.md` 9.2).
///
/// Keeps the descriptor open from one write to the next. One thread at a time.
final class WriterLock {
  private let path: VaultPath
  private let timeout: Duration
  private var descriptor: Descriptor?

  init(_ path: VaultPath, timeout: Duration) { (self.path, self.timeout) = (path, timeout) }

  /// Locks the file that the path names now.
  /// - Throws: ``VaultError/Code/lockTimeout``, ``VaultError/Code/readOnly``, ``VaultError/Code/hardLinked``,
  ///   ``VaultError/Code/replaced``, ``VaultError/Code/notFound``; nothing is locked then.
  func acquire() throws(VaultError) -> (file: Descriptor, status: stat) {
    while true {
      let file: Descriptor
      if let descriptor { file = descriptor } else { file = try path.openForWriting() }
      descriptor = nil  // kept again when it is locked and still the vault's
      try FileLock.acquire(file, timeout: timeout)
      do throws(VaultError) {
        let status = try file.status()
        guard let named = try path.status() else { throw path.error(.notFound, "the vault was deleted") }
        if FileIdentity(named) == FileIdentity(status) {
          guard status.st_nlink <= 1 else {
            throw path.error(.hardLinked, "the file has several names, and writing would split them")
          }
          guard status.st_nlink == 1 else {
            throw path.error(.replaced, "the mounted file was replaced outside; mount its directory instead")
          }
          descriptor = file
          return (file, status)
        }
        FileLock.release(file)  // replaced while we waited
      } catch {
        FileLock.release(file)
        throw error
      }
    }
  }

  /// Lets the lock go, of whichever file holds it by now.
  func release() {
    if let descriptor { FileLock.release(descriptor) }
  }

  /// Passes from the old file to the one that took its place, which is locked already; nil when nobody knows which
  /// stands.
  func pass(to fresh: Descriptor?) {
    release()
    descriptor = fresh
  }
}
