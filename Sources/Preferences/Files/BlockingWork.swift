internal import DurableFiles

/// Runs work that blocks, such as a write to a disk, outside the cooperative thread pool: for the `async` form of
/// `PreferencesStore.apply(_:)`.
public enum BlockingWork {
  /// Runs `body` on a helper thread and returns its result. `body` has the task's local values, and cancellation does
  /// not stop it. At most 64 calls run at the same time, and others wait, so `body` must not wait for other calls.
  ///
  /// The same applies to closures that the `async` forms of this package call on these threads: observers, migrations
  /// and ways to unlock.
  ///
  /// - Throws: what `body` throws.
  public static func run<Product: Sendable>(_ body: @Sendable () throws -> Product) async throws -> Product {
    try await HelperPool.waiting.run(body)
  }
}
