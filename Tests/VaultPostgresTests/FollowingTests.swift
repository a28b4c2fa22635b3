#if PostgreSQL
  import Foundation
  import Secrets
  import Synchronization
  import Testing
  import VaultCore

  @testable import VaultPostgres

  /// How open vaults hear of changes, and what they do while the database is away.
  @Suite(.needsServer) struct FollowingTests {
    private static func options(freshness: Duration) -> PostgresStorage.Options {
      var options = PostgresStorage.Options.quick
      options.freshness = freshness
      return options
    }

    @Test(arguments: [Duration.milliseconds(100), .seconds(3600)])
    func `a reader sees what others write, by asking and by notifications`(freshness: Duration) throws {
      let sample = try StoredSample(in: try TestServer.storage())
      let reader = try sample.opened(in: sample.storage.reopened(Self.options(freshness: freshness)))
      #expect(try reader.secrets.string(forKey: "a") == nil)
      // One at a time, and several of which not all are announced.
      for count in [1, 1, 2, 3, 10] {
        for number in 1...count { try sample.secrets.set("\(count) \(number)", forKey: "a") }
        try waitFor { try reader.secrets.string(forKey: "a") == "\(count) \(count)" }
      }
    }

    @Test func `without a freshness no thread asks, and own writes and refreshing show what others wrote`() throws {
      let sample = try StoredSample(in: try TestServer.storage())
      var options = PostgresStorage.Options.quick
      options.freshness = nil
      let storage = try sample.storage.reopened(options)
      let reader = try sample.opened(in: storage)
      try sample.secrets.set("value", forKey: "a")
      #expect(try reader.secrets.string(forKey: "a") == nil)
      try reader.vault.refresh()
      #expect(try reader.secrets.string(forKey: "a") == "value")
      try sample.secrets.set("later", forKey: "a")
      try reader.secrets.set("own", forKey: "b")
      #expect(try reader.secrets.string(forKey: "a") == "later")
      let isFollowed = storage.isFollowed.load(ordering: .relaxed)
      #expect(!isFollowed)
    }

    @Test func `the database is asked while a writer of this storage waits for the lock`() throws {
      let sample = try StoredSample(in: try TestServer.storage())
      let storage = try sample.storage.reopened(Self.options(freshness: .milliseconds(100)))
      let reader = try sample.opened(in: storage)
      let locked = try sample.storage.lock(until: LockDeadline(after: .seconds(60)))
      let writer = Thread {
        do { try reader.secrets.set("own", forKey: "b") } catch { Issue.record("the write has failed: \(error)") }
      }
      let begun = ContinuousClock.now
      writer.start()
      // The state is younger than the wait.
      try waitFor { begun.duration(to: .now) > .seconds(2) && storage.age < .seconds(1) }
      #expect(try reader.secrets.string(forKey: "b") == nil)
      locked.release()
      try waitFor { try reader.secrets.string(forKey: "b") == "own" }
    }

    @Test func `a condition on a value that this program has not heard of holds`() throws {
      let sample = try StoredSample(in: try TestServer.storage())
      var options = PostgresStorage.Options.quick
      options.freshness = nil
      let other = try sample.opened(in: sample.storage.reopened(options))
      try sample.secrets.set("new", forKey: "a")
      let name = try PreferenceName("a")
      let edits = PreferenceEdits([
        .init(name, to: .value("newer"), secrecy: .secret, if: .ifStored(.value("new")))
      ])
      #expect(try other.secrets.apply(edits) == .visible)
      #expect(try sample.secrets.apply(edits) == .conflict)
    }

    @Test func `the limits of the time between two questions`() {
      var options = PostgresStorage.Options()
      #expect(options.interval == .seconds(1))
      options.outageLimit = .seconds(1)
      #expect(options.interval == .milliseconds(500))
      options.freshness = .zero
      #expect(options.interval == .milliseconds(10))
      options.freshness = nil
      #expect(options.interval == nil)
    }

    @Test func `own writes are seen at once, also by other vault objects of the same storage`() throws {
      let storage = try TestServer.storage(options: Self.options(freshness: .seconds(3600)))
      let sample = try StoredSample(in: storage)
      let second = try sample.opened(in: storage)
      for number in 0..<20 {
        try sample.secrets.set("value \(number)", forKey: "a")
        if number % 7 == 6 { try sample.vault.compact() }
        #expect(try second.secrets.string(forKey: "a") == "value \(number)")
        #expect(try sample.secrets.string(forKey: "a") == "value \(number)")
      }
    }

    @Test func `refreshing shows what others have written before`() async throws {
      let sample = try StoredSample(in: try TestServer.storage())
      let reader = try sample.opened(in: sample.storage.reopened(Self.options(freshness: .seconds(3600))))
      for number in 0..<10 {
        try await sample.secrets.set("value \(number)", forKey: "a")
        if number % 3 == 2 { try await sample.vault.compact() }
        try await reader.vault.refresh()
        #expect(try reader.secrets.string(forKey: "a") == "value \(number)")
      }
    }

    @Test func `an open vault is followed before its first read, and an empty place is not`()
      throws
    {
      let storage = try TestServer.storage()
      try storage.checkVacant()
      let isFollowed = storage.isFollowed.load(ordering: .relaxed)
      #expect(!isFollowed)
      let sample = try StoredSample(in: storage)
      #expect(refusal { try storage.reopened().checkVacant() } == .alreadyExists)
      let others = try [storage, sample.opened().storage]
      try sample.opened().secrets.set("value", forKey: "a")
      let length = try storage.reopened().load(limit: .max).bytes.count
      for other in others { try waitFor { other.core.known.withLock { $0.row?.length } == length } }
    }

    @Test func `observers hear of what another vault object of the same storage has written`()
      throws
    {
      let storage = try TestServer.storage(options: Self.options(freshness: .seconds(3600)))
      let sample = try StoredSample(in: storage)
      let second = try sample.opened(in: storage)
      let count = Mutex(0)
      let observation = try storage.observe { count.withLock { $0 += 1 } }
      let before = { count.withLock(\.self) }
      var last = before()
      try second.secrets.set("value", forKey: "a")
      try waitFor { before() > last }
      last = before()
      try second.vault.compact()
      try waitFor { before() > last }
      last = before()
      let locked = try storage.lock(until: LockDeadline(after: .seconds(60)))
      #expect(locked.remove())
      try waitFor { before() > last }
      withExtendedLifetime(observation) {}
    }

    @Test func `programs that answer each other see the answers long before they would ask`()
      throws
    {
      let first = try StoredSample(in: try TestServer.storage(options: Self.options(freshness: .seconds(3600))))
      let second = try first.opened(in: first.storage.reopened(Self.options(freshness: .seconds(3600))))
      for number in 0..<20 {
        try first.secrets.set("\(number)", forKey: "question")
        try waitFor { try second.secrets.string(forKey: "question") == "\(number)" }
        try second.secrets.set("\(number)", forKey: "answer")
        try waitFor { try first.secrets.string(forKey: "answer") == "\(number)" }
      }
    }

    @Test func `a change that is committed long after an announcement has one, too`()
      async throws
    {
      let database = try TestServer.database()
      let sample = try StoredSample(in: try TestServer.storage(database))
      let reader = try sample.opened(in: sample.storage.reopened(Self.options(freshness: .seconds(3600))))
      _ = try await sample.secrets.set("first", forKey: "a")
      try waitFor { try reader.secrets.string(forKey: "a") == "first" }
      let administrator = try Administrator(database)
      // No piece can be stored while this is held.
      try administrator.run("begin; lock table secretprefs.piece in share mode")
      let clock = try administrator.run("select (extract(epoch from clock_timestamp()) * 1000)::bigint")
      // As if another program had announced a change just now.
      sample.storage.core.note(announcement: try #require(Int(clock[0][0])))
      async let written = sample.secrets.set("second", forKey: "a")
      try await Task.sleep(for: .milliseconds(300))
      try administrator.run("rollback")
      _ = try await written
      try waitFor { try reader.secrets.string(forKey: "a") == "second" }
    }

    @Test(arguments: [Int.max / 2, .max, 0, -1, .min])
    func `a change is announced after the server's clock was set back, or a role has announced any time`(
      latest: Int
    ) throws {
      let sample = try StoredSample(in: try TestServer.storage())
      let reader = try sample.opened(in: sample.storage.reopened(Self.options(freshness: .seconds(3600))))
      try waitFor { reader.storage.isFollowed.load(ordering: .relaxed) }
      sample.storage.core.note(announcement: latest)
      usleep(300_000)
      try sample.secrets.set("value", forKey: "a")
      try waitFor { try reader.secrets.string(forKey: "a") == "value" }
    }

    @Test func `a read sends nothing to the server`() throws {
      let proxy = try CuttingProxy()
      defer { proxy.end() }
      let sample = try StoredSample(in: try TestServer.storage())
      try sample.secrets.set("value", forKey: "a")
      let reader = try sample.opened(
        in: TestServer.storage(
          vault: sample.storage.vault, folder: proxy.folder, options: Self.options(freshness: .seconds(3600))))
      // Until the thread listens, which it does before it asks.
      var number = 0
      try waitFor {
        number += 1
        try sample.secrets.set("value \(number)", forKey: "a")
        usleep(60_000)
        return try reader.secrets.string(forKey: "a") != "value"
      }
      try waitFor { try reader.secrets.string(forKey: "a") == "value \(number)" }
      var last = -1
      try waitFor {
        defer { last = proxy.count }
        usleep(200_000)
        return proxy.count == last
      }
      for _ in 0..<1_000 { #expect(try reader.secrets.string(forKey: "a") == "value \(number)") }
      #expect(proxy.count == last)
    }

    @Test
    func `while the database is away, reads go on and writes are unreachable; then all go on`() throws {
      let proxy = try CuttingProxy()
      defer { proxy.end() }
      let direct = try StoredSample(in: try TestServer.storage())
      try direct.secrets.set("old", forKey: "a")
      let sample = try direct.opened(in: TestServer.storage(vault: direct.storage.vault, folder: proxy.folder))
      #expect(try sample.secrets.string(forKey: "a") == "old")
      proxy.refuseAll()
      #expect(refusal { try sample.secrets.set("lost", forKey: "a") } == .unreachable)
      #expect(refusal { try sample.vault.refresh() } == .unreachable)
      try waitFor { sample.storage.problem != nil }
      guard case .degraded(_, let error) = sample.vault.health() else {
        Issue.record("the vault is said to be \(sample.vault.health())")
        return
      }
      #expect(error.code == .unreachable)
      try direct.secrets.set("new", forKey: "a")
      #expect(try sample.secrets.string(forKey: "a") == "old")
      let age = sample.vault.age
      #expect(age > .zero)
      proxy.relayAll()
      try waitFor { try sample.secrets.string(forKey: "a") == "new" }
      try waitFor { sample.vault.health().description == "ready" }
      try sample.secrets.set("newer", forKey: "a")
      try direct.vault.refresh()
      #expect(try direct.secrets.string(forKey: "a") == "newer")
    }

    @Test func `with a limit of an outage, reads end with it`() throws {
      let proxy = try CuttingProxy()
      defer { proxy.end() }
      let direct = try StoredSample(in: try TestServer.storage())
      try direct.secrets.set("old", forKey: "a")
      var options = PostgresStorage.Options.quick
      options.outageLimit = .seconds(1)
      let sample = try direct.opened(
        in: TestServer.storage(vault: direct.storage.vault, folder: proxy.folder, options: options))
      try waitFor { refusal { _ = try sample.secrets.string(forKey: "a") } == nil }
      proxy.refuseAll()
      try waitFor { refusal { _ = try sample.secrets.string(forKey: "a") } == .unreachable }
      guard case .failing(let error) = sample.vault.health(), error.code == .unreachable else {
        Issue.record("the vault is said to be \(sample.vault.health())")
        return
      }
      proxy.relayAll()
      try waitFor { refusal { _ = try sample.secrets.string(forKey: "a") } == nil }
    }

    @Test func `a running vault notices that the newest commits are lost`() throws {
      let administrator = try Administrator(TestServer.shared())
      let folder = NSTemporaryDirectory() + "/" + UUID().uuidString
      try FileManager.default.createDirectory(
        atPath: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
      defer { do { try FileManager.default.removeItem(atPath: folder) } catch {} }
      for isFolded in [false, true] {
        let sample = try StoredSample(in: try TestServer.storage())
        try sample.secrets.set("old", forKey: "a")
        let name = sample.storage.vault
        try administrator.run(
          """
          drop table if exists old_vault, old_piece;
          create temporary table old_vault as select * from secretprefs.vault where name = '\(name)';
          create temporary table old_piece as select * from secretprefs.piece where vault = '\(name)'
          """)
        try sample.secrets.set("new", forKey: "a")
        if isFolded { try sample.vault.compact() }
        let reported = Mutex<[VaultError.Code]>([])
        var options = Vault.Options()
        options.markFailure = { error in reported.withLock { $0.append(error.code) } }
        let without = try sample.opened(options: options)
        var marked = Vault.Options()
        marked.markPath = folder + "/mark\(isFolded)"
        try sample.vault.createMark(at: folder + "/mark\(isFolded)")
        let withMark = try sample.opened(options: marked)
        for reader in [without, withMark] { #expect(try reader.secrets.string(forKey: "a") == "new") }
        try administrator.run(
          """
          delete from secretprefs.piece where vault = '\(name)'; insert into secretprefs.piece select * from old_piece;
          delete from secretprefs.vault where name = '\(name)'; insert into secretprefs.vault select * from old_vault
          """)
        try without.vault.refresh()
        #expect(try without.secrets.string(forKey: "a") == "old")
        #expect(reported.withLock(\.self) == [.rolledBack])
        #expect(refusal { try withMark.vault.refresh() } == .rolledBack)
        #expect(refusal { _ = try withMark.secrets.string(forKey: "a") } == .rolledBack)
        // The older state is the present one.
        try without.secrets.set("newer", forKey: "a")
        #expect(try sample.opened().secrets.string(forKey: "a") == "newer")
        #expect(reported.withLock(\.self) == [.rolledBack])
      }
    }

    @Test func `after an own full write, verifying, reopening and backing up read what the database has`() throws {
      var options = PostgresStorage.Options.quick
      options.freshness = nil
      let sample = try StoredSample(in: try TestServer.storage(options: options))
      try sample.secrets.set("value", forKey: "a")
      // For its load, the new version is kept ready.
      let other = try sample.opened(in: sample.storage)
      try sample.vault.compact()
      try Administrator(TestServer.shared()).run(
        """
        update secretprefs.piece set bytes = set_byte(bytes, 300, get_byte(bytes, 300) # 1)
        where vault = '\(sample.storage.vault)' and start = 0
        """)
      for error in [
        failure { _ = try sample.vault.verify() }, failure { _ = try sample.vault.reopened() },
        failure { try sample.vault.backUp(to: MemoryStorage()) },
      ] {
        #expect(error?.code == .damaged)
      }
      #expect(try other.secrets.string(forKey: "a") == "value")
    }

    @Test func `the connections of a storage end with it, and no session has settings left`()
      throws
    {
      let name = "test-\(UUID().uuidString)"
      let database = try TestServer.shared()
      let administrator = try Administrator(database)
      let connections = {
        try administrator.run("select pid from pg_stat_activity where application_name = '\(name)'").count
      }
      do {
        let storage = try PostgresStorage(
          TestServer.url(database) + "&application_name=\(name)", vault: UUID().uuidString, options: .quick)
        let sample = try StoredSample(in: storage)
        for number in 0..<5 { try sample.secrets.set("value \(number)", forKey: "a") }
        #expect(try sample.secrets.string(forKey: "a") == "value 4")
        try waitFor { try connections() > 0 }
        #expect(try connections() <= 2)
        let connection = try storage.core.pool.acquire()
        let rows = try connection.run([
          Statement("select current_setting('lock_timeout'), current_setting('idle_in_transaction_session_timeout')")
        ])
        #expect(try rows[0].text(0, 0) == "0" && rows[0].text(0, 1) == "0")
      }
      try waitFor { try connections() == 0 }
    }
  }
#endif
