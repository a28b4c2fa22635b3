import Foundation

/// The lock of a vault's log, held as if by a different process until it is released.
package final class HeldLog: Sendable {
  package struct Failure: Error {}

  private let raw: CInt

  /// - Parameter path: the vault's file, beside which the log of its one group is.
  package init(beside path: String) throws {
    let folder = (path as NSString).deletingLastPathComponent
    let names = try FileManager.default.contentsOfDirectory(atPath: folder).filter { $0.contains(".audit-") }
    guard let name = names.first else { throw Failure() }
    raw = open("\(folder)/\(name)", O_RDWR | O_CLOEXEC)
    guard raw >= 0, flock(raw, LOCK_EX) == 0 else { throw Failure() }
  }

  package func release() { flock(raw, LOCK_UN) }
  deinit { close(raw) }

  /// More calls than the cooperative pool has threads.
  package static var callCount: Int { ProcessInfo.processInfo.activeProcessorCount + 4 }

  /// Makes so many calls at once that all wait for the log's lock, and releases it in a task that begins later. If the
  /// calls take all cooperative threads, that task does not run, and each call fails with `lockTimeout`.
  package static func withCalls(
    beside path: String, _ call: @escaping @Sendable (_ number: Int) async throws -> Void
  ) async throws {
    let lock = try HeldLog(beside: path)
    try await withThrowingTaskGroup(of: Void.self) { group in
      for number in 0..<callCount { group.addTask { try await call(number) } }
      try await Task.sleep(for: .milliseconds(100))
      group.addTask { lock.release() }
      try await group.waitForAll()
    }
  }
}
