import Hummingbird
import NIOCore
import NIOPosix
import ServiceLifecycle
import Synchronization

/// A timer on each event loop that measures how late it runs: a loop that is blocked by a call makes its timer late by
/// as much.
final class LoopDelay: Service {
  struct Report: ResponseCodable {
    var samples: Int
    var p50_us: Int64
    var p99_us: Int64
    var max_us: Int64
  }

  private struct State {
    var due: [NIODeadline]
    var delays: [Int64] = []
  }

  private static let interval = TimeAmount.milliseconds(5)
  private let loops = Array(MultiThreadedEventLoopGroup.singleton.makeIterator())
  private let state: Mutex<State>

  init() { state = Mutex(State(due: Array(repeating: .now() + Self.interval, count: loops.count))) }

  /// The delays since the last report, of all loops.
  func report() -> Report {
    let sorted = state.withLock { state in
      defer { state.delays = [] }
      return state.delays.sorted()
    }
    func at(_ share: Double) -> Int64 { sorted.isEmpty ? 0 : sorted[Int(Double(sorted.count - 1) * share)] }
    return Report(samples: sorted.count, p50_us: at(0.5), p99_us: at(0.99), max_us: at(1))
  }

  func run() async throws {
    let timers = loops.indices.map { index in
      state.withLock { $0.due[index] = .now() + Self.interval }
      return loops[index].scheduleRepeatedTask(initialDelay: Self.interval, delay: Self.interval) { [self] _ in
        state.withLock { state in
          state.delays.append((NIODeadline.now() - state.due[index]).nanoseconds / 1000)
          // The next run is due an interval after this one ends.
          state.due[index] = .now() + Self.interval
        }
      }
    }
    defer { for timer in timers { timer.cancel() } }
    try await gracefulShutdown()
  }
}
