import DurableFiles
import Preferences
import Synchronization

/// Runs closures that block on a separate thread, outside the cooperative pool.
enum OwnThread {
  /// Returns the result of `work`. A task that is cancelled meanwhile continues at once; `work` can check whether its
  /// result is still wanted, which is then discarded.
  ///
  /// - Throws: the error of `work`, `CancellationError`, and `unreachable` if the system provides no thread.
  static func run<Product: Sendable>(
    _ work: @escaping @Sendable (_ isWanted: @escaping @Sendable () -> Bool) throws -> Product
  ) async throws -> Product {
    let caller = WaitingCaller<Product>()
    return try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        guard caller.waits(continuation) else { return continuation.resume(throwing: CancellationError()) }
        let hasStarted = HelperThread.start { caller.goOn(Result { try work { caller.isWaiting } }) }
        if !hasStarted { caller.goOn(.failure(PreferencesError(.unreachable, "there is no thread to load in"))) }
      }
    } onCancel: {
      caller.goOn(.failure(CancellationError()))
    }
  }
}

/// A caller that is resumed once: with a product, a failure or a cancellation.
private final class WaitingCaller<Product: Sendable>: Sendable {
  private enum State {
    case notYet
    case waiting(CheckedContinuation<Product, any Error>)
    case gone
  }

  private let state = Mutex(State.notYet)

  /// - Returns: `false` if the caller does not wait any more.
  func waits(_ continuation: CheckedContinuation<Product, any Error>) -> Bool {
    state.withLock { state in
      guard case .notYet = state else { return false }
      state = .waiting(continuation)
      return true
    }
  }

  var isWaiting: Bool {
    state.withLock { state in
      if case .waiting = state { true } else { false }
    }
  }

  func goOn(_ result: Result<Product, any Error>) {
    let continuation: CheckedContinuation<Product, any Error>? = state.withLock { state in
      defer { state = .gone }
      if case .waiting(let continuation) = state { return continuation } else { return nil }
    }
    continuation?.resume(with: result)
  }
}
