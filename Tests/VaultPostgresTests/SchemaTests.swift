#if PostgreSQL
  import Foundation
  import Synchronization
  import Testing
  import VaultCore

  @testable import VaultPostgres

  /// What the owner of a database does.
  @Suite(.needsServer) struct SchemaTests {
    private static func open(_ database: String, user: String = "postgres") throws -> PostgresDatabase {
      try PostgresDatabase(TestServer.url(database, user: user))
    }

    @Test func `tables that do not fit their version are refused, and not asked again without an end`() throws {
      let database = try TestServer.database(
        PostgresSchema.script + "update secretprefs.schema_version set version = 1")
      let code = refusal { _ = try PostgresDatabase(TestServer.url(database)).createSchema() }
      #expect(code != nil)
    }

    @Test func `of programs that create the tables at the same time, one does, and none fails`() throws {
      let database = try TestServer.database("")
      let created = Mutex<[PostgresDatabase.Change]>([])
      DispatchQueue.concurrentPerform(iterations: 6) { _ in
        let result = Result { try Self.open(database).createSchema() }
        do { created.withLock { [value = try result.get()] in $0.append(value) } } catch { Issue.record(error) }
      }
      #expect(created.withLock(\.self).count == 6)
      #expect(created.withLock { $0.count { $0 == .created } } == 1)
      #expect(try Self.open(database).status().schemaVersion == PostgresSchema.version)
    }

    @Test(arguments: [0, PostgresSchema.version + 1])
    func `tables of another version are left as they are`(version: Int) throws {
      let database = try TestServer.database(
        PostgresSchema.script + "update secretprefs.schema_version set version = \(version)")
      let opened = try Self.open(database)
      #expect(refusal { _ = try opened.createSchema() } == .unsupportedVersion)
      #expect(try opened.status().schemaVersion == version)
      #expect(try opened.status().vaults == nil)
    }

    @Test func `a schema of another purpose is refused`() throws {
      let database = try TestServer.database("create schema secretprefs")
      #expect(refusal { _ = try Self.open(database).createSchema() } == .unsupportedFeature)
    }

    @Test func `a role may do what status says`() throws {
      let database = try TestServer.database()
      let owner = try Self.open(database)
      var roles: [String] = []
      for access in [PostgresSchema.Access.requester, .reader, .writer, .owner] {
        let role = try TestServer.role(database)
        #expect(try !Self.open(database, user: role).status().mayRequest)
        try owner.grant(access, to: role)
        let status = try Self.open(database, user: role).status()
        #expect(status.role == role && status.mayRequest)
        #expect(status.mayRead == (access != .requester) && status.mayLog == status.mayRead)
        #expect(status.mayWrite == [.writer, .owner].contains(access))
        #expect(status.isOwner == (access == .owner))
        roles.append(role)
      }
      let stranger = try TestServer.role(database)
      for role in roles.dropLast() {
        let error = failure { try Self.open(database, user: role).grant(.reader, to: stranger) }
        #expect(error?.code == .readOnly && error?.errno == EACCES)
      }
      #expect(try !Self.open(database, user: stranger).status().mayUse)
      try Self.open(database, user: roles[3]).grant(.reader, to: stranger)
      #expect(try Self.open(database, user: stranger).status().mayRead)
    }

    @Test func `an owner who is no superuser gives the tables to a role that it is a member of`() throws {
      let database = try TestServer.database("")
      let owner = try TestServer.role(database)
      let next = try TestServer.role(database)
      try Administrator(database).run("grant create on database \(database) to \(owner); grant \(next) to \(owner)")
      let opened = try Self.open(database, user: owner)
      #expect(try opened.createSchema() == .created)
      try opened.grant(.owner, to: next)
      #expect(try Self.open(database, user: next).status().isOwner)
    }

    @Test func `a role that does not exist is notFound, and nothing is granted`() throws {
      let opened = try Self.open(try TestServer.database())
      let error = failure { try opened.grant(.writer, to: "no \"such\" role-7c1e") }
      #expect(error?.code == .notFound)
      #expect(error?.message.contains("7c1e") == false)
      // The connection is usable again.
      #expect(try opened.status().mayRead)
    }

    @Test func `a refused grant leaves no part of it`() throws {
      let database = try TestServer.database("create schema secretprefs; create table secretprefs.schema_version ()")
      let role = try TestServer.role(database)
      let opened = try Self.open(database)
      #expect(refusal { try opened.grant(.reader, to: role) } == .unsupportedFeature)
      #expect(try !Self.open(database, user: role).status().mayUse)
    }
  }
#endif
