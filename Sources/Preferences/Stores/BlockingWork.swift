import DurableFiles

/// Work that blocks, such as a write to a disk, away from the threads of the cooperative pool: for the `async` form of
/// `PreferencesStore.apply(_:)`.
public enum BlockingWork {
  /// Runs `body` on a thread of its own and returns what it returns. Task-local values do not reach it, and cancellation does
  /// not end it.
  ///
  /// - Throws: what `body` throws; ``PreferencesError/Code/unavailable`` when the system gives no thread.
  public static func run<Product: Sendable>(_ body: @escaping @Sendable () throws -> Product) async throws -> Product {
    try await withCheckedThrowingContinuation { continuation in
      let hasStarted = HelperThread.start { continuation.resume(with: Result { try body() }) }
      if !hasStarted {
        continuation.resume(throwing: PreferencesError(.unavailable, "the system gives no thread to write in"))
      }
    }
  }
}
