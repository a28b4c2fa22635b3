internal import DurableFiles
internal import Synchronization

/// Makes rounds of work that several threads request, one at a time and never more than needed.
///
/// A request makes one round on its thread, unless a round is in progress, and further rounds only for requests that
/// the round itself makes, such as a write by an observer. The rounds that other threads request in the meantime are
/// made by a helper thread, so that no call works for others without end. It has the task-local values of that call.
final class Rounds: Sendable {
  private struct State {
    var isRunning: Bool
    var isRequested = false
    /// Whether a round in progress has made a request.
    var isRequestedWithin = false
  }

  private enum Turn { case round, end, handOver }

  /// More rounds of one call than this are made by a helper thread, even if each requests the next.
  private static let limit = 100

  @TaskLocal private static var inProgress: Set<ObjectIdentifier> = []

  private let state: Mutex<State>

  /// - Parameter awaitsFirst: whether requests wait for ``makeFirst(_:)``.
  init(awaitsFirst: Bool = false) { state = Mutex(State(isRunning: awaitsFirst)) }

  /// Makes the first round, on the calling thread.
  func makeFirst(_ round: @escaping @Sendable () -> Void) {
    state.withLock { $0.isRequested = true }
    run(round)
  }

  /// Requests a round that begins after this call has begun.
  ///
  /// - Parameter round: the same for each request. Called with no lock held, by one thread at a time.
  func request(_ round: @escaping @Sendable () -> Void) {
    let isWithin = Self.inProgress.contains(ObjectIdentifier(self))
    let begins = state.withLock { state in
      state.isRequested = true
      if isWithin { state.isRequestedWithin = true }
      defer { state.isRunning = true }
      return !state.isRunning
    }
    if begins { run(round) }
  }

  private func run(_ round: @escaping @Sendable () -> Void, isHelper: Bool = false) {
    // The rounds around a call that has handed over are in progress on its thread.
    let around = isHelper ? [] : Self.inProgress
    let handsOver = Self.$inProgress.withValue(around.union([ObjectIdentifier(self)])) {
      var count = 0
      while true {
        switch turn(count, isHelper: isHelper) {
        case .round: round()
        case .end: return false
        case .handOver: return true
        }
        count += 1
      }
    }
    if handsOver { Task(executorPreference: HelperPool.notifying) { [self] in run(round, isHelper: true) } }
  }

  private func turn(_ count: Int, isHelper: Bool) -> Turn {
    state.withLock { state in
      guard state.isRequested else {
        state.isRunning = false
        return .end
      }
      guard count == 0 || isHelper || state.isRequestedWithin && count < Self.limit else { return .handOver }
      state.isRequested = false
      state.isRequestedWithin = false
      return .round
    }
  }
}
