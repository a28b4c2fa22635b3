import Synchronization

/// A clock that advances when the test says so.
final class ManualClock: Clock, Sendable {
  struct Instant: InstantProtocol {
    let sinceStart: Duration
    func advanced(by duration: Duration) -> Instant { Instant(sinceStart: sinceStart + duration) }
    func duration(to other: Instant) -> Duration { other.sinceStart - sinceStart }
    static func < (a: Instant, b: Instant) -> Bool { a.sinceStart < b.sinceStart }
  }

  private struct State {
    var now = Duration.zero
    var sleepers: [Int: (deadline: Duration, continuation: CheckedContinuation<Void, any Error>)] = [:]
    var cancelled: Set<Int> = []
    var count = 0
    var whenAsked: (@Sendable () -> Void)?
  }

  private let state = Mutex(State())

  var minimumResolution: Duration { .zero }

  var now: Instant {
    let whenAsked = state.withLock { state in
      defer { state.whenAsked = nil }
      return state.whenAsked
    }
    whenAsked?()
    return Instant(sinceStart: state.withLock { $0.now })
  }

  /// Runs `body` at the next call of `now`, as another thread might.
  func whenNextAsked(_ body: @escaping @Sendable () -> Void) { state.withLock { $0.whenAsked = body } }

  /// The deadlines of the sleeping tasks, in order.
  var deadlines: [Duration] { state.withLock { $0.sleepers.values.map(\.deadline).sorted() } }

  /// Lets time pass and wakes the tasks whose deadline has passed.
  func advance(by duration: Duration) {
    let due = state.withLock { state in
      state.now += duration
      let due = state.sleepers.filter { $0.value.deadline <= state.now }
      for id in due.keys { state.sleepers[id] = nil }
      return due.values.map(\.continuation)
    }
    for continuation in due { continuation.resume() }
  }

  /// Lets time pass while the machine sleeps: no task is woken.
  func jump(by duration: Duration) { state.withLock { $0.now += duration } }

  func sleep(until deadline: Instant, tolerance: Duration?) async throws {
    let id = state.withLock { state in
      state.count += 1
      return state.count
    }
    try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        let answer = state.withLock { state -> Result<Void, any Error>? in
          if state.cancelled.remove(id) != nil { return .failure(CancellationError()) }
          if deadline.sinceStart <= state.now { return .success(()) }
          state.sleepers[id] = (deadline.sinceStart, continuation)
          return nil
        }
        if let answer { continuation.resume(with: answer) }
      }
    } onCancel: {
      let sleeper = state.withLock { state in
        let sleeper = state.sleepers.removeValue(forKey: id)
        if sleeper == nil { state.cancelled.insert(id) }
        return sleeper
      }
      sleeper?.continuation.resume(throwing: CancellationError())
    }
  }
}
