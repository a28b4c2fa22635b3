#if ServiceLifecycle
  import InMemoryLogging
  import Logging
  import Secrets
  import SecretsLifecycle
  import SecretsTesting
  import ServiceLifecycle
  import Testing
  import UnixSignals

  extension PreferenceKey<Secret<String>?> {
    static let databasePassword = Self("database.password")
  }

  extension PreferenceKey<Logger.Level> {
    static let logLevel = Self("log.level", rawValue: Logger.Level.self, default: .info)
  }

  private actor Database: Service {
    private(set) var characters = 0
    func use(_ password: Secret<String>?) throws { characters = try password?.withValue { $0.count } ?? 0 }
    func run() async throws { try await gracefulShutdown() }
  }

  /// The code of SecretsLifecycle.docc, and that of Docs/Production.md that needs the trait, word for word:
  /// Scripts/documents guide compares them. It runs in a process of its own, because it replaces the handler of
  /// failures and handles signals.
  struct GuideTests {}

  extension GuideTests {
    @Test func `a vault in a service group`() async {
      await #expect(processExitsWith: .success) {
        let throwaway = try ThrowawayVault()
        let (path, unlocking) = (throwaway.path, Unlocking.key(throwaway.key))
        try await throwaway.preferences(service: "com.example.shop").set(Secret("s3cret"), for: .databasePassword)
        let journal = Journal()
        var logger = journal.logger
        let (database, server) = (Database(), Dependent { try await gracefulShutdown() })

        let vault = try await Vault.open(at: path, unlocking: unlocking)  // a missing key stops the program here
        let secrets = try SecretPreferences(service: "com.example.shop", in: vault)
        PreferenceFailures.setHandler { [logger] in logger.log($0) }  // failures of subscripts and property wrappers

        let vaultService = VaultService(secrets, unlocking: unlocking, logger: logger) {
          try await database.use(secrets.required(.databasePassword))  // at the start, and after each change
        }
        let group = ServiceGroup(
          services: [vaultService, database, server], gracefulShutdownSignals: [.sigterm, .sigint], logger: logger)

        async let running: Void = group.run()
        while await database.characters != 6 { try await Task.sleep(for: .milliseconds(1)) }
        let status = vault.health().isReady ? 200 : 503
        #expect(status == 200)
        await group.triggerGracefulShutdown()
        try await running
        #expect("\(vault.health())" == "locked")
        #expect(secrets[.databasePassword] == nil)
        #expect(journal.lines.last == "error A preference could not be read or written")

        let preferences = DictionaryPreferences(["log.level": "debug"])
        logger.logLevel = try preferences.value(for: .logLevel)
        #expect(logger.logLevel == .debug)
      }
    }
  }
#endif
