internal import CVaultSodium
internal import DurableFiles
internal import Synchronization

/// Allocates blocks of 32 bytes in guarded pages that many keys share.
///
/// A separate page for each key would cost seven system calls to allocate and four to free, four entries in the
/// kernel's memory map, and one of the few pages that may be locked. A vault with a thousand access groups has
/// thousands of keys. So 126 keys share a page, and each is wiped when it is released.
enum KeyPages {
  /// One guarded page, with the blocks in use.
  private struct Page: ~Copyable, @unchecked Sendable {
    // Unchecked: each block has one owner.
    var bytes: SecretBytes
    var taken: [Bool]

    init() throws(VaultError) {
      // Leaves room for libsodium's canary in the same page.
      bytes = try SecretBytes(count: 126 * SealingKey.count)
      taken = [Bool](repeating: false, count: 126)
    }
  }

  /// Owns a page, so that it can be in an array.
  private final class Shelf {
    var page: Page
    init() throws(VaultError) { page = try Page() }
  }

  @safe private struct Shelves: @unchecked Sendable {
    // Unchecked: accessed only under the lock.
    var all: [Shelf] = []
  }

  private static let shelves = Mutex(Shelves())

  /// Returns a zeroed block, which the caller owns until it calls ``giveBack(_:)``.
  static func take() throws(VaultError) -> UnsafeMutableRawPointer {
    try unsafe shelves.withLock { (shelves) throws(VaultError) in
      // Pages of a parent process are not locked in a forked child, so they are not used.
      for shelf in shelves.all where shelf.page.bytes.origin.isOwn {
        if let index = shelf.page.taken.firstIndex(of: false) { return unsafe place(index, in: shelf) }
      }
      let shelf = try Shelf()
      shelves.all.append(shelf)
      return unsafe place(0, in: shelf)
    }
  }

  /// Wipes and frees a block. A page without blocks in use is freed, unless it is the only one.
  static func giveBack(_ place: UnsafeMutableRawPointer) {
    unsafe sodium_memzero(place, SealingKey.count)
    shelves.withLock { shelves in
      for (position, shelf) in shelves.all.enumerated() where shelf.page.bytes.origin.isOwn {
        let offset = unsafe shelf.page.bytes.withUnsafeMutableBytes { unsafe place - $0.baseAddress! }
        guard (0..<shelf.page.bytes.count).contains(offset) else { continue }
        shelf.page.taken[offset / SealingKey.count] = false
        if shelves.all.count > 1, !shelf.page.taken.contains(true) { shelves.all.remove(at: position) }
        return
      }
    }
  }

  private static func place(_ index: Int, in shelf: Shelf) -> UnsafeMutableRawPointer {
    shelf.page.taken[index] = true
    return unsafe shelf.page.bytes.withUnsafeMutableBytes { unsafe $0.baseAddress! + index * SealingKey.count }
  }
}
