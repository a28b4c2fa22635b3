#if PostgreSQL
  import Foundation
  import Synchronization
  import Testing
  import VaultCore
  import VaultSealing

  @testable import VaultPostgres

  /// Databases that are not as they should be: each has its class and a message that names the cure, and nothing is
  /// written.
  @Suite(.needsServer) struct BadDatabaseTests {
    /// The errors of all calls that ask the database.
    private static func failures(_ storage: PostgresStorage) -> [VaultError?] {
      [
        failure { _ = try storage.load(limit: .max) },
        failure { try storage.refresh() },
        failure { _ = try storage.lock(until: LockDeadline(after: .zero)) },
        failure { _ = try storage.create([1, 2, 3]) },
      ]
    }

    private static func expect(
      _ storage: PostgresStorage, _ code: VaultError.Code, saying text: String, errno: Int32? = nil
    ) {
      for error in failures(storage) {
        #expect(error?.code == code)
        #expect(error?.message.contains(text) == true, "\(error?.message ?? "")")
        #expect(error?.message.hasPrefix(storage.name) == true)
        #expect(errno == nil || error?.errno == errno)
      }
    }

    @Test func `a database without the schema is unsupportedFeature`() throws {
      Self.expect(
        try TestServer.storage(try TestServer.database("")), .unsupportedFeature, saying: "PostgresSchema.script")
      let half = try TestServer.database("create schema secretprefs")
      Self.expect(try TestServer.storage(half), .unsupportedFeature, saying: "PostgresSchema.script")
    }

    @Test(arguments: [
      (0, "brings it up to date"), (PostgresSchema.version - 1, "brings it up to date"),
      (PostgresSchema.version + 1, "use a later program"),
    ])
    func `an older or newer schema is unsupportedVersion`(version: Int, cure: String) throws {
      let database = try TestServer.database(
        PostgresSchema.script + "update secretprefs.schema_version set version = \(version)")
      Self.expect(try TestServer.storage(database), .unsupportedVersion, saying: cure)
    }

    @Test func `other columns are unsupportedVersion`() throws {
      let database = try TestServer.database(
        PostgresSchema.script + "alter table secretprefs.vault rename length to size")
      let storage = try TestServer.storage(database)
      #expect(refusal { _ = try storage.load(limit: .max) } == .unsupportedVersion)
      let retyped = try TestServer.database(
        PostgresSchema.script + "alter table secretprefs.vault alter tail type text using ''")
      try Administrator(retyped).run("insert into secretprefs.vault values ('shop', 1, 100, 'x')")
      #expect(refusal { _ = try TestServer.storage(retyped, vault: "shop").load(limit: .max) } == .damaged)
    }

    @Test func `a role without rights may not read, and one that reads may not write`() throws {
      let database = try TestServer.database()
      let stranger = try TestServer.role(database)
      let storage = try TestServer.storage(database, user: stranger)
      Self.expect(storage, .io, saying: "grant it usage", errno: EACCES)

      let owner = try TestServer.storage(database, vault: "shop")
      try owner.create([UInt8](repeating: 1, count: 100)).storage.release()
      let reader = try TestServer.role(database, PostgresSchema.grant(.reader, to: "ROLE"))
      let reading = try TestServer.storage(database, vault: "shop", user: reader)
      #expect(try reading.load(limit: .max).bytes.count == 100)
      let refused = failure { _ = try reading.lock(until: LockDeadline(after: .zero)) }
      #expect(refused?.code == .readOnly && refused?.errno == EACCES)
      #expect(refused?.message.contains("grant it select, insert, update and delete") == true)
      let creating = try TestServer.storage(database, vault: "new", user: reader)
      #expect(refusal { _ = try creating.create([1]) } == .readOnly)
      #expect(refusal { _ = try creating.load(limit: .max) } == .notFound)
    }

    @Test func `a writer needs what it is granted, and no more`() throws {
      let database = try TestServer.database()
      let writer = try TestServer.role(database, PostgresSchema.grant(.writer, to: "ROLE"))
      let storage = try TestServer.storage(database, vault: "shop", user: writer)
      let key = try SealingKey(from: .system)
      let vault = try Vault.create(in: storage, slots: [NewSlot(.key(key))])
      try vault.compact()
      let locked = try storage.lock(until: LockDeadline(after: .seconds(10)))
      #expect(locked.remove())
      locked.release()
      #expect(refusal { _ = try storage.load(limit: .max) } == .notFound)
    }

    @Test func `a policy shows a role its own vaults only`() throws {
      let database = try TestServer.database()
      let role = try TestServer.role(database, PostgresSchema.grant(.writer, to: "ROLE"))
      try Administrator(database).run(
        """
        alter table secretprefs.vault enable row level security;
        alter table secretprefs.piece enable row level security;
        create policy own on secretprefs.vault using (name = 'mine');
        create policy own on secretprefs.piece using (vault = 'mine')
        """)
      try TestServer.storage(database, vault: "theirs").create([UInt8](repeating: 1, count: 100)).storage.release()
      let mine = try TestServer.storage(database, vault: "mine", user: role)
      try mine.create([UInt8](repeating: 2, count: 100)).storage.release()
      #expect(try mine.load(limit: .max).bytes.count == 100)
      let theirs = try TestServer.storage(database, vault: "theirs", user: role)
      #expect(refusal { _ = try theirs.load(limit: .max) } == .notFound)
      #expect(refusal { _ = try theirs.lock(until: LockDeadline(after: .zero)) } == .notFound)
      let other = try TestServer.storage(database, vault: "other", user: role)
      #expect(refusal { _ = try other.create([1]) } == .readOnly)
    }

    @Test func `a vault that a policy keeps from deletion is not said to be removed`() throws {
      let database = try TestServer.database()
      let role = try TestServer.role(database, PostgresSchema.grant(.writer, to: "ROLE"))
      let policies = ["for select using (true)", "for insert with check (true)", "for update using (true)"]
      try Administrator(database).run(
        "alter table secretprefs.vault enable row level security;"
          + policies.enumerated().map { "create policy p\($0.offset) on secretprefs.vault \($0.element)" }
          .joined(separator: ";"))
      let storage = try TestServer.storage(database, vault: "shop", user: role)
      try storage.create([UInt8](repeating: 1, count: 100)).storage.release()
      let locked = try storage.lock(until: LockDeadline(after: .seconds(10)))
      #expect(!locked.remove())
      locked.release()
      #expect(try storage.load(limit: .max).bytes.count == 100)
    }

    @Test(.enabled(if: TestServer.replica != nil, "needs a replica: run Scripts/postgres"))
    func `a replica can be read, and is readOnly for writers`() throws {
      let database = try TestServer.shared()
      let storage = try TestServer.storage(vault: "replicated-\(getpid())")
      try storage.create([UInt8](repeating: 1, count: 100)).storage.release()
      let replica = try TestServer.storage(database, vault: storage.vault, folder: TestServer.replica)
      try waitFor { refusal { _ = try replica.load(limit: .max) } == nil }
      #expect(try replica.load(limit: .max).bytes.count == 100)
      for error in [
        failure { _ = try replica.lock(until: LockDeadline(after: .zero)) },
        failure {
          _ = try TestServer.storage(database, vault: "new", folder: TestServer.replica).create([1])
        },
      ] {
        #expect(error?.code == .readOnly && error?.errno == EROFS)
        #expect(error?.message.contains("name the primary") == true)
      }
    }

    @Test func `a database, a role and a vault that do not exist have errors of their own, without their names`() throws
    {
      let missing = try TestServer.storage("missing-7c1e")
      let stranger = try TestServer.storage(user: "missing-7c1e")
      for storage in [missing, stranger] {
        let error = failure { _ = try storage.load(limit: .max) }
        #expect(error?.code == .unreachable)
        #expect(error?.message.dropFirst(storage.name.count).contains("7c1e") == false)
        #expect(error?.message.contains("does not exist") == true)
      }
      let vault = try TestServer.storage()
      for error in [
        failure { _ = try vault.load(limit: .max) },
        failure { _ = try vault.lock(until: LockDeadline(after: .zero)) },
      ] {
        #expect(error?.code == .notFound)
        #expect(error?.message.contains("no vault of this name") == true)
      }
    }

    @Test func `a row that is no vault is notAVault`() throws {
      let storage = try TestServer.storage()
      try storage.create(Array("this is a text, and no vault, however long it may be".utf8)).storage.release()
      let key = try SealingKey(from: .system)
      #expect(refusal { _ = try Vault.open(in: storage, credential: .key(key)) } == .notAVault)
    }

    @Test func `a server without TLS is refused before anything is sent`() throws {
      let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
      defer { close(listener) }
      var address = sockaddr_in()
      address.sin_family = sa_family_t(AF_INET)
      address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
      var size = socklen_t(MemoryLayout<sockaddr_in>.size)
      let isBound = withUnsafeMutablePointer(to: &address) { pointer in
        pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
          bind(listener, $0, size) == 0 && listen(listener, 1) == 0 && getsockname(listener, $0, &size) == 0
        }
      }
      #expect(isBound)
      // On a thread of its own, because the test blocks one of the few that tasks share.
      let asked = Mutex<[UInt8]>([])
      Thread.detachNewThread {
        let client = accept(listener, nil, nil)
        defer { close(client) }
        var bytes = [UInt8](repeating: 0, count: 100)
        while case let count = read(client, &bytes, bytes.count), count > 0 {
          asked.withLock { $0 += bytes.prefix(count) }
          _ = write(client, "N", 1)
        }
      }
      let storage = try PostgresStorage(
        "postgresql://127.0.0.1:\(UInt16(bigEndian: address.sin_port))/secrets", vault: "shop")
      let error = failure { _ = try storage.load(limit: .max) }
      #expect(error?.code == .insecurePermissions)
      // The request for TLS alone: no name of a user.
      #expect(asked.withLock(\.self) == [0, 0, 0, 8, 4, 210, 22, 47])
    }
  }
#endif
