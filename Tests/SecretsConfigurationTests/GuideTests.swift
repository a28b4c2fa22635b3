#if Configuration
  import Configuration
  import Secrets
  import SecretsConfiguration
  import SecretsTesting
  import Testing

  /// The code of README.md that needs the trait, word for word: Scripts/guide compares the two.
  @Suite(.throwawayVault) struct GuideTests {
    @Test func `a vault is a provider, and a provider is a layer`() throws {
      let tokens = try ThrowawayVault.current.preferences()
      try tokens.set("ghp_example", forKey: "github")

      let config = ConfigReader(providers: [EnvironmentVariablesProvider(), VaultConfigProvider(tokens)])
      let github = try config.requiredString(forKey: "github")  // throws if the vault is locked

      let layers = CompositePreferences([
        tokens.claiming(.names(["github"])),
        ConfigProviderPreferences(EnvironmentVariablesProvider()),
      ])
      #expect(github == "ghp_example")
      #expect(try layers.string(forKey: "github") == "ghp_example")
    }
  }
#endif
