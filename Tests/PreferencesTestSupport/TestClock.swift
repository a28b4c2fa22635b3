import Synchronization

/// A clock that stands still until a test moves it. Sleepers wake in the order of their deadlines.
package final class TestClock: Clock, Sendable {
  package struct Instant: InstantProtocol {
    package let sinceStart: Duration
    package func advanced(by duration: Duration) -> Instant { Instant(sinceStart: sinceStart + duration) }
    package func duration(to other: Instant) -> Duration { other.sinceStart - sinceStart }
    package static func < (a: Instant, b: Instant) -> Bool { a.sinceStart < b.sinceStart }
  }

  private struct State {
    var now = Duration.zero
    var sleepers: [(deadline: Duration, wake: AsyncStream<Never>.Continuation)] = []
  }

  private let state = Mutex(State())

  package init() {}

  package var minimumResolution: Duration { .zero }
  package var now: Instant { Instant(sinceStart: state.withLock { $0.now }) }

  /// Waits until this many sleep.
  package func sleep(of count: Int) async throws {
    while state.withLock({ $0.sleepers.count }) < count { try await Task.sleep(for: .milliseconds(1)) }
  }

  package func sleep(until deadline: Instant, tolerance: Duration?) async throws {
    let (stream, wake) = AsyncStream<Never>.makeStream()
    state.withLock { state in
      if deadline.sinceStart <= state.now { return wake.finish() }
      state.sleepers.append((deadline.sinceStart, wake))
    }
    for await _ in stream {}
    try Task.checkCancellation()
  }

  /// Moves the clock to the next deadline and wakes its sleeper. The clock stops at `limit`: then those who poll, up to
  /// 100 ms later, are woken without it.
  package func wakeNext(before limit: Duration) {
    state.withLock { state in
      guard let first = state.sleepers.map(\.deadline).min() else { return }
      if first <= limit { state.now = max(state.now, first) }
      let due = first <= limit ? state.now : limit + .milliseconds(100)
      for sleeper in state.sleepers where sleeper.deadline <= due { sleeper.wake.finish() }
      state.sleepers.removeAll { $0.deadline <= due }
    }
  }

  /// Moves the clock and wakes all whose deadline has come.
  package func advance(by duration: Duration) {
    state.withLock { state in
      state.now += duration
      for sleeper in state.sleepers where sleeper.deadline <= state.now { sleeper.wake.finish() }
      state.sleepers.removeAll { $0.deadline <= state.now }
    }
  }

  /// Runs `body`. Who sleeps is woken at once, as long as the clock does not pass `limit`.
  package func run<R: Sendable>(until limit: Duration, _ body: @escaping @Sendable () async throws -> R) async throws
    -> R
  {
    let driver = Task {
      while !Task.isCancelled {
        wakeNext(before: limit)
        try await Task.sleep(for: .milliseconds(1))
      }
    }
    defer { driver.cancel() }
    return try await body()
  }
}
