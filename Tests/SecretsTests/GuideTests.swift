import Foundation
import PreferencesOperators
import Secrets
import SecretsTesting
import Testing

extension PreferenceKey<Int> {
  fileprivate static let port = Self("server.port", default: 80)
}

extension PreferenceKey<Secret<String>?> {
  fileprivate static let githubToken = Self("github.token")
}

/// The code of Preferences.docc that needs a vault, word for word: Scripts/documents guide compares the two.
@Suite(.throwawayVault) struct GuideTests {
  private let settings: DictionaryPreferences = ["port": 8080]
}

/// What a program has from a library of signatures.
private enum Curve25519 {
  enum Signing {
    struct PrivateKey {
      init(rawRepresentation: some ContiguousBytes) throws {
        let count = rawRepresentation.withUnsafeBytes { $0.count }
        guard count == 32 else { throw CocoaError(.coderInvalidValue) }
      }

      func signature(for message: Data) throws -> Data { message }
    }
  }
}

extension GuideTests {
  @Test func `a signing key is used where it is opened`() throws {
    let (secrets, message) = (try ThrowawayVault.current.preferences(), Data([1]))
    try secrets.set(Data(count: 32), forKey: "signing-key")

    let signature = try secrets.withBytes(forKey: "signing-key") { bytes in
      let key = try bytes.withUnsafeBytes { try Curve25519.Signing.PrivateKey(rawRepresentation: $0) }
      return try key.signature(for: message)
    }

    #expect(signature == message)
    try secrets.set(Data(count: 31), forKey: "signing-key")
    #expect(throws: CocoaError.self) {
      try secrets.withBytes(forKey: "signing-key") { bytes in
        try bytes.withUnsafeBytes { try Curve25519.Signing.PrivateKey(rawRepresentation: $0) }
      }
    }
  }

  @Test func `the port is read from plain layers, and the token from the vault`() throws {
    let tokens = try ThrowawayVault.current.preferences()
    try tokens.set("ghp_123", forKey: "github.token")

    let preferences = CompositePreferences([
      tokens.claiming(.names(["github.token"])),
      EnvironmentPreferences(prefix: "SHOP"),
      DictionaryPreferences(["server.port": 8080]),
    ])
    let port = try preferences.value(for: .port)
    let token = try preferences.value(for: .githubToken)

    #expect(port == 8080)
    #expect(try token?.withValue { $0 } == "ghp_123")
    ThrowawayVault.current.vault.lock()
    #expect(try preferences.value(for: .port) == 8080)
    #expect(throws: PreferencesError.self) { try preferences.value(for: .githubToken) }
    #expect(throws: PreferencesError.self) { try preferences.string(forKey: "github.token") }
    #expect(try preferences.integer(forKey: "server.port") == 8080)
  }

  @Test func `Prephirences: a keychain is a service in a vault`() throws {
    let vault = ThrowawayVault.current.vault

    let passwords = try SecretPreferences(service: "com.example.shop", in: vault)
    try passwords.set("correct horse", forKey: "ann")
    let password = try passwords.string(forKey: "ann")

    #expect(password == "correct horse")
  }

  @Test func `Prephirences: a store has a class and a group`() throws {
    let throwaway = try ThrowawayVault(groups: ["default", "shared"])
    let vault = throwaway.vault

    let afterUnlock = try SecretPreferences(
      service: "com.example.shop", accessibility: .afterFirstUnlock, in: vault)
    let shared = try SecretPreferences(service: "com.example.shop", accessGroup: "shared", in: vault)

    try afterUnlock.set("a", forKey: "ann")
    #expect(try shared.string(forKey: "ann") == nil)
    let record = try vault.record(service: Vault.Name("com.example.shop"), key: "ann", in: vault.group())
    #expect(record?.accessibility == .afterFirstUnlock)
  }

  @Test func `CryptoPrephirences: a secret key is sealed, whatever else is stored`() throws {
    let passwords = try ThrowawayVault.current.preferences()

    let preferences = CompositePreferences([passwords.claiming(.names(["github.token"])), settings])
    try preferences.set(Secret("ghp_123"), for: .githubToken)
    let token = try preferences.value(for: .githubToken)

    #expect(try token?.withValue { $0 } == "ghp_123")
    #expect(settings.keys() == ["port"])
    #expect(try passwords.string(forKey: "github.token") == "ghp_123")
  }

  @Test func `CryptoPrephirences: all settings are sealed and taken out again`() throws {
    let passwords = try ThrowawayVault.current.preferences()

    try passwords += settings
    let copy = try DictionaryPreferences(copying: passwords, includingSealed: true)

    #expect(copy["port"] == 8080)
    #expect(try DictionaryPreferences(copying: passwords).keys().isEmpty)
  }

  @Test func `Production: secrets move out of .env`() async throws {
    let folder = try TemporaryFolder()
    let path = folder.path + "/.env"
    try Data("PORT=80\nGITHUB_TOKEN=ghp_123\nSIGNING_KEY=AQI=\n".utf8).write(to: URL(filePath: path))
    let tokens = try ThrowawayVault.current.preferences()

    let migration = try await tokens.move(
      ["GITHUB_TOKEN": "github", "SIGNING_KEY": "signing"], from: DotenvPreferences(at: path)
    ) { name, value in
      guard name == "SIGNING_KEY", case .string(let text) = value else { return value }
      return PreferenceValue(parsing: text, as: .data) ?? value  // Base64 in the file, bytes in the vault
    }
    guard migration.missing.isEmpty else { throw VaultError(.notFound, "a token is neither in .env nor in the vault") }

    #expect(try tokens.string(forKey: "github") == "ghp_123")
    #expect(try tokens.data(forKey: "signing") == Data([1, 2]))
    #expect(try String(contentsOfFile: path, encoding: .utf8) == "PORT=80\n")
  }

  @Test func `Production: secrets are copied from the environment, and move from a different vault`() throws {
    let tokens = try ThrowawayVault.current.preferences()
    let throwaway = try ThrowawayVault()
    let other = throwaway.vault
    try SecretPreferences(service: "com.example.old", in: other).set("v", forKey: "github")

    let old = try SecretPreferences(service: "com.example.old", in: other)
    try tokens.move(["github": "github"], from: old)
    try tokens.copy(["GITLAB_TOKEN": "gitlab"], from: EnvironmentPreferences())

    #expect(try tokens.keys() == ["github"])
    #expect(try old.keys() == [])
  }
}
