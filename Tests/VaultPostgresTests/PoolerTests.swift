#if PostgreSQL
  import Secrets
  import SecretsTesting
  import Testing
  import VaultCore

  @testable import VaultPostgres

  /// A pooler in transaction mode between the storage and the server.
  @Suite(.enabled(if: TestServer.pooler != nil, "needs a pooler: run Scripts/postgres")) struct PoolerTests {
    private static let pooled = StorageUnderTest(
      "PostgreSQL behind a pooler",
      reopening: { storage, _ in try (storage as? PostgresStorage)?.reopened(folder: TestServer.pooler) ?? storage },
      make: { fixture in try TestServer.storage(vault: fixture.uniqueName(), folder: TestServer.pooler) })

    @Test(arguments: StorageRule.all)
    func `a storage behind a pooler keeps every rule`(rule: StorageRule) async { await rule.check(Self.pooled) }

    @Test func `statements are prepared only without a pooler, and each only once`() throws {
      for (folder, isPrepared) in [(TestServer.folder, true), (TestServer.pooler, false)] {
        let sample = try StoredSample(in: try TestServer.storage(folder: folder).unfollowed())
        for number in 0..<5 { try sample.secrets.set("value \(number)", forKey: "a") }
        let rows = try sample.storage.core.pool.acquire().run([
          Statement("select count(*), count(distinct statement) from pg_prepared_statements where name <> ''")
        ])
        let count = try rows[0].number(0, 0)
        #expect(try rows[0].number(0, 1) == count)
        #expect(isPrepared ? count > 5 : count == 0)
      }
    }

    @Test func `a pooler is noticed, and a direct connection is not taken for one`() throws {
      #expect(try TestServer.storage(folder: TestServer.pooler).core.pool.acquire().facts.isPooled)
      #expect(try !TestServer.storage().core.pool.acquire().facts.isPooled)
    }

    @Test func `nothing is left in the sessions of the server`() throws {
      let sample = try StoredSample(in: try TestServer.storage(folder: TestServer.pooler))
      for number in 0..<5 { try sample.secrets.set("value \(number)", forKey: "a") }
      #expect(try sample.secrets.string(forKey: "a") == "value 4")
      for _ in 0..<10 {
        let rows = try sample.storage.core.pool.acquire().run([
          Statement("select current_setting('lock_timeout'), current_setting('search_path')"),
          Statement("select count(*) from pg_prepared_statements"),
          Statement("select count(*) from pg_listening_channels()"),
        ])
        #expect(try rows[0].text(0, 0) == "0" && rows[0].text(0, 1).contains("public"))
        #expect(try rows[1].number(0, 0) == 0)
        #expect(try rows[2].number(0, 0) == 0)
      }
    }
  }
#endif
