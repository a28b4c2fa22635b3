internal import DurableFiles
internal import Synchronization

/// Counts what happens on several threads.
final class StorageTally: Sendable {
  private let number = Atomic(0)

  var count: Int { number.load(ordering: .sequentiallyConsistent) }
  func add() { number.add(1, ordering: .sequentiallyConsistent) }

  /// Waits until there are more than `count`. In a cancelled task, no longer than a second.
  func wait(over count: Int) async -> Bool {
    var rounds = 0
    while self.count <= count {
      if Task.isCancelled, rounds > 100 { return false }
      rounds += 1
      await BlockingStorage.pause()
    }
    return true
  }
}

/// Runs calls that block outside the cooperative threads.
enum BlockingStorage {
  static func run<R: Sendable>(_ body: @Sendable () throws -> R) async throws -> R {
    try await HelperPool.waiting.run(body)
  }

  /// Waits for ten milliseconds, also in a cancelled task.
  static func pause() async { await HelperPool.waiting.run { _ = usleep(10_000) } }
}
