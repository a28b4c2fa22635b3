internal import CSystem

/// Knows in no time, and without a system call, whether this process was forked from the one that made a handle.
///
/// Two processes with one handle would draw the same nonces and fight over one lock, so the child's copy refuses
/// (`Docs/Format.md` section 8).
enum ForkGuard {
  private struct Mark: @unchecked Sendable { let byte: UnsafePointer<UInt8>? }

  // One page for the process, zero in a child. Where the kernel has no such pages, the check passes.
  private static let mark = Mark(byte: csystem_fork_mark().map { UnsafePointer($0) })

  /// Makes the page; called when a handle is made.
  static func arm() { _ = mark }

  static func check() throws(VaultError) {
    guard let byte = mark.byte, byte.pointee == 0 else { return }
    throw VaultError(.locked, "this vault was opened before a fork; open it anew in the child")
  }
}
