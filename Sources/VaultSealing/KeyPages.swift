internal import CVaultSodium
internal import DurableFiles
internal import Synchronization

/// Allocates blocks of 32 bytes in guarded pages that many keys share.
///
/// A separate page for each key would cost eight system calls to allocate and four to free, four entries in the
/// kernel's memory map, and one of the few pages that may be locked. A vault with a thousand access groups has
/// thousands of keys. So 126 keys share a page, and each is wiped when it is released.
enum KeyPages {
  /// One guarded page, with the blocks in use.
  @safe private final class Page: @unchecked Sendable {
    // Unchecked: accessed only under the lock. Each block has one owner.
    var bytes: SecretBytes
    var used: [Bool]

    init() throws(VaultError) {
      // Leaves room for libsodium's canary in the same page.
      bytes = try SecretBytes(count: 126 * SealingKey.count)
      used = [Bool](repeating: false, count: 126)
    }
  }

  private static let pages = Mutex<[Page]>([])

  /// Returns a zeroed block, which the caller owns until it calls ``release(_:)``.
  static func acquire() throws(VaultError) -> UnsafeMutableRawPointer {
    try unsafe pages.withLock { (pages) throws(VaultError) in
      // Pages of a parent process are not locked in a forked child, so they are not used.
      for page in pages where page.bytes.origin.isOwn {
        if let index = page.used.firstIndex(of: false) { return unsafe place(index, in: page) }
      }
      let page = try Page()
      pages.append(page)
      return unsafe place(0, in: page)
    }
  }

  /// Wipes and frees a block. A page without blocks in use is freed, unless it is the only one.
  static func release(_ place: UnsafeMutableRawPointer) {
    unsafe sodium_memzero(place, SealingKey.count)
    pages.withLock { pages in
      for (position, page) in pages.enumerated() where page.bytes.origin.isOwn {
        let offset = unsafe page.bytes.withUnsafeMutableBytes { unsafe place - $0.baseAddress! }
        guard (0..<page.bytes.count).contains(offset) else { continue }
        page.used[offset / SealingKey.count] = false
        if pages.count > 1, !page.used.contains(true) { pages.remove(at: position) }
        return
      }
    }
  }

  private static func place(_ index: Int, in page: Page) -> UnsafeMutableRawPointer {
    page.used[index] = true
    return unsafe page.bytes.withUnsafeMutableBytes { unsafe $0.baseAddress! + index * SealingKey.count }
  }
}
