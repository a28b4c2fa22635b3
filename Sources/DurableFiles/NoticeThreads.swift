internal import Synchronization

/// Runs the handlers of watches on a few threads, and on more of them if those that run do not return: a handler may
/// wait for another. A thread without work ends.
final class NoticeThreads: Sendable {
  private struct State {
    var handlers = WaitingLine<@Sendable () -> Void>()
    var threads = 0
    /// How many handlers have returned.
    var returned = 0
    /// The value of `returned` at the time of the last look, and that time.
    var seen: (returned: Int, at: ContinuousClock.Instant)?
  }

  /// As many threads as there may be without a look at the others.
  private static let few = 4
  /// After this time in which no handler has returned, there are twice as many threads. In milliseconds.
  static let patience: CInt = 20

  private let state = Mutex(State())

  /// Whether handlers wait for a thread: then call ``relieve()`` from time to time.
  var isBacklogged: Bool { state.withLock { !$0.handlers.isEmpty } }

  /// Runs `handler` soon. If the system provides no thread, runs it on the calling thread, which is better than
  /// silence.
  func run(_ handler: @escaping @Sendable () -> Void) {
    let isAlone = state.withLock { state in
      state.handlers.append(handler)
      guard state.threads < Self.few else { return false }
      start(1, &state)
      return state.threads == 0
    }
    if isAlone { while let handler = next(isThread: false) { handler() } }
  }

  /// Starts threads if none of the handlers that run has returned for a while.
  func relieve() {
    let now = ContinuousClock.now
    state.withLock { state in
      guard !state.handlers.isEmpty else { return state.seen = nil }
      guard let seen = state.seen, seen.returned == state.returned else { return state.seen = (state.returned, now) }
      guard seen.at.duration(to: now) >= .milliseconds(Int(Self.patience)) else { return }
      start(min(state.threads, state.handlers.count), &state)
      state.seen = (state.returned, now)
    }
  }

  private func start(_ count: Int, _ state: inout State) {
    for _ in 0..<count where HelperThread.start({ self.work() }) { state.threads += 1 }
  }

  private func work() {
    while let handler = next(isThread: true) {
      handler()
      state.withLock { $0.returned += 1 }
    }
  }

  private func next(isThread: Bool) -> (@Sendable () -> Void)? {
    state.withLock { state in
      if let handler = state.handlers.popFirst() { return handler }
      if isThread { state.threads -= 1 }
      return nil
    }
  }
}
