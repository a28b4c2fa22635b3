internal import Synchronization

/// The guarded pages of sealers that were released, wiped, for the next sealers.
///
/// A page takes eight system calls to allocate and four to free, about 20 µs. Each load of a vault needs one, and so
/// does its first read (`Docs/Decisions/0006`).
enum SealerPages {
  /// One guarded page, as an object that a list can contain.
  @safe final class Page: @unchecked Sendable {
    // Unchecked: used by one sealer at a time.
    fileprivate let memory: SecretBytes
    /// The whole page. Valid while the object is alive.
    let bytes: UnsafeMutableRawBufferPointer

    fileprivate init() throws(VaultError) {
      var memory = try SecretBytes(count: SealerPages.pageCount)
      unsafe bytes = unsafe memory.withUnsafeMutableBytes { unsafe $0 }
      self.memory = memory
    }
  }

  // A multiple of 64 that leaves room for libsodium's canary in the same page.
  static let pageCount = 4032
  /// The maximum number of idle pages: what one vault needs. A page that the system has refused to lock is freed, so
  /// that the next sealer asks again.
  private static let mostIdle = 2

  private static let idle = Mutex<[Page]>([])

  /// Returns a page of zeros, which the caller owns until it calls ``release(_:)``.
  static func acquire() throws(VaultError) -> Page {
    let known = idle.withLock { pages in
      // Pages of a parent process are not locked in a forked child, so they are not used.
      pages.removeAll { !$0.memory.origin.isOwn }
      return pages.popLast()
    }
    return if let known { known } else { try Page() }
  }

  /// Wipes a page, and keeps or frees it.
  static func release(_ page: Page) {
    // In a forked child, a thread of the parent may hold the lock.
    guard page.memory.origin.isOwn else { return }
    unsafe wipe(page.bytes)
    guard page.memory.isLocked else { return }
    idle.withLock { pages in if pages.count < mostIdle { pages.append(page) } }
  }
}
