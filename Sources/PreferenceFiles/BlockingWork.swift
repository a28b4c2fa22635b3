import DurableFiles
import Preferences

/// Runs work that blocks, such as a write to a disk, outside the cooperative thread pool: for the `async` form of
/// `PreferencesStore.apply(_:)`.
public enum BlockingWork {
  /// Runs `body` on a new thread and returns its result. `body` does not have the task's local values, and cancellation
  /// does not stop it.
  ///
  /// - Throws: what `body` throws; `unavailable` if no thread can be created.
  public static func run<Product: Sendable>(_ body: @escaping @Sendable () throws -> Product) async throws -> Product {
    try await withCheckedThrowingContinuation { continuation in
      let hasStarted = HelperThread.start { continuation.resume(with: Result { try body() }) }
      if !hasStarted {
        continuation.resume(throwing: PreferencesError(.unavailable, "the system gives no thread to write in"))
      }
    }
  }
}
