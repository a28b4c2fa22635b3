import Glibc

/// Work that blocks, such as a write to a disk, away from the threads of the cooperative pool: for the `async` form of
/// `PreferencesStore.apply(_:)`.
public enum BlockingWork {
  private final class Work: Sendable {
    let body: @Sendable () -> Void
    init(_ body: @escaping @Sendable () -> Void) { self.body = body }
  }

  /// Runs `body` on a thread of its own and returns what it returns. Task-local values do not reach it, and cancellation does
  /// not end it.
  ///
  /// - Throws: what `body` throws; ``PreferencesError/Code/unavailable`` when the system gives no thread.
  public static func run<Product: Sendable>(_ body: @escaping @Sendable () throws -> Product) async throws -> Product {
    try await withCheckedThrowingContinuation { continuation in
      let hasStarted = start { continuation.resume(with: Result { try body() }) }
      if !hasStarted {
        continuation.resume(throwing: PreferencesError(.unavailable, "the system gives no thread to write in"))
      }
    }
  }

  private static func start(_ body: @escaping @Sendable () -> Void) -> Bool {
    let work = Unmanaged.passRetained(Work(body))
    var thread = pthread_t()
    let failed = pthread_create(
      &thread, nil,
      { work in
        Unmanaged<Work>.fromOpaque(work!).takeRetainedValue().body()
        return nil
      }, work.toOpaque())
    guard failed == 0 else {
      work.release()
      return false
    }
    pthread_detach(thread)
    return true
  }
}
