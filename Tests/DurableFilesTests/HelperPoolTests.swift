import DurableFiles
import Foundation
import Synchronization
import Testing

/// Calls that block, in an `async` context.
struct HelperPoolTests {
  /// More calls than the cooperative pool has threads.
  private let many = ProcessInfo.processInfo.activeProcessorCount + 4
}

extension HelperPoolTests {
  enum Place { @TaskLocal static var name = "nowhere" }

  actor Counter {
    private(set) var count = 0
    func add() { count += 1 }
    func wait(in pool: HelperPool, for gate: Gate<Bool>, opening begun: Gate<Bool>) async -> Bool {
      await pool.run {
        begun.open(true)
        return gate.wait()
      }
    }
  }

  @Test func `a call has the task's local values`() async {
    let place = await Place.$name.withValue("here") { await HelperPool(limit: 1).run { Place.name } }
    #expect(place == "here")
  }

  @Test func `a caller gets the error of the call, with its type`() async {
    var errno: Int32?
    do throws(Failed) {
      try await HelperPool(limit: 1).run { () throws(Failed) in throw Failed(.examine, "file", errno: EIO) }
    } catch { errno = error.errno }
    #expect(errno == EIO)
  }

  @Test func `a caller on an actor is there again when the call returns`() async {
    let isThere = await Task { @MainActor in
      let isMain = await HelperPool(limit: 1).run { Thread.isMainThread }
      MainActor.assertIsolated()
      return !isMain
    }.value
    #expect(isThere)
  }

  @Test func `an actor serves other calls while one waits`() async {
    let (counter, begun, gate) = (Counter(), Gate<Bool>(), Gate<Bool>())
    async let waited = counter.wait(in: HelperPool(limit: 1), for: gate, opening: begun)
    await waitUntilOpen(begun)
    await counter.add()
    gate.open(true)
    #expect(await waited)
    #expect(await counter.count == 1)
  }

  @Test func `blocked calls stop no task, even if they are more than the cores`() async {
    let (pool, gates) = (HelperPool(limit: many), (0..<many).map { _ in Gate<Bool>() })
    let begun = Tally()
    await withTaskGroup { group in
      for gate in gates {
        group.addTask {
          let isOpen = await pool.run {
            begun.count.add(1, ordering: .relaxed)
            return gate.wait()
          }
          #expect(isOpen)
        }
      }
      // This task goes on only if the others block no thread of the cooperative pool.
      while begun.count.load(ordering: .relaxed) < many { await Task.yield() }
      for gate in gates { gate.open(true) }
    }
  }

  @Test func `a thousand calls run in the pool's threads and no more, each once`() async {
    let limit = 3
    let pool = HelperPool(limit: limit)
    let running = Running()
    let sum = await withTaskGroup(of: Int.self) { group in
      for number in 0..<1000 {
        group.addTask {
          await pool.run {
            running.calls.withLock { calls in
              calls.now += 1
              calls.most = max(calls.most, calls.now)
            }
            // All threads of the pool are in use at once before any call ends.
            while running.calls.withLock({ $0.most }) < limit { sched_yield() }
            sched_yield()
            running.calls.withLock { $0.now -= 1 }
            return number
          }
        }
      }
      return await group.reduce(0, +)
    }
    #expect(sum == 499_500)
    #expect(running.calls.withLock { $0.most } == limit)
  }

  @Test func `calls that wait for one resource delay no call for another`() async {
    let gate = Gates(160)
    await withTaskGroup { group in
      for number in 0..<160 {
        group.addTask { await HelperPool.waiting(for: "a busy file").run { gate.wait(number) } }
      }
      // Returns although the others wait for it.
      await HelperPool.waiting(for: "another file").run { gate.openAll() }
    }
  }

  /// Gates that are opened together.
  private final class Gates: Sendable {
    private let gates: [Gate<Bool>]
    init(_ count: Int) { gates = (0..<count).map { _ in Gate() } }
    func wait(_ number: Int) { _ = gates[number].wait() }
    func openAll() { for gate in gates { gate.open(true) } }
  }

  @Test func `a call of a cancelled task runs, and can see the cancellation`() async {
    let (pool, begun, gate) = (HelperPool(limit: 1), Gate<Bool>(), Gate<Bool>())
    let first = Task {
      await pool.run {
        begun.open(true)
        return gate.wait()
      }
    }
    // The pool's only thread is in use before the second call arrives.
    await waitUntilOpen(begun)
    let second = Task { await pool.run { Task.isCancelled } }
    first.cancel()
    second.cancel()
    gate.open(true)
    #expect(await first.value)
    #expect(await second.value)
  }
}

/// Waits without blocking a thread of the cooperative pool.
private func waitUntilOpen(_ gate: Gate<Bool>) async { _ = await HelperPool(limit: 1).run { gate.wait() } }

/// A number that several tasks change.
private final class Tally: Sendable { let count = Atomic(0) }

/// How many calls run, and ran at the same time.
private final class Running: Sendable { let calls = Mutex((now: 0, most: 0)) }
