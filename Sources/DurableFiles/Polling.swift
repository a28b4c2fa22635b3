#if os(Linux)
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
      var isRunning = false
    }

    private let state = Mutex(State())
    private let look: @Sendable () -> Void

    /// - Parameter look: must not wait.
    init(_ look: @escaping @Sendable () -> Void) { self.look = look }

    var isNeeded: Bool {
      get { state.withLock { $0.isNeeded } }
      set {
        let begins = state.withLock { state in
          state.isNeeded = newValue
          guard newValue, !state.isRunning else { return false }
          state.isRunning = true
          return true
        }
        if begins, !HelperThread.start({ [self] in run() }) { state.withLock { $0.isRunning = false } }
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
#endif
