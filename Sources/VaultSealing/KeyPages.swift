internal import CVaultSodium
internal import Synchronization

/// Places of 32 bytes in guarded pages that many keys share.
///
/// A page of its own for each key costs seven system calls to make and four to free, four entries in the kernel's map
/// of the process, and a page of the few that may be locked. A vault with a thousand access groups has thousands of
/// keys, so they share: 126 a page, each wiped as it goes.
enum KeyPages {
  /// One guarded page and which of its places are taken.
  private struct Page: ~Copyable, @unchecked Sendable {
    // Unchecked: handed out piece by piece, each piece to one owner.
    var bytes: SecretBytes
    var taken: [Bool]

    init() throws(VaultError) {
      // Room for libsodium's canary in the same page.
      bytes = try SecretBytes(count: 126 * SealingKey.count)
      taken = [Bool](repeating: false, count: 126)
    }
  }

  /// Owns a page, so that an array can hold it.
  private final class Shelf {
    var page: Page
    init() throws(VaultError) { page = try Page() }
  }

  @safe private struct Shelves: @unchecked Sendable {
    // Unchecked: touched under the lock alone.
    var all: [Shelf] = []
  }

  private static let shelves = Mutex(Shelves())

  /// A zeroed place, in nobody else's hands until it is given back.
  static func take() throws(VaultError) -> UnsafeMutableRawPointer {
    try unsafe shelves.withLock { (shelves) throws(VaultError) in
      // The pages of a parent that this process was forked from are not locked here, and do not come back.
      for shelf in shelves.all where shelf.page.bytes.origin.isOwn {
        if let index = shelf.page.taken.firstIndex(of: false) { return unsafe place(index, in: shelf) }
      }
      let shelf = try Shelf()
      shelves.all.append(shelf)
      return unsafe place(0, in: shelf)
    }
  }

  /// Wipes a place and gives it back. A page that is empty goes, unless it is the only one.
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
