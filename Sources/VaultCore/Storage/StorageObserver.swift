internal import DurableFiles
internal import Synchronization

/// Calls an observer of a storage, such as ``MemoryStorage``, on a helper thread, one call at a time. Changes during a
/// call lead to one more.
package final class StorageObserver: Sendable {
  private struct State {
    var isPending = false
    var isRunning = false
    var isEnded = false
  }

  private let state = Mutex(State())
  private let body: @Sendable () -> Void

  package init(_ body: @escaping @Sendable () -> Void) { self.body = body }

  package func notify() {
    let starts = state.withLock { state in
      state.isPending = true
      defer { state.isRunning = true }
      return !state.isRunning
    }
    if starts { HelperThread.run { [self] in while next() { body() } } }
  }

  package func end() { state.withLock { $0.isEnded = true } }

  private func next() -> Bool {
    state.withLock { state in
      state.isRunning = state.isPending && !state.isEnded
      state.isPending = false
      return state.isRunning
    }
  }
}
