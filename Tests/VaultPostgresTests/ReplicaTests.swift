#if PostgreSQL
  import Foundation
  import Secrets
  import Synchronization
  import Testing
  import VaultCore

  @testable import VaultPostgres

  /// What a program that reads a replica is shown, and what one beside its primary may claim.
  @Suite(.needsServer, .enabled(if: TestServer.replica != nil, "needs a replica: run Scripts/postgres"))
  struct ReplicaTests {
    @Test func `a replica is followed`() throws {
      let sample = try StoredSample(in: try TestServer.storage())
      try sample.secrets.set("old", forKey: "a")
      let storage = try TestServer.storage(vault: sample.storage.vault, folder: TestServer.replica)
      try waitFor { refusal { _ = try storage.load(limit: .max) } == nil }
      let reader = try sample.opened(in: storage)
      try sample.secrets.set("new", forKey: "a")
      try waitFor { try reader.secrets.string(forKey: "a") == "new" }
      try waitFor { reader.vault.health().description == "ready" }
    }

    @Test func `with several servers, a replica that is behind takes nothing back, and none confirms`() throws {
      let (server, replica) = (try #require(TestServer.folder), try #require(TestServer.replica))
      let folder = "/dev/shm/pgm-\(UUID().uuidString)"
      try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
      defer { do { try FileManager.default.removeItem(atPath: folder) } catch { Issue.record(error) } }
      // The way to the primary, which can be taken away.
      let socket = folder + "/.s.PGSQL.5432"
      try FileManager.default.createSymbolicLink(atPath: socket, withDestinationPath: server + "/.s.PGSQL.5432")
      let reported = Mutex<[VaultError.Code]>([])
      var options = Vault.Options()
      options.markFailure = { error in reported.withLock { $0.append(error.code) } }
      var unfollowed = PostgresStorage.Options.quick
      unfollowed.freshness = nil
      let storage = try TestServer.storage(folder: "\(folder),\(replica)", options: unfollowed)
      let sample = try StoredSample(in: storage, options: options)
      try sample.secrets.set("old", forKey: "a")
      let isReplayed: () throws -> Bool = {
        let row = storage.core.known.withLock { $0.row }
        let standby = try Administrator(TestServer.shared(), folder: replica)
        let found = try standby.run("select length from secretprefs.vault where name = '\(storage.vault)'")
        return found == [["\(row?.length ?? 0)"]]
      }
      // The database itself may come later than the vault.
      try waitFor { refusal { _ = try isReplayed() } == nil }
      try waitFor { try isReplayed() }
      let standby = try Administrator("postgres", folder: replica)
      try standby.run("select pg_wal_replay_pause()")
      defer { do { try standby.run("select pg_wal_replay_resume()") } catch { Issue.record(error) } }
      try waitFor { try standby.run("select pg_get_wal_replay_pause_state()") == [["paused"]] }

      try sample.secrets.set("new", forKey: "a")
      try FileManager.default.removeItem(atPath: socket)
      _ = storage.core.pool.takeIdle()
      let confirmed = storage.core.known.withLock { $0.confirmed }
      #expect(refusal { try sample.vault.refresh() } == .unreachable)
      #expect(refusal { _ = try sample.vault.verify() } == .unreachable)
      #expect(try sample.secrets.string(forKey: "a") == "new")
      try standby.run("select pg_wal_replay_resume()")
      try waitFor { try isReplayed() }
      #expect(refusal { try sample.vault.refresh() } == .unreachable)
      #expect(try sample.secrets.string(forKey: "a") == "new")
      #expect(storage.core.known.withLock { $0.confirmed } == confirmed)

      try FileManager.default.createSymbolicLink(atPath: socket, withDestinationPath: server + "/.s.PGSQL.5432")
      try sample.vault.refresh()
      #expect(storage.core.known.withLock { $0.confirmed } != confirmed)
      #expect(reported.withLock(\.self).isEmpty)
    }
  }
#endif
