internal import DurableFiles
internal import Synchronization

/// Makes rounds of work that several threads request, one at a time and never more than needed.
///
/// A request makes one round on its thread, unless a round is in progress, and further rounds only for requests that
/// the round itself makes, such as a write by an observer. The rounds that other threads request in the meantime are
/// made by a helper thread, so that no call works for others without end. It has the task-local values of that call.
///
/// The owner is passed to each round, so that a request makes no closure.
final class Rounds<Owner: AnyObject & Sendable>: Sendable {
  private struct State {
    var isRunning: Bool
    /// The thread that makes the round in progress.
    var thread: pthread_t?
    var isRequested = false
    /// Whether a round in progress has made a request.
    var isRequestedWithin = false

    mutating func begin(on thread: pthread_t) {
      isRunning = true
      self.thread = thread
      isRequested = false
      isRequestedWithin = false
    }
  }

  private enum Turn { case round, end, handOver }

  /// More rounds of one call than this are made by a helper thread, even if each requests the next.
  private static var limit: Int { 100 }

  private let state: Mutex<State>
  private let round: @Sendable (Owner) -> Void

  /// - Parameters:
  ///   - awaitsFirst: whether requests wait for ``makeFirst(_:)``.
  ///   - round: called with no lock held, by one thread at a time.
  init(awaitsFirst: Bool = false, _ round: @escaping @Sendable (Owner) -> Void) {
    state = Mutex(State(isRunning: awaitsFirst))
    self.round = round
  }

  /// Makes the first round, on the calling thread.
  func makeFirst(_ owner: Owner) {
    let thread = pthread_self()
    state.withLock { $0.begin(on: thread) }
    run(owner, on: thread)
  }

  /// Requests a round that begins after this call has begun.
  func request(_ owner: Owner) {
    let thread = pthread_self()
    let begins = state.withLock { state in
      guard state.isRunning else {
        state.begin(on: thread)
        return true
      }
      state.isRequested = true
      if state.thread == thread { state.isRequestedWithin = true }
      return false
    }
    if begins { run(owner, on: thread) }
  }

  /// Makes the round that has begun, and those that are requested meanwhile.
  private func run(_ owner: Owner, on thread: pthread_t, isHelper: Bool = false) {
    var count = 0
    while true {
      round(owner)
      count += 1
      switch turn(count, on: thread, isHelper: isHelper) {
      case .round: continue
      case .end: return
      case .handOver: return handOver(owner)
      }
    }
  }

  private func handOver(_ owner: Owner) {
    Task(executorPreference: HelperPool.notifying) { [self] in
      let thread = pthread_self()
      state.withLock { $0.begin(on: thread) }
      run(owner, on: thread, isHelper: true)
    }
  }

  /// - Parameter count: The number of rounds so far.
  private func turn(_ count: Int, on thread: pthread_t, isHelper: Bool) -> Turn {
    state.withLock { state in
      state.thread = nil
      guard state.isRequested else {
        state.isRunning = false
        return .end
      }
      guard isHelper || state.isRequestedWithin && count < Self.limit else { return .handOver }
      state.begin(on: thread)
      return .round
    }
  }
}
