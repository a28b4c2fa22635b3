internal import CDurableFiles
internal import Synchronization

/// Whether a path is on a file system that reports all changes to this system. One of a network, or of a program,
/// does not report what others change.
func reportsChanges(_ path: String) -> Bool { unsafe cfiles_reports_changes(path) != 0 }

/// Calls a closure every two seconds while it is needed.
final class Polling: Sendable {
  private static let interval: useconds_t = 2_000_000

  private struct State {
    var isNeeded = false
    var isEnded = false
    var isRunning = false
  }

  private let state = Mutex(State())
  private let look: @Sendable () -> Void

  /// - Parameter look: must not wait.
  init(_ look: @escaping @Sendable () -> Void) { self.look = look }

  /// Calls the closure from time to time from now on, or does not. Does nothing after ``end()``.
  func need(_ isNeeded: Bool) {
    let begins = state.withLock { state in
      state.isNeeded = isNeeded && !state.isEnded
      guard state.isNeeded, !state.isRunning else { return false }
      state.isRunning = true
      return true
    }
    if begins, !HelperThread.start({ [self] in run() }) { state.withLock { $0.isRunning = false } }
  }

  /// Ends for good: what looks at the path may be under way, and say afterwards that it is needed.
  func end() {
    state.withLock { state in
      state.isEnded = true
      state.isNeeded = false
    }
  }

  private func run() {
    while true {
      usleep(Self.interval)
      let isNeeded = state.withLock { state in
        state.isRunning = state.isNeeded
        return state.isNeeded
      }
      guard isNeeded else { return }
      look()
    }
  }
}
