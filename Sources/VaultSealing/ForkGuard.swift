internal import Glibc
internal import Synchronization

/// Knows in no time, and without a system call, whether something was made by a process that this one was forked from.
@safe package struct ForkGuard: Sendable {
  @safe private struct Page: @unchecked Sendable { let process: UnsafeMutablePointer<Atomic<Int>>? }

  // One page for the process, zero again in a child. Where the kernel has no such pages, everything counts as our own.
  private static let page: Page = {
    let count = Int(getpagesize())
    guard let start = unsafe mmap(nil, count, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0),
      Int(bitPattern: start) != -1
    else { return unsafe Page(process: nil) }
    guard unsafe wipeOnFork(start, count) else {
      unsafe munmap(start, count)
      return unsafe Page(process: nil)
    }
    return unsafe Page(process: start.bindMemory(to: Atomic<Int>.self, capacity: 1))
  }()

  /// A number that no process shares with the one it was forked from; 0 where there is none.
  private static var process: Int {
    guard let process = unsafe page.process else { return 0 }
    let known = unsafe process.pointee.load(ordering: .relaxed)
    if known != 0 { return known }
    // The time, since a child may have its parent's number in another namespace.
    var now = timespec()
    unsafe clock_gettime(CLOCK_MONOTONIC, &now)
    let fresh = max(now.tv_sec * 1_000_000_000 + now.tv_nsec, 1)
    let (isFirst, other) = unsafe process.pointee.compareExchange(expected: 0, desired: fresh, ordering: .relaxed)
    return isFirst ? fresh : other
  }

  private let owner: Int

  /// Belongs to this process.
  package init() { owner = Self.process }

  /// Whether this very process made it.
  package var isOwn: Bool { owner == Self.process }

  /// Refuses what a forked child has of its parent's (`Docs/Format.md` section 8). Two processes with one handle would draw
  /// the same nonces and fight over one lock; keys are zero in the child, and zero is no key.
  package func check() throws(VaultError) {
    guard isOwn else {
      throw VaultError(.locked, "a vault, credential or key from before a fork; make it anew in the child")
    }
  }
}

/// Makes the pages that hold `count` bytes zero in a forked child; `false` where the kernel cannot.
@discardableResult
func wipeOnFork(_ start: UnsafeMutableRawPointer, _ count: Int) -> Bool {
  let before = Int(bitPattern: start) % Int(getpagesize())
  return unsafe madvise(start - before, before + count, MADV_WIPEONFORK) == 0
}
