internal import DurableFiles

/// The lock of the vault file at a path, which other processes may replace at any time (`Docs/Format.md` 9.2).
///
/// The descriptor stays open from one write to the next. Used by one thread at a time.
final class WriterLock: @unchecked Sendable {
  // Unchecked: its owner uses it alone, and passes it on when it is released.
  private let path: VaultPath
  private var descriptor: Descriptor?
  /// Whether the file had no name when it was opened. Watches of its folder do not see what is written through such a
  /// descriptor, so the next write opens the file again.
  private var isUnnamed = false

  init(_ path: VaultPath) { self.path = path }

  /// Locks the file that is at the path now. Tries once if the deadline has passed.
  /// - Throws: ``VaultError/Code/lockTimeout``, ``VaultError/Code/readOnly``, ``VaultError/Code/hardLinked``,
  ///   ``VaultError/Code/replaced``, ``VaultError/Code/notFound``, with nothing locked.
  func acquire(until deadline: Deadline) throws(VaultError) -> (file: Descriptor, status: stat) {
    while true {
      let file: Descriptor
      let isKnown = descriptor != nil
      if let descriptor { file = descriptor } else { file = try path.openForWriting() }
      descriptor = nil  // stored again once it is locked and still the vault's file
      try file.acquireLock(until: deadline)
      do throws(VaultError) {
        let status = try file.status()
        guard let named = try path.status() else { throw path.error(.notFound, "the vault was deleted") }
        if FileIdentity(named) == FileIdentity(status) {
          guard status.st_nlink <= 1 else {
            throw path.error(.hardLinked, "the file has several hard links, and writing would separate them")
          }
          guard status.st_nlink == 1 else {
            throw path.error(
              .replaced, "the original of this single-file mount was replaced; mount its directory instead")
          }
          descriptor = file
          isUnnamed = false
          return (file, status)
        }
        // Replaced while this process waited, or, if it is a known file, since the last write.
        guard isKnown || deadline.remaining > .zero else {
          throw path.error(.lockTimeout, "other processes keep replacing the file")
        }
        file.unlock()
      } catch {
        file.unlock()
        throw error
      }
    }
  }

  /// Releases the lock of the present file.
  func release() {
    if let descriptor { descriptor.unlock() }
    if isUnnamed { descriptor = nil }
  }

  /// Releases the old file and holds the new one, which is already locked; `nil` if it is unknown which of the two is
  /// in place.
  func pass(to fresh: Descriptor?) {
    release()
    descriptor = fresh
    isUnnamed = fresh != nil
  }
}
