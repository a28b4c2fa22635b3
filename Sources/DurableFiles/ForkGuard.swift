internal import Synchronization

/// Detects, without a system call, that an object was created by a process from which this one was forked.
@safe package struct ForkGuard: Sendable {
  @safe private struct Page: @unchecked Sendable { let process: UnsafeMutablePointer<Atomic<Int>>? }

  // A page that is zero in a forked child.
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

  /// A number that differs between a process and its forked child.
  private static var process: Int {
    guard let process = unsafe page.process else { return Int(getpid()) }  // the system has no such pages
    let known = unsafe process.pointee.load(ordering: .relaxed)
    if known != 0 { return known }
    // The time, not the process id, because a child in a different namespace may have its parent's id.
    var now = timespec()
    unsafe clock_gettime(CLOCK_MONOTONIC, &now)
    let fresh = max(now.tv_sec * 1_000_000_000 + now.tv_nsec, 1)
    let (isFirst, other) = unsafe process.pointee.compareExchange(expected: 0, desired: fresh, ordering: .relaxed)
    return isFirst ? fresh : other
  }

  private let owner: Int

  /// A guard that belongs to this process.
  package init() { owner = Self.process }

  /// Whether this process created the guard.
  package var isOwn: Bool { owner == Self.process }
}
