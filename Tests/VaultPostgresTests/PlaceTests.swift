#if PostgreSQL
  import Testing
  import VaultCore

  @testable import VaultPostgres

  /// The URL of a database: what is accepted, and what its errors show. Without a server.
  struct PlaceTests {
    @Test(arguments: [
      ("postgresql:///secrets", "postgresql:///secrets#shop"),
      ("postgres://db.example.com/secrets", "postgresql://db.example.com/secrets#shop"),
      ("postgresql://me@db.example.com:6432/secrets", "postgresql://db.example.com:6432/secrets#shop"),
      ("postgresql://a,b:1/secrets?target_session_attrs=read-write", "postgresql://a,b:1/secrets#shop"),
      ("postgresql:///secrets?host=/run/postgresql", "postgresql://%2Frun%2Fpostgresql/secrets#shop"),
      ("postgresql:///secrets?host=/run/postgresql&sslmode=disable", "postgresql://%2Frun%2Fpostgresql/secrets#shop"),
      ("postgresql://db.example.com/secrets?sslmode=verify-full", "postgresql://db.example.com/secrets#shop"),
      ("postgresql:///?service=fleet", "postgresql:///?service=fleet#shop"),
    ])
    func `a storage is named by its place, without user and parameters`(url: String, name: String) throws {
      #expect(try PostgresStorage(url, vault: "shop").name == name)
    }

    @Test func `vaults of one database have different names`() throws {
      let url = "postgresql:///secrets"
      let names = try ["a", "A", "a/b", "a%2Fb", "é", " "].map { try PostgresStorage(url, vault: $0).name }
      #expect(Set(names).count == names.count)
      #expect(names.allSatisfy { $0.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F } })
    }

    @Test(arguments: [
      "", "secrets", "/var/lib/secrets.spv", "host=db dbname=secrets", "mysql://db/secrets", "postgresql:/secrets",
      "postgresql://db:port:1/secrets", "postgresql://db/secrets?unknown=1", "postgresql://db/secrets?sslmode",
      "postgresql://[::1/secrets", "postgresql://db/sec\nrets", "postgresql://db/secrets%0A",
      "postgresql://db/sec%00rets",
      "postgresql://db/secrets?replication=database", "postgresql://db/%zz",
    ])
    func `a wrong URL is refused, and is not in the error`(url: String) {
      let error = failure { _ = try PostgresStorage(url, vault: "shop") }
      #expect(error?.code == .invalidName)
      #expect(error?.message.hasPrefix("this is not the URL of a PostgreSQL database") == true)
    }

    @Test(arguments: [
      "postgresql://me:PRIVATE-7b2e@db/secrets", "postgresql://db/secrets?password=PRIVATE-7b2e",
      "postgresql:///secrets?host=/run&password=PRIVATE-7b2e", "postgresql://db/secrets?sslpassword=PRIVATE-7b2e",
      "postgresql://me:PRIVATE%2D7b2e@db/secrets",
    ])
    func `a password in a URL is refused, and is not in the error`(url: String) {
      let error = failure { _ = try PostgresStorage(url, vault: "shop") }
      #expect(error?.code == .insecurePermissions)
      #expect(error?.message.contains("PGPASSFILE") == true)
      #expect(error?.message.contains("PRIVATE") == false)
    }

    @Test(arguments: ["disable", "allow", "prefer", "require", "verify-ca", "", "VERIFY-FULL"])
    func `a weaker TLS than verify-full is refused, unless the host is a socket`(mode: String) throws {
      for url in ["postgresql://db/secrets", "postgresql:///secrets", "postgresql:///secrets?host=/run,db"] {
        let parameter = url.contains("?") ? "&sslmode=" : "?sslmode="
        let error = failure { _ = try PostgresStorage(url + parameter + mode, vault: "shop") }
        #expect(error?.code == .insecurePermissions, "\(url)")
        #expect(error?.message.contains("sslmode=verify-full") == true)
      }
      _ = try PostgresStorage("postgresql:///secrets?host=/run&sslmode=\(mode)", vault: "shop")
    }

    @Test(arguments: ["", "a\nb", "a\u{0}b", String(repeating: "x", count: 1025)])
    func `a vault's name keeps the rule of names`(vault: String) {
      #expect(refusal { _ = try PostgresStorage("postgresql:///secrets", vault: vault) } == .invalidName)
    }

    @Test(arguments: [
      "postgresql:///secrets?host=/nonexistent", "postgresql://127.0.0.1:1/secrets",
      "postgresql://PRIVATE-7b2e.invalid/secrets", "postgresql://PRIVATE%2D7b2e@127.0.0.1:1/secrets",
    ])
    func `a database that is not there is unreachable, for every call`(url: String) throws {
      let storage = try PostgresStorage(url, vault: "shop")
      let failures = [
        failure { _ = try storage.load(limit: .max) },
        failure { _ = try storage.lock(until: LockDeadline(after: .zero)) },
        failure { _ = try storage.create([1]) },
        failure { try storage.refresh() },
        failure { try storage.checkVacant() },
      ]
      for error in failures {
        #expect(error?.code == .unreachable)
        #expect(error?.message.hasPrefix(storage.name) == true)
        // The host is in the name; the user is nowhere.
        #expect(error?.message.dropFirst(storage.name.count).contains("PRIVATE") == false)
      }
    }

    @Test func `identifiers are quoted`() {
      #expect(PostgresSchema.quoted("a") == "\"a\"")
      #expect(PostgresSchema.quoted("a\"; drop table x; --") == "\"a\"\"; drop table x; --\"")
      #expect(PostgresSchema.grant(.reader, to: "a\"b").contains("to \"a\"\"b\";"))
    }
  }
#endif
