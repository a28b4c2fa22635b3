#if Configuration
  import Configuration
  import Foundation
  import Secrets
  import SecretsConfiguration
  import SecretsTesting
  import Testing

  /// What a program has without `VaultConfigProvider`.
  private enum ByHand {
    struct KeychainProvider: ConfigProvider {
      let keychain: Keychain
      var providerName: String { "KeychainProvider[\(keychain.service)]" }

      func value(forKey key: AbsoluteConfigKey, type: ConfigType) throws -> LookupResult {
        let name = key.components.joined(separator: ".")
        guard let data = try keychain.getData(name) else { return LookupResult(encodedKey: name, value: nil) }
        return LookupResult(encodedKey: name, value: ConfigValue(try content(data, as: type), isSecret: true))
      }

      func fetchValue(forKey key: AbsoluteConfigKey, type: ConfigType) async throws -> LookupResult {
        try value(forKey: key, type: type)
      }

      func watchValue<Return: ~Copyable>(
        forKey key: AbsoluteConfigKey, type: ConfigType,
        updatesHandler: (ConfigUpdatesAsyncSequence<Result<LookupResult, any Error>, Never>) async throws -> Return
      ) async throws -> Return {
        try await watchValueFromValue(forKey: key, type: type, updatesHandler: updatesHandler)
      }

      func snapshot() -> any ConfigSnapshot { Snapshot(provider: self) }

      func watchSnapshot<Return: ~Copyable>(
        updatesHandler: (ConfigUpdatesAsyncSequence<any ConfigSnapshot, Never>) async throws -> Return
      ) async throws -> Return {
        try await watchSnapshotFromSnapshot(updatesHandler: updatesHandler)
      }

      private func content(_ data: Data, as type: ConfigType) throws -> ConfigContent {
        let text = String(decoding: data, as: UTF8.self)
        switch type {
        case .string: return .string(text)
        case .bytes: return .bytes(Array(data))
        case .int: if let number = Int(text) { return .int(number) }
        case .double: if let number = Double(text) { return .double(number) }
        case .bool: if let flag = Bool(text) { return .bool(flag) }
        default: break
        }
        throw NotConvertible()
      }

      struct NotConvertible: Error {}

      private struct Snapshot: ConfigSnapshot {
        let provider: KeychainProvider
        var providerName: String { provider.providerName }

        func value(forKey key: AbsoluteConfigKey, type: ConfigType) throws -> LookupResult {
          try provider.value(forKey: key, type: type)
        }
      }
    }
  }

  /// The code of SecretsConfiguration.docc, and of Docs/Library.md that needs the trait, word for word:
  /// Scripts/documents guide compares them.
  @Suite(.throwawayVault) struct GuideTests {}

  extension GuideTests {
    @Test func `a vault is a provider, and a provider is a layer`() throws {
      let tokens = try ThrowawayVault.current.preferences()
      try tokens.set("ghp_example", forKey: "github")

      let secrets = VaultConfigProvider(tokens, claiming: .names(["github"]))
      let config = ConfigReader(providers: [secrets, EnvironmentVariablesProvider()])
      let github = try config.requiredString(forKey: "github")  // throws if the vault is locked

      let layers = CompositePreferences([
        tokens.claiming(.names(["github"])),
        ConfigProviderPreferences(EnvironmentVariablesProvider()),
      ])
      #expect(github == "ghp_example")
      #expect(try layers.string(forKey: "github") == "ghp_example")
    }

    @Test func `a vault is a provider of passwords`() throws {
      let tokens = try ThrowawayVault.current.preferences()
      try tokens.set("s3cret", forKey: "database.password")

      let secrets = VaultConfigProvider(tokens, claiming: .prefix("database."))
      let config = ConfigReader(providers: [secrets, EnvironmentVariablesProvider()])
      let password = try config.requiredString(forKey: "database.password")

      #expect(password == "s3cret")
      tokens.vault.lock()
      #expect(throws: (any Error).self) { try config.requiredString(forKey: "database.password") }
      #expect(config.string(forKey: "database.password") == nil)
    }

    @Test func `a provider is a layer beside a vault`() throws {
      let tokens = try ThrowawayVault.current.preferences()
      try tokens.set("s3cret", forKey: "database.password")

      let layers = CompositePreferences([
        tokens.claiming(.prefix("database.")),
        ConfigProviderPreferences(EnvironmentVariablesProvider()),
      ])

      #expect(try layers.string(forKey: "database.password") == "s3cret")
      #expect(try layers.string(forKey: "path") != nil)
    }

    @Test func `the provider by hand reads, and its snapshot is not of one moment`() throws {
      let keychain = try Keychain(service: "com.example.shop", in: ThrowawayVault.current.vault)
      let provider = ByHand.KeychainProvider(keychain: keychain)
      let config = ConfigReader(provider: provider)
      try keychain.set("s3cret", key: "database.password")
      try keychain.set("5432", key: "database.port")
      try keychain.set("many", key: "database.pool")

      #expect(try config.requiredString(forKey: "database.password") == "s3cret")
      #expect(try config.requiredInt(forKey: "database.port") == 5432)
      #expect(throws: (any Error).self) { try config.requiredInt(forKey: "database.pool") }
      #expect(throws: (any Error).self) { try config.requiredStringArray(forKey: "database.password") }
      let snapshot = provider.snapshot()
      try keychain.set("changed", key: "database.password")
      #expect(try snapshot.string(["database", "password"]) == "changed")
    }
  }
#endif
