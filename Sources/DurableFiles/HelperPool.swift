internal import Synchronization

/// Runs calls that block on a limited number of helper threads, so that an `async` function can wait for them without
/// blocking a thread of the cooperative pool or its actor.
///
/// The call belongs to its task: it has the task's local values and can see its cancellation, which does not stop it.
/// Calls beyond the limit wait in order. A thread that finds no call ends. Do not use a pool in a forked child, which
/// inherits the number of threads but not the threads.
package final class HelperPool: TaskExecutor {
  /// For calls that wait for something that has no name, such as a person. A waiting thread costs little.
  package static let waiting = HelperPool(limit: 64)

  /// For notifications, each on its own thread: an observer may wait for another one.
  package static let notifying = HelperPool(limit: .max)

  private struct Weak { weak var pool: HelperPool? }
  private static let named = Mutex<[String: Weak]>([:])

  /// The pool of the calls that wait for one resource, such as a file or its lock. Calls that wait for one resource
  /// take no thread from those that wait for another. A pool exists as long as a call uses it.
  package static func waiting(for resource: String) -> HelperPool {
    named.withLock { named in
      if let pool = named[resource]?.pool { return pool }
      let pool = HelperPool(limit: 16, name: resource)
      named[resource] = Weak(pool: pool)
      return pool
    }
  }

  /// For the derivation of keys from passphrases. A calibrated cost takes up to a quarter of the memory
  /// (`Docs/Format.md` 5.5), so two derivations take up to half.
  package static let deriving = HelperPool(limit: 2)

  private struct State {
    var threads = 0
    var jobs = WaitingLine<UnownedJob>()
  }

  private let state = Mutex(State())
  private let limit: Int
  private let name: String?

  /// - Parameter limit: the maximum number of threads.
  package convenience init(limit: Int) { self.init(limit: limit, name: nil) }

  private init(limit: Int, name: String?) {
    self.limit = limit
    self.name = name
  }

  deinit {
    guard let name else { return }
    // A new pool may have the name already. It is released with no lock held, because its end takes this lock, too.
    let newer = Self.named.withLock { named in
      let newer = named[name]?.pool
      if newer == nil { named[name] = nil }
      return newer
    }
    withExtendedLifetime(newer) {}
  }

  /// Returns the result of `body`, which must not wait for other calls of the same pool.
  package func run<R: Sendable, E: Error>(_ body: @Sendable () throws(E) -> R) async throws(E) -> R {
    try await withTaskExecutorPreference(self) { () async throws(E) -> R in try await Self.offActor(body) }
  }

  /// Only a concurrent function uses the preferred executor if the caller is an actor.
  @concurrent private static func offActor<R: Sendable, E: Error>(
    _ body: @Sendable () throws(E) -> R
  ) async throws(E) -> R { try body() }

  package func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    let hasThread = state.withLock { state in
      // Under the lock, so that every thread that is counted exists.
      if state.threads < limit, HelperThread.start(work) { state.threads += 1 }
      guard state.threads > 0 else { return false }
      state.jobs.append(job)
      return true
    }
    // If the system provides no thread, the existing ones run the job later. If there are none, the calling thread runs
    // this job and no other. It may be a thread of the cooperative pool, but blocking it is better than a call that
    // never returns.
    if !hasThread { unsafe job.runSynchronously(on: asUnownedTaskExecutor()) }
  }

  private func work() {
    while let job = next() { unsafe job.runSynchronously(on: asUnownedTaskExecutor()) }
  }

  private func next() -> UnownedJob? {
    state.withLock { state in
      let job = state.jobs.popFirst()
      if job == nil { state.threads -= 1 }
      return job
    }
  }
}
