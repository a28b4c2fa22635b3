import Foundation
import Glibc
import Synchronization
import Testing

@testable import VaultCore

/// Runs `body` once for each number below `count`, each on a thread of its own, and waits for all.
func onThreads(_ count: Int, _ body: @escaping @Sendable (Int) throws -> Void) throws {
  let first = Mutex<(any Error)?>(nil)
  let group = DispatchGroup()
  for number in 0..<count {
    group.enter()
    Thread.detachNewThread {
      defer { group.leave() }
      do { try body(number) } catch { first.withLock { $0 = $0 ?? error } }
    }
  }
  group.wait()
  if let error = first.withLock({ $0 }) { throw error }
}

/// A number that several tasks change.
final class Tally: Sendable { let count = Atomic(0) }

/// The writer lock of a vault or of a file, which another process may hold as well, until it is released.
final class ForeignLock: @unchecked Sendable {
  // Unchecked: a storage is locked by the thread that makes this, and released by one.
  private let raw: Int32
  private let vault: (any LockedStorage)?

  init(on path: String) throws {
    let storage = try stored(path)
    vault = storage is FileStorage ? nil : try storage.lock(until: LockDeadline(after: .seconds(600)))
    raw = vault == nil ? open(path, O_RDWR | O_CLOEXEC) : -1
    guard vault == nil else { return }
    try #require(raw >= 0)
    try #require(flock(raw, LOCK_EX) == 0)
  }

  func release() {
    vault?.release()
    flock(raw, LOCK_UN)
  }

  deinit {
    release()
    close(raw)
  }
}

/// The mode bits of a file, links not followed.
func mode(of path: String) throws -> mode_t { try FileBytes.status(path).st_mode & 0o7777 }

/// Changes mode bits.
func setMode(_ mode: mode_t, of path: String) throws { try #require(chmod(path, mode) == 0) }

let isRoot = geteuid() == 0

/// Runs `body` in a separate process (an exit test), in a directory of a user to whom permission bits apply,
/// with a path for a vault, and ends the process: 42 when `body` says that all was right.
func asUser(_ body: (_ directory: String, _ path: String) throws -> Bool) throws -> Never {
  var isRight = false
  try TemporaryDirectory.with { directory in
    if isRoot {
      chown(directory, 65534, 65534)
      setgid(65534)
      setuid(65534)
    }
    do { isRight = try body(directory, directory + "/vault.spv") } catch { print("refused: \(error)") }
    chmod(directory, 0o700)
  }
  exit(isRight ? 42 : 1)
}
