#if PostgreSQL
  import Foundation
  import Synchronization
  import Testing
  import VaultCore

  @testable import VaultPostgres

  /// The requests for access in a database.
  @Suite(.needsServer) struct RequestTableTests {
    /// A database with a vault that does not exist, and a role for each access.
    private struct Scene {
      let database: String
      let vault = UUID().uuidString
      let requester: String
      let reader: String
      let writer: String

      init() throws {
        database = try TestServer.database()
        requester = try TestServer.role(database, PostgresSchema.grant(.requester, to: "ROLE"))
        reader = try TestServer.role(database, PostgresSchema.grant(.reader, to: "ROLE"))
        writer = try TestServer.role(database, PostgresSchema.grant(.writer, to: "ROLE"))
      }

      func requests(of role: String, vault: String? = nil) throws -> PostgresRequests {
        try TestServer.storage(database, vault: vault ?? self.vault, user: role).requests
      }

      /// Runs a statement as a role that is not held by what this package does.
      @discardableResult
      func run(_ sql: String, as role: String) throws -> [[String]] {
        let connection = try Administrator(database)
        try connection.run("set role \(role)")
        return try connection.run(sql)
      }

      /// A row as its columns say, which must be those that a role may fill.
      func insert(_ values: String, as role: String) throws {
        try run(
          "insert into secretprefs.request (place, vault, public_key, note) values (\(values))", as: role)
      }
    }

    private static func key() throws -> VaultIdentity.PublicKey { try VaultIdentity().publicKey }

    /// The notes in the order of the list.
    private static func notes(_ requests: PostgresRequests) throws -> [String?] {
      try requests.rows(atMost: 1000).map(\.note)
    }

    @Test func `a role sees and removes its own requests, and one that may write vaults all of them`() throws {
      let scene = try Scene()
      let keys = [try Self.key(), try Self.key()]
      let (requester, reader) = (try scene.requests(of: scene.requester), try scene.requests(of: scene.reader))
      #expect(try requester.add(keys[0], note: "a") == scene.requester)
      #expect(try reader.add(keys[1], note: "b") == scene.reader)
      #expect(try Self.notes(requester) == ["a"])
      #expect(try Self.notes(reader) == ["b"])
      let writer = try scene.requests(of: scene.writer)
      let rows = try writer.rows(atMost: 1000)
      #expect(rows.map(\.role) == [scene.requester, scene.reader])
      #expect(rows.map(\.publicKey) == keys.map(\.description))
      #expect(try requester.remove(keys[1]) == [])
      #expect(try writer.remove(keys[1]) == [scene.reader])
      #expect(try requester.remove(keys[0]) == [scene.requester])
      #expect(try Self.notes(writer) == [])
    }

    @Test func `a request is of one vault, and time and role are those of the server`() throws {
      let scene = try Scene()
      let before = Int64(Date().timeIntervalSince1970 * 1000) - 60_000
      let key = try Self.key()
      _ = try scene.requests(of: scene.requester).add(key, note: "")
      #expect(try scene.requests(of: scene.requester, vault: "other").rows(atMost: 9).isEmpty)
      #expect(try scene.requests(of: scene.requester, vault: "other").remove(key).isEmpty)
      let row = try #require(try scene.requests(of: scene.requester).rows(atMost: 9).first)
      #expect(try #require(row.time) > before)
      for column in ["role", "asked"] {
        #expect(throws: VaultError.self) {
          try scene.run(
            """
            insert into secretprefs.request (place, vault, public_key, note, \(column))
            values (2, 'v', '\(key)', '', \(column == "role" ? "'postgres'" : "now()"))
            """, as: scene.requester)
        }
      }
    }

    @Test func `the same public key replaces its request, and not that of a different role`() throws {
      let scene = try Scene()
      let key = try Self.key()
      let requester = try scene.requests(of: scene.requester)
      _ = try requester.add(key, note: "first")
      _ = try scene.requests(of: scene.reader).add(key, note: "of a different role")
      _ = try requester.add(key, note: "second")
      let writer = try scene.requests(of: scene.writer)
      #expect(Set(try Self.notes(writer)) == ["second", "of a different role"])
      #expect(Set(try writer.remove(key)) == [scene.requester, scene.reader])
    }

    @Test func `a role that has left the most requests replaces its own, and leaves no more`() throws {
      let scene = try Scene()
      let requester = try scene.requests(of: scene.requester)
      let key = try Self.key()
      _ = try requester.add(key, note: "old")
      let zeros = String(repeating: "0", count: 61)
      try scene.run(
        """
        insert into secretprefs.request (place, vault, public_key, note)
        select place, 'v', 'spv-public-1:\(zeros)' || to_char(place, 'FM000'),
          repeat('x', \(VaultIdentity.longestNote))
        from generate_series(2, \(PostgresSchema.mostRequests)) as place
        """, as: scene.requester)
      #expect(refusal { _ = try requester.add(try Self.key(), note: "") } == .limitExceeded)
      _ = try requester.add(key, note: "new")
      #expect(try Self.notes(requester) == ["new"])
      // Others are not held up.
      _ = try scene.requests(of: scene.reader).add(try Self.key(), note: "")
      for place in [0, -1, PostgresSchema.mostRequests + 1] {
        #expect(throws: VaultError.self) { try scene.insert("\(place), 'v', '\(key)', ''", as: scene.requester) }
      }
    }

    @Test func `the server accepts no request that is longer or of a different form`() throws {
      let scene = try Scene()
      let key = try Self.key().description
      try scene.insert("1, 'v', '\(key)', ''", as: scene.requester)
      for values in [
        "1, 'w', '\(key)', ''", "2, 'v', '\(key)', ''",
        "2, '', '\(key)', ''", "2, repeat('v', 1025), '\(key)', ''", "2, null, '\(key)', ''",
        "2, 'v', '\(key)0', ''", "2, 'v', '\(key.uppercased())', ''", "2, 'v', 'x\(key)', ''",
        "2, 'v', '\(key)' || chr(10), ''", "2, 'v', null, ''", "2, 'v', '', ''",
        "2, 'w', '\(key)', repeat('x', 1025)", "2, 'w', '\(key)', repeat('ä', 513)", "2, 'w', '\(key)', null",
      ] {
        #expect(throws: VaultError.self, "\(values)") { try scene.insert(values, as: scene.requester) }
      }
      try scene.insert("2, repeat('v', 1024), '\(key)', repeat('x', 1024)", as: scene.requester)
    }

    @Test func `a requester has no other rights, and no role changes a request or one of others`() throws {
      let scene = try Scene()
      let key = try Self.key()
      _ = try scene.requests(of: scene.reader).add(key, note: "")
      for sql in [
        "select name from secretprefs.vault", "select bytes from secretprefs.piece",
        "select bytes from secretprefs.log",
        "insert into secretprefs.log values ('', '', 1, 1, '', '')", "truncate secretprefs.request",
        "insert into secretprefs.schema_version values (9)", "drop table secretprefs.request",
        "alter table secretprefs.request disable row level security",
      ] {
        #expect(throws: VaultError.self, "\(sql)") { try scene.run(sql, as: scene.requester) }
      }
      for role in [scene.requester, scene.reader, scene.writer] {
        #expect(throws: VaultError.self) { try scene.run("update secretprefs.request set note = 'x'", as: role) }
      }
      try scene.run("delete from secretprefs.request", as: scene.requester)
      #expect(try Self.notes(scene.requests(of: scene.writer)) == [""])
      #expect(refusal { _ = try TestServer.storage(scene.database, user: scene.requester).load(limit: .max) } == .io)
    }

    @Test(arguments: [
      "", "grant usage on schema secretprefs to ROLE; grant select on secretprefs.schema_version to ROLE",
    ]) func `without the right a request is readOnly`(rights: String) throws {
      let database = try TestServer.database()
      let role = try TestServer.role(database, rights)
      let requests = try TestServer.storage(database, user: role).requests
      let calls: [() throws -> Void] = [
        { _ = try requests.rows(atMost: 1) }, { _ = try requests.add(try Self.key(), note: "") },
        { _ = try requests.remove(try Self.key()) },
      ]
      for call in calls {
        let error = failure(call)
        #expect(error?.code == .readOnly && error?.errno == EACCES)
        #expect(error?.message.contains("requests for access") == true)
      }
    }

    @Test func `requests that one role leaves at the same time all have a place`() throws {
      let scene = try Scene()
      let keys = try (0..<12).map { _ in try Self.key() }
      DispatchQueue.concurrentPerform(iterations: keys.count) { number in
        do { _ = try scene.requests(of: scene.requester).add(keys[number], note: "\(number)") } catch {
          Issue.record(error)
        }
      }
      let rows = try scene.requests(of: scene.writer).rows(atMost: 1000)
      #expect(Set(rows.map(\.publicKey)) == Set(keys.map(\.description)))
    }

    @Test func `rows that the administrator has written are read as far as they make sense`() throws {
      let scene = try Scene()
      let administrator = try Administrator(scene.database)
      try administrator.run(
        """
        alter table secretprefs.request drop constraint request_public_key_check,
          drop constraint request_note_check, alter note drop not null, alter public_key drop not null;
        insert into secretprefs.request (place, vault, public_key, note, asked) values
          (1, '\(scene.vault)', repeat('k', 2000), 'a', 'infinity'),
          (2, '\(scene.vault)', null, repeat('n', 2000000), '-infinity'),
          (3, '\(scene.vault)', 'CANARY-7f3a', null, '200000-01-01')
        """)
      let rows = try scene.requests(of: scene.writer).rows(atMost: 1000)
      #expect(rows.map(\.publicKey) == [nil, "CANARY-7f3a", nil])
      #expect(rows.map(\.note) == [nil, nil, "a"])
      #expect(rows.map { $0.time == nil } == [true, false, true])
      #expect(try scene.requests(of: scene.writer).rows(atMost: 2).count == 2)
    }

    @Test func `a restrictive policy limits a role to the requests of its vaults`() throws {
      let scene = try Scene()
      _ = try scene.requests(of: scene.requester).add(try Self.key(), note: "seen")
      _ = try scene.requests(of: scene.requester, vault: "other").add(try Self.key(), note: "not seen")
      try Administrator(scene.database).run(
        """
        create policy shop on secretprefs.request as restrictive to \(scene.writer) using (vault = '\(scene.vault)')
        """)
      #expect(try Self.notes(scene.requests(of: scene.writer)) == ["seen"])
      #expect(try Self.notes(scene.requests(of: scene.writer, vault: "other")) == [])
    }

    @Test(arguments: [1, 2]) func `tables of an earlier version get the table, and roles ask after a grant`(
      version: Int
    ) throws {
      let database = try TestServer.database()
      let role = try TestServer.role(database, PostgresSchema.grant(.reader, to: "ROLE"))
      try Administrator(database).run(
        "drop table secretprefs.request; update secretprefs.schema_version set version = \(version)")
      if version == 1 { try Administrator(database).run("drop table secretprefs.log") }
      let storage = try TestServer.storage(database, user: role)
      #expect(refusal { _ = try storage.requests.rows(atMost: 1) } == .unsupportedVersion)
      let opened = try PostgresDatabase(TestServer.url(database))
      #expect(try opened.createSchema() == .updated)
      #expect(refusal { _ = try storage.requests.add(try Self.key(), note: "") } == .readOnly)
      #expect(try !PostgresDatabase(TestServer.url(database, user: role)).status().mayRequest)
      try opened.grant(.reader, to: role)
      _ = try storage.requests.add(try Self.key(), note: "")
      #expect(try PostgresDatabase(TestServer.url(database, user: role)).status().mayRequest)
    }
  }
#endif
