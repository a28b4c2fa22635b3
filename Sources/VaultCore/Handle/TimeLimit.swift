internal import Synchronization

/// A limit after which a vault locks. The time starts again with each call of ``start()``.
final class TimeLimit: Sendable {
  private let limit: Duration
  /// The time since this object was created, on the injected clock.
  private let elapsed: @Sendable () -> Duration
  private let sleep: @Sendable (Duration) async throws -> Void
  private let begin = Mutex(Duration.zero)
  private let watcher = Mutex<Task<Void, Never>?>(nil)

  init(_ limit: Duration, clock: some Clock<Duration>) {
    self.limit = limit
    let start = clock.now
    elapsed = { start.duration(to: clock.now) }
    sleep = { try await clock.sleep(until: clock.now.advanced(by: $0), tolerance: nil) }
  }

  deinit { watcher.withLock { $0?.cancel() } }

  func start() {
    let now = elapsed()
    begin.withLock { $0 = now }
  }

  var isOver: Bool { rest <= .zero }

  private var rest: Duration { begin.withLock { $0 } + limit - elapsed() }

  /// Calls `body` when the limit is reached, until it returns `true`. Replaces an earlier watch.
  ///
  /// - Parameter body: the limit may have started again when it is called.
  func watch(_ body: @escaping @Sendable () -> Bool) {
    let task = Task { [weak self] in
      // No reference while sleeping, so that the vault can be released before its limit.
      while let (rest, sleep) = self.map({ ($0.rest, $0.sleep) }) {
        if rest <= .zero {
          if body() { return }
          await Task.yield()
        } else {
          do { try await sleep(rest) } catch { return }
        }
      }
    }
    watcher.withLock { old in
      old?.cancel()
      old = task
    }
  }
}
