import DurableFiles
import Foundation
import Glibc
import Synchronization
import Testing

@testable import VaultCore

extension EveryStorage {
  /// Many writers and readers at once. Handles of one process exclude each other as processes do, since the lock
  /// belongs to the open file.
  struct ConcurrencyTests {}
}

extension EveryStorage.ConcurrencyTests {
  private func withVault(
    reserve: Int = 32 << 10, _ body: (_ vault: Vault, _ path: String) throws -> Void
  ) throws {
    try TemporaryDirectory.with { directory in
      let path = directory + "/vault.spv"
      try body(try Vault.sample(at: path, options: .sample(reserve: reserve)), path)
    }
  }

  /// Repeats `body` on a thread of its own until `work` is done; the first error is thrown.
  private func meanwhile(
    _ readers: Int, _ body: @escaping @Sendable (Int) throws -> Void,
    _ work: @escaping @Sendable () throws -> Void
  ) throws {
    let isDone = Atomic<Bool>(false)
    try onThreads(readers + 1) { number in
      if number == readers {
        defer { isDone.store(true, ordering: .releasing) }
        try work()
      } else {
        while !isDone.load(ordering: .acquiring) { try body(number) }
      }
    }
  }

  @Test func `row 44: eight handles set fifty records each, and nothing is lost`() throws {
    try withVault { vault, path in
      let last = Mutex(0)
      try meanwhile(1) { _ in
        let count = try vault.allKeys().count
        last.withLock { last in
          #expect(count >= last)
          last = count
        }
      } _: {
        try onThreads(8) { writer in
          let handle = try Vault.opened(
            at: path, options: .sample(seed: "writer \(writer)", reserve: 32 << 10))
          for number in 0..<50 { try handle.set("\(writer) \(number)", forKey: "\(writer)-\(number)") }
        }
      }

      let fresh = try Vault.opened(at: path)
      #expect(try fresh.allKeys().count == 401)
      for writer in 0..<8 {
        for number in 0..<50 { #expect(try fresh.text("\(writer)-\(number)") == "\(writer) \(number)") }
      }
    }
  }

  @Test func `row J20: appenders and folders lose nothing, and readers never see an older state`() throws {
    try withVault { vault, path in
      let seen = Mutex([Int](repeating: 0, count: 3))
      try meanwhile(3) { reader in
        // Two readers refresh the same handle, one loads anew each time.
        let handle = reader < 2 ? vault : try Vault.opened(at: path)
        let text = try handle.text("counter 0") ?? "0"
        let value = try #require(Int(text))
        seen.withLock { seen in
          #expect(value >= seen[reader])
          seen[reader] = value
        }
      } _: {
        try onThreads(4) { writer in
          let handle = try Vault.opened(at: path, options: .sample(seed: "writer \(writer)", reserve: 4096))
          for number in 1...25 {
            try handle.set("\(number)", forKey: "counter \(writer)")
            if writer >= 2, number % 5 == 0 { try handle.fold(forKey: "long \(writer)") }
          }
        }
      }

      let fresh = try Vault.opened(at: path)
      for writer in 0..<4 { #expect(try fresh.text("counter \(writer)") == "25") }
      #expect(try fresh.status().generation > 1)
      #expect(try fresh.status().groups[0].generation >= 111)
    }
  }

  @Test func `sixty-four concurrent updates of one handle share few entries`() async throws {
    try await TemporaryDirectory.with { directory in
      let path = directory + "/vault.spv"
      let vault = try Vault.sample(at: path, options: .sample(reserve: 32 << 10))
      // While another descriptor holds the lock, the first write waits and the others gather.
      let (lock, begun) = (try ForeignLock(on: path), Tally())
      try await withThrowingTaskGroup(of: Void.self) { tasks in
        for number in 0..<64 {
          tasks.addTask {
            begun.count.add(1, ordering: .relaxed)
            try await vault.commit("value \(number)", forKey: "key-\(number)")
          }
        }
        while begun.count.load(ordering: .relaxed) < 64 { try await Task.sleep(for: .milliseconds(1)) }
        try await Task.sleep(for: .milliseconds(200))
        lock.release()
        try await tasks.waitForAll()
      }

      #expect(try vault.status().entryCount <= 16)
      #expect(try vault.status().generation == 1)
      let fresh = try Vault.opened(at: path)
      for number in 0..<64 { #expect(try fresh.text("key-\(number)") == "value \(number)") }
    }
  }

  @Test func `concurrent updates of one key each get an entry and a revision of their own`() async throws {
    try await TemporaryDirectory.with { directory in
      let vault = try Vault.sample(at: directory + "/vault.spv", options: .sample(reserve: 32 << 10))
      try await withThrowingTaskGroup(of: Void.self) { tasks in
        for number in 0..<16 { tasks.addTask { try await vault.commit("\(number)", forKey: "same") } }
        try await tasks.waitForAll()
      }

      #expect(try vault.status().entryCount == 16)
      #expect(try vault.records(in: vault.group()).last?.revision == 17)
    }
  }

  @Test func `synchronous and asynchronous writers share one handle`() async throws {
    try await TemporaryDirectory.with { directory in
      let path = directory + "/vault.spv"
      let vault = try Vault.sample(at: path, options: .sample(reserve: 32 << 10))
      async let blocking: Void = Task.detached {
        try onThreads(4) { writer in
          for number in 0..<20 { try vault.set("sync", forKey: "sync-\(writer)-\(number)") }
        }
      }.value
      try await withThrowingTaskGroup(of: Void.self) { tasks in
        for writer in 0..<4 {
          tasks.addTask {
            for number in 0..<20 { try await vault.commit("async", forKey: "async-\(writer)-\(number)") }
          }
        }
        try await tasks.waitForAll()
      }
      try await blocking

      #expect(try Vault.opened(at: path).allKeys().count == 161)
    }
  }

  @Test func `one refused change does not fail those that share its batch`() async throws {
    try await TemporaryDirectory.with { directory in
      let path = directory + "/vault.spv"
      var options = Vault.Options.sample(reserve: 32 << 10)
      options.limits.records = 2
      let vault = try Vault.sample(at: path, options: options)
      let lock = try ForeignLock(on: path)
      let codes = try await withThrowingTaskGroup(of: VaultError.Code?.self) { tasks in
        for number in 0..<8 {
          tasks.addTask {
            do throws(VaultError) { try await vault.commit("value", forKey: "key-\(number)") } catch {
              return error.code
            }
            return nil
          }
        }
        try await Task.sleep(for: .milliseconds(100))
        lock.release()
        return try await tasks.reduce(into: []) { $0.append($1) }
      }

      // Two records at most, and one was there.
      #expect(codes.count { $0 == .limitExceeded } == 7)
      #expect(codes.count { $0 == nil } == 1)
      #expect(try Vault.opened(at: path).allKeys().count == 2)
    }
  }

  @Test func `a write that waits too long for the lock is a lockTimeout, and a later one succeeds`() throws {
    try withVault { _, path in
      var options = Vault.Options.sample()
      options.lockTimeout = .milliseconds(200)
      let vault = try Vault.opened(at: path, options: options)
      let lock = try ForeignLock(on: path)
      let before = try VaultBytes.read(path)
      let start = ContinuousClock.now

      #expect(refusal { try vault.set("new", forKey: "password") } == .lockTimeout)
      #expect(ContinuousClock.now - start >= .milliseconds(200))
      #expect(try vault.text("password") == "s3cret")
      #expect(try VaultBytes.read(path) == before)
      lock.release()
      try vault.set("new", forKey: "password")
      #expect(try Vault.opened(at: path).text("password") == "new")
    }
  }

  @Test func `an abandoned wait does not keep the lock from others`() throws {
    try withVault { _, path in
      var options = Vault.Options.sample()
      options.lockTimeout = .milliseconds(50)
      let impatient = try Vault.opened(at: path, options: options)
      let lock = try ForeignLock(on: path)
      for _ in 0..<3 { #expect(refusal { try impatient.set("lost", forKey: "a") } == .lockTimeout) }
      lock.release()

      let patient = try Vault.opened(at: path)
      try patient.set("kept", forKey: "b")
      #expect(try patient.allKeys() == ["b", "password"])
    }
  }

  @Test(.filesOnly("an exit test, whose process has files alone"))
  func `waits that were given up leave neither threads nor descriptors`() async {
    await #expect(processExitsWith: .exitCode(42)) {
      var isRight = false
      try TemporaryDirectory.with { directory in
        let path = directory + "/vault.spv"
        var options = Vault.Options.sample()
        options.lockTimeout = .milliseconds(20)
        let vault = try Vault.sample(at: path, options: options)
        let lock = try ForeignLock(on: path)
        let attempt = { refusal { try vault.set("lost", forKey: "a") } == .lockTimeout }
        isRight = attempt()
        let before = (entries(of: "/proc/self/task"), entries(of: "/proc/self/fd"))
        for _ in 0..<20 { isRight = isRight && attempt() }
        let after = (entries(of: "/proc/self/task"), entries(of: "/proc/self/fd"))
        if before != after { print("threads and descriptors were \(before) and are \(after)") }
        isRight = isRight && before == after
        lock.release()
        try vault.set("kept", forKey: "a")
      }
      exit(isRight ? 42 : 1)
    }
  }

  @Test(.filesOnly("an exit test, whose process has files alone"))
  func `the wait for the lock ends in time where the system gives no thread`() async {
    await #expect(processExitsWith: .exitCode(42)) {
      alarm(120)
      try asUser { _, path in
        var options = Vault.Options.sample()
        options.lockTimeout = .milliseconds(200)
        let vault = try Vault.sample(at: path, options: options)
        let lock = try ForeignLock(on: path)
        var limit = rlimit(rlim_cur: 0, rlim_max: 0)
        try #require(setrlimit(__rlimit_resource_t(__RLIMIT_NPROC.rawValue), &limit) == 0)
        let start = ContinuousClock.now
        let code = refusal { try vault.set("new", forKey: "password") }
        let duration = ContinuousClock.now - start
        lock.release()
        try vault.set("later", forKey: "password")
        return try code == .lockTimeout && (.milliseconds(200)...(.seconds(60))).contains(duration)
          && vault.text("password") == "later"
      }
    }
  }

  @Test
  func `a write whose deadline passed in the queue tries the lock once, and those behind it wait on`() throws {
    try TemporaryDirectory.with { directory in
      let path = directory + "/vault.spv"
      var options = Vault.Options.sample()
      options.lockTimeout = .seconds(3600)
      let vault = try Vault.sample(at: path, options: options)
      let (writer, group) = (VaultWriter(vault.handle), try vault.group())
      func commit(_ timeouts: [Duration]) -> [VaultError.Code?] {
        let batch = timeouts.map {
          WriteQueue.PendingWrite(.changes([], group: group.id), until: Deadline(after: $0), deliver: .gate(Gate()))
        }
        return writer.commit(batch).map { outcome in refusal { try outcome.get() } }
      }

      let lock = try ForeignLock(on: path)
      #expect(commit([.zero]) == [.lockTimeout])
      #expect(commit([.zero, .milliseconds(20)]) == [.lockTimeout, .lockTimeout])
      lock.release()
      #expect(commit([.zero, .zero]) == [nil, nil])
    }
  }

  @Test(.filesOnly("an exit test, whose process has files alone"))
  func `thousands of writes whose deadlines pass in turn need no deep stack`() async {
    await #expect(processExitsWith: .exitCode(42)) {
      try TemporaryDirectory.with { directory in
        let path = directory + "/vault.spv"
        let vault = try Vault.sample(at: path)
        let (writer, group) = (VaultWriter(vault.handle), try vault.group())
        let lock = try ForeignLock(on: path)
        let thread = Thread {
          let batch = (0..<8_000).map { number in
            let deadline = Deadline(after: .microseconds(250 * number))
            return WriteQueue.PendingWrite(.changes([], group: group.id), until: deadline, deliver: .gate(Gate()))
          }
          let outcomes = writer.commit(batch)
          let isRefused = outcomes.allSatisfy { outcome in refusal { try outcome.get() } == .lockTimeout }
          // Runs no code of the end of a process beside the main thread.
          _exit(outcomes.count == 8_000 && isRefused ? 42 : 1)
        }
        thread.stackSize = 1 << 20
        thread.start()
        while true { sleep(1) }
        withExtendedLifetime(lock) {}
      }
    }
  }

  @Test func `an asynchronous write that waits too long is a lockTimeout`() async throws {
    try await TemporaryDirectory.with { directory in
      let path = directory + "/vault.spv"
      var options = Vault.Options.sample()
      options.lockTimeout = .milliseconds(200)
      let vault = try Vault.sample(at: path, options: options)
      let lock = try ForeignLock(on: path)
      var code: VaultError.Code?
      do throws(VaultError) { try await vault.commit("new", forKey: "a") } catch { code = error.code }

      #expect(code == .lockTimeout)
      lock.release()
      try await vault.commit("new", forKey: "a")
      #expect(try vault.text("a") == "new")
    }
  }

  @Test func `what one handle sets the next read of another sees`() throws {
    try withVault { vault, path in
      let other = try Vault.opened(at: path)
      for number in 0..<50 {
        try vault.set("value \(number)", forKey: "a")
        #expect(try other.text("a") == "value \(number)")
      }
      try vault.fold()
      #expect(try other.bytes("long")?.count == 70_000)
      try vault.remove("a")
      #expect(try other.text("a") == nil)
    }
  }

  @Test func `many threads read one handle at once`() throws {
    try withVault { vault, _ in
      for number in 0..<20 { try vault.set("value \(number)", forKey: "key-\(number)") }
      try onThreads(8) { _ throws in
        for round in 0..<100 { #expect(try vault.text("key-\(round % 20)") == "value \(round % 20)") }
      }
    }
  }

  @Test func `a value may be read while another is lent`() throws {
    try withVault { vault, _ in
      try vault.set("outer", forKey: "a")
      let texts = try vault.withValue(service: Vault.Name("db"), key: "a", in: vault.group()) { _, bytes in
        let inner = try? vault.text("password")
        return [String(bytes), inner]
      }

      #expect(texts == ["outer", "s3cret"])
    }
  }
}

/// How many entries a directory of the process's own has.
func entries(of directory: String) -> Int {
  (try? FileManager.default.contentsOfDirectory(atPath: directory).count) ?? -1
}
