#if PostgreSQL
  import SecretsTesting
  import Testing
  import VaultCore

  @testable import VaultPostgres

  /// The rules of storages, over a database.
  @Suite(.needsServer) struct PostgresRuleTests {
    private static let postgres = StorageUnderTest(
      "PostgreSQL", reopening: { storage, _ in try (storage as? PostgresStorage)?.reopened() ?? storage },
      make: { fixture in try TestServer.storage(vault: fixture.uniqueName()) })

    @Test(arguments: StorageRule.all)
    func `a storage in a database keeps every rule`(rule: StorageRule) async { await rule.check(Self.postgres) }
  }
#endif
