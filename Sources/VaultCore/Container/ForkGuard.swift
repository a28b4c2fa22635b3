internal import CVaultSystem
internal import Glibc
internal import Synchronization

/// Knows in no time, and without a system call, whether a handle was made by a process that this one was forked from.
///
/// Two processes with one handle would draw the same nonces and fight over one lock, so the child's copy refuses
/// (`Docs/Format.md` section 8). A handle that the child opens itself works.
struct ForkGuard: Sendable {
  private struct Page: @unchecked Sendable { let owner: UnsafeMutablePointer<Atomic<Int>>? }

  // One page for the process, zero again in a child. Where the kernel has no such pages, the check always passes.
  private static let page = Page(
    owner: csystem_wiped_on_fork().map { $0.bindMemory(to: Atomic<Int>.self, capacity: 1) })

  private let owner: Int

  /// Belongs to this process.
  init() {
    guard let page = Self.page.owner else {
      owner = 0
      return
    }
    if page.pointee.load(ordering: .relaxed) == 0 { page.pointee.store(Int(getpid()), ordering: .relaxed) }
    owner = page.pointee.load(ordering: .relaxed)
  }

  func check() throws(VaultError) {
    guard let page = Self.page.owner, page.pointee.load(ordering: .relaxed) != owner else { return }
    throw VaultError(.locked, "this vault was opened before a fork; open it anew in the child")
  }
}
