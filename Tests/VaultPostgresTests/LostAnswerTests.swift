#if PostgreSQL
  import DurableFiles
  import Foundation
  import Synchronization
  import Testing
  import VaultCore

  @testable import VaultPostgres

  /// Writers whose connection is cut at any byte of a commit.
  @Suite(.needsServer) struct LostAnswerTests {
    /// With the variable, every byte is tried, else one of seventeen.
    private static let step = ProcessInfo.processInfo.environment["SECRETPREFS_POSTGRES_EVERY_BYTE"] == nil ? 17 : 1

    private static func bytes(_ count: Int, _ seed: Int) -> [UInt8] {
      (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ seed &* 97) | 1 }
    }

    /// Runs `write` with the connection cut after ever more bytes, until it is not cut any more.
    private static func cutting(
      _ direction: CuttingProxy.Direction, _ proxy: CuttingProxy, by step: Int = step, _ write: (Int) throws -> Void
    ) throws {
      var count = 0
      repeat {
        try write(count)
        count += step
      } while proxy.isCut && count < 100_000
      #expect(count > step * 3)
    }

    @Test(arguments: [CuttingProxy.Direction.toServer, .toClient])
    func `an append is made once, wherever its connection is cut`(direction: CuttingProxy.Direction) async throws {
      try await blocking {
        let proxy = try CuttingProxy()
        defer { proxy.end() }
        let storage = try TestServer.storage(folder: proxy.folder).unfollowed()
        let other = try storage.reopened().unfollowed()
        var bytes = Self.bytes(400, 1)
        let (locked, version) = try storage.create(bytes)
        locked.release()
        try Self.cutting(direction, proxy) { count in
          let locked = try storage.lock(until: LockDeadline(after: .seconds(60)))
          defer { locked.release() }
          let entry = Self.bytes(64, count)
          let position = StoragePosition(version: version, offset: bytes.count, lastBytes: Array(bytes.suffix(32)))
          proxy.cut(direction, after: count)
          try locked.append(entry, at: position)
          bytes += entry
          #expect(try other.load(limit: .max).bytes.bytes == bytes, "cut after \(count) bytes")
        }
      }
    }

    @Test(arguments: [CuttingProxy.Direction.toServer, .toClient])
    func `a replacement is made once, wherever its connection is cut`(direction: CuttingProxy.Direction) async throws {
      try await blocking {
        let proxy = try CuttingProxy()
        defer { proxy.end() }
        let storage = try TestServer.storage(folder: proxy.folder).unfollowed()
        let other = try storage.reopened().unfollowed()
        try storage.create(Self.bytes(400, 1)).storage.release()
        var number = try #require(try storage.load(limit: .max).version as? PostgresVersion).number
        try Self.cutting(direction, proxy) { count in
          let locked = try storage.lock(until: LockDeadline(after: .seconds(60)))
          defer { locked.release() }
          let bytes = Self.bytes(300, count)
          proxy.cut(direction, after: count)
          let version = try locked.replace(with: bytes, behind: nil)
          number += 1
          #expect((version as? PostgresVersion)?.number == number, "cut after \(count) bytes")
          let found = try other.load(limit: .max)
          #expect(found.bytes.bytes == bytes && (found.version as? PostgresVersion)?.number == number)
        }
      }
    }

    @Test(arguments: [CuttingProxy.Direction.toServer, .toClient])
    func `a vault is created once, wherever the connection is cut`(direction: CuttingProxy.Direction) async throws {
      try await blocking {
        let proxy = try CuttingProxy()
        defer { proxy.end() }
        try Self.cutting(direction, proxy, by: Self.step * 3) { count in
          let storage = try TestServer.storage(folder: proxy.folder).unfollowed()
          try storage.refresh()  // so that there is a connection
          let bytes = Self.bytes(300, count)
          proxy.cut(direction, after: count)
          try storage.create(bytes).storage.release()
          #expect(try storage.reopened().load(limit: .max).bytes.bytes == bytes, "cut after \(count) bytes")
        }
      }
    }

    @Test func `a creation that was still on its way after its answer was lost is found`()
      async throws
    {
      try await blocking {
        let proxy = try CuttingProxy()
        defer { proxy.end() }
        let storage = try TestServer.storage(folder: proxy.folder).unfollowed()
        let name = storage.vault
        let administrator = Mutex(try Administrator(try TestServer.shared()))
        // An insertion of the same name waits for the end of this one.
        try administrator.withLock {
          _ = try $0.run("begin; insert into secretprefs.vault values ('\(name)', 1, 0, '')")
        }
        let waitForBlocked = { @Sendable (count: Int) throws in
          try waitFor {
            try administrator.withLock { connection in
              try connection.run(
                "select count(distinct pid) from pg_locks where not granted "
                  + "and pg_backend_pid() = any(pg_blocking_pids(pid))") == [["\(count)"]]
            }
          }
        }
        Thread.detachNewThread {
          do {
            try waitForBlocked(1)
            proxy.refuseAll()
            proxy.relayAll()
            try waitForBlocked(2)
            try administrator.withLock { _ = try $0.run("rollback") }
          } catch { Issue.record(error) }
        }
        let bytes = Self.bytes(400, 1)
        try storage.create(bytes).storage.release()
        #expect(try storage.reopened().load(limit: .max).bytes.bytes == bytes)
      }
    }

    @Test func `an upload may take longer than the server may be silent`() async throws {
      try await blocking {
        let proxy = try CuttingProxy()
        defer { proxy.end() }
        var options = PostgresStorage.Options.quick
        options.answerTimeout = .seconds(2)
        options.holdLimit = .seconds(5)
        let storage = try TestServer.storage(folder: proxy.folder, options: options).unfollowed()
        try storage.create(Self.bytes(400, 1)).storage.release()
        let writer = try storage.lock(until: LockDeadline(after: .zero))
        proxy.slow(40_000)
        _ = try writer.replace(with: [UInt8](repeating: 1, count: 8 << 20), behind: nil)
        proxy.slow(0)
        writer.release()
        #expect(try storage.reopened().load(limit: .max).bytes.count == 8 << 20)
      }
    }

    @Test func `an append behind that of another writer is found, too`() throws {
      let proxy = try CuttingProxy()
      defer { proxy.end() }
      let storage = try TestServer.storage(folder: proxy.folder).unfollowed()
      let bytes = Self.bytes(400, 1)
      let (locked, version) = try storage.create(bytes)
      locked.release()
      let writer = try storage.lock(until: LockDeadline(after: .seconds(60)))
      let other = try storage.reopened().unfollowed()
      // On a thread of its own, because the test blocks one of the few that tasks share.
      Thread.detachNewThread {
        do { try append() } catch { Issue.record(error) }
      }
      @Sendable func append() throws {
        let locked = try other.lock(until: LockDeadline(after: .seconds(60)))
        defer { locked.release() }
        let start = StoragePosition.start(of: try other.load(limit: .max).version)
        guard case .added(let found) = try locked.changes(since: start, limit: .max) else { return }
        let end = StoragePosition(
          version: start.version, offset: found.count, lastBytes: Array(found.bytes.suffix(32)))
        try locked.append(Self.bytes(64, 3), at: end)
      }
      usleep(100_000)  // the other one waits for the lock
      // The commit reaches the server, and its answer does not come back.
      proxy.cut(.toClient, after: 0)
      let entry = Self.bytes(64, 2)
      try writer.append(
        entry, at: StoragePosition(version: version, offset: 400, lastBytes: Array(bytes.suffix(32))))
      writer.release()
      try waitFor { try storage.reopened().load(limit: .max).bytes.count == 528 }
      #expect(try storage.reopened().load(limit: .max).bytes.bytes == bytes + entry + Self.bytes(64, 3))
    }

    @Test func `a write whose place was taken by another says that it does not know, and goes no further`() throws {
      let proxy = try CuttingProxy()
      defer { proxy.end() }
      let storage = try TestServer.storage(folder: proxy.folder).unfollowed()
      let bytes = Self.bytes(400, 1)
      let (locked, version) = try storage.create(bytes)
      locked.release()
      let position = StoragePosition(version: version, offset: 400, lastBytes: Array(bytes.suffix(32)))
      let writer = try storage.lock(until: LockDeadline(after: .seconds(60)))
      // The server has ended the connection, and another writer has come and gone.
      let administrator = try Administrator(try TestServer.shared())
      let own = storage.core.pool.ownProcesses.map { "\($0)" }.joined(separator: ",")
      try administrator.run(
        "select pg_terminate_backend(pid, 10000) from pg_stat_activity "
          + "where state = 'idle in transaction' and pid in (\(own))"
      )
      let other = try storage.reopened().unfollowed()
      let otherVersion = try other.load(limit: .max).version
      let next = try other.lock(until: LockDeadline(after: .seconds(60)))
      try next.append(
        Self.bytes(64, 3),
        at: StoragePosition(version: otherVersion, offset: 400, lastBytes: Array(bytes.suffix(32))))
      next.release()
      #expect(refusal { try writer.append(Self.bytes(64, 2), at: position) } == .durabilityUnknown)
      #expect(refusal { _ = try writer.changes(since: .start(of: version), limit: .max) } == .durabilityUnknown)
      #expect(refusal { _ = try writer.replace(with: [1], behind: nil) } == .durabilityUnknown)
      writer.release()
      #expect(try other.load(limit: .max).bytes.bytes == bytes + Self.bytes(64, 3))
    }

    @Test func `a writer that does nothing is ended by the server, and has written nothing`() throws {
      var options = PostgresStorage.Options.quick
      options.holdLimit = .milliseconds(300)
      let storage = try TestServer.storage(options: options)
      let bytes = Self.bytes(400, 1)
      let (locked, version) = try storage.create(bytes)
      locked.release()
      let position = StoragePosition(version: version, offset: 400, lastBytes: Array(bytes.suffix(32)))
      let idle = try storage.lock(until: LockDeadline(after: .seconds(60)))
      let other = try storage.reopened().lock(until: LockDeadline(after: .seconds(60)))
      other.release()
      let found = refusal { try idle.append(Self.bytes(64, 2), at: position) }
      idle.release()
      // No other writer has written, so an attempt after a lost connection succeeds.
      #expect([.lockTimeout, nil].contains(found))
      let now = try storage.reopened().load(limit: .max).bytes.bytes
      #expect(now == (found == nil ? bytes + Self.bytes(64, 2) : bytes))
    }

    @Test func `a writer that is stopped while it has the lock holds others up for as long as it may`() throws {
      let database = try TestServer.database()
      let storage = try TestServer.storage(database, vault: "shared")
      try storage.create(Self.bytes(400, 1)).storage.release()
      let built =
        ProcessInfo.processInfo.environment["SECRETPREFS_BUILT"]
        ?? URL(filePath: CommandLine.arguments[0]).deletingLastPathComponent().path
      let process = Process()
      process.executableURL = URL(filePath: built + "/PostgresWorker")
      process.arguments = ["hold", TestServer.url(database)]
      let output = Pipe()
      process.standardOutput = output
      try process.run()
      defer { kill(process.processIdentifier, SIGKILL) }
      #expect(try output.fileHandleForReading.read(upToCount: 7) == Data("locked\n".utf8))
      kill(process.processIdentifier, SIGSTOP)
      #expect(refusal { _ = try storage.lock(until: LockDeadline(after: .zero)) } == .lockTimeout)
      try storage.lock(until: LockDeadline(after: .seconds(60))).release()
    }
  }

  /// Runs what blocks for long outside the few threads that tests share.
  func blocking(_ body: @Sendable () throws -> Void) async throws { try await HelperPool.waiting.run(body) }

  /// Waits until `condition` holds.
  func waitFor(_ condition: () throws -> Bool) throws {
    while try !condition() { usleep(20_000) }
  }
#endif
