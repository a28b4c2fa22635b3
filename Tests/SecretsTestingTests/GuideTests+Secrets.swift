import Foundation
import Secrets
import SecretsTesting
import Synchronization
import Testing

/// The code of SecretsTesting.docc, word for word: Scripts/documents guide compares the two.
enum Authorization: Equatable {
  case header(String)
  case signedOut
  case unavailable
}

func authorization(from tokens: any PreferencesReader) -> Authorization {
  do {
    guard let token = try tokens.secret(String.self, forKey: "github") else { return .signedOut }
    return .header(try token.withValue { "Bearer \($0)" })
  } catch {
    return .unavailable
  }
}

@Suite(.throwawayVault) struct AuthorizationTests {
  @Test func `a request has the token of the vault`() throws {
    let tokens = try ThrowawayVault.current.preferences(service: "com.example.shop")
    try tokens.set("ghp_example", forKey: "github")
    #expect(authorization(from: tokens) == .header("Bearer ghp_example"))
  }

  @Test(.throwawayVault(groups: ["billing", "support"]), arguments: ["billing", "support"])
  func `each team has its own token`(group: String) throws {
    let tokens = try ThrowawayVault.current.preferences(accessGroup: group)
    #expect(authorization(from: tokens) == .signedOut)
  }
}

struct SecretsGuideTests {
  @Test(.throwawayVault) func `a token comes back`() throws {
    let tokens = try ThrowawayVault.current.preferences(service: "com.example.shop")
    try tokens.set("ghp_example", forKey: "github")
    #expect(try tokens.string(forKey: "github") == "ghp_example")
  }

  @Test(.throwawayVault, arguments: [.locked, .damaged] as [FailingPreferences.Condition])
  func `a request fails while the token cannot be read`(condition: FailingPreferences.Condition) throws {
    let tokens = FailingPreferences(try ThrowawayVault.current.preferences())
    try tokens.set("ghp_example", forKey: "github")

    tokens.become(condition)
    #expect(authorization(from: tokens) == .unavailable)

    tokens.become(.working)
    #expect(authorization(from: tokens) == .header("Bearer ghp_example"))
  }

  @Test(.throwawayVault) func `a locked vault is no missing token`() throws {
    let vault = ThrowawayVault.current
    let tokens = try vault.preferences()
    try tokens.set("ghp_example", forKey: "github")

    vault.lock()
    #expect(authorization(from: tokens) == .unavailable)

    try vault.unlock()
    #expect(authorization(from: tokens) == .header("Bearer ghp_example"))
  }

  @Test func `a full disk loses no token`() throws {
    let tokens = FailingPreferences(isSealed: true)
    try tokens.set("old", forKey: "github")

    tokens.become(.full)
    let error = #expect(throws: VaultError.self) { try tokens.set("new", forKey: "github") }

    #expect(error?.code == .io)
    #expect(try tokens.string(forKey: "github") == "old")
  }

  @Test func `a vault that locks during a request fails the request`() async throws {
    let tokens = FailingPreferences(["github": "ghp_example"] as DictionaryPreferences, isSealed: true)
    tokens.become(.slow)

    async let answer = BlockingWork.run { authorization(from: tokens) }
    try await tokens.waitForCalls()
    tokens.become(.locked)

    #expect(try await answer == .unavailable)
  }

  @Test(.throwawayVault) func `no use of a token is counted twice`() async throws {
    let vault = ThrowawayVault.current
    let tokens = FailingPreferences(try vault.preferences())
    let other = try SecretPreferences(service: "com.example.test", in: vault.reopened())
    let uses = PreferenceKey("uses", default: 0)
    tokens.become(.slowWrites)

    async let counted = tokens.update(uses) { $0 += 1 }
    try await tokens.waitForCalls()
    try await other.set(10, for: uses)
    tokens.become(.working)

    #expect(try await counted == .visible)
    #expect(try other.value(for: uses) == 11)
  }

  struct AppConfig {
    let layers: CompositePreferences

    init(vault: some PreferencesReader, environment: [String: String]) {
      layers = [
        vault.claiming(.names(["database.password"])), EnvironmentPreferences(environment: environment),
        DictionaryPreferences(["port": 8080]),
      ]
    }

    var port: Int { get throws { try layers.value(for: PreferenceKey("port", default: 80)) } }
    var password: Secret<String>? { get throws { try layers.secret(forKey: "database.password") } }
  }

  @Test func `the port can be read while the vault is locked, and the password cannot`() throws {
    let vault = FailingPreferences(isSealed: true)
    let config = AppConfig(vault: vault, environment: ["PORT": "9090", "DATABASE_PASSWORD": "weak"])

    vault.become(.locked)

    #expect(try config.port == 9090)
    let error = #expect(throws: PreferencesError.self) { try config.password }
    #expect(error?.code == .unavailable)
    #expect((error?.cause as? VaultError)?.code == .locked)
  }

  @Test func `an expired password is refused`() throws {
    let milliseconds = Mutex<Int64>(0)
    var options = Vault.Options()
    options.now = { milliseconds.withLock { $0 } }
    options.expiredRecords = .refuse
    let vault = try ThrowawayVault(options: options)
    let passwords = try vault.preferences()
    try passwords.set("p", forKey: "database", expires: Date(timeIntervalSince1970: 60))

    #expect(try passwords.string(forKey: "database") == "p")
    milliseconds.withLock { $0 = 60_000 }
    let error = #expect(throws: VaultError.self) { try passwords.string(forKey: "database") }
    #expect(error?.code == .expired)
  }

  @Test(.throwawayVault) func `new tokens survive a vault that locks during the refresh`() async throws {
    let vault = ThrowawayVault.current
    let token = RefreshingToken("github", in: try vault.preferences()) { _ in
      vault.lock()
      return try RefreshingToken.Tokens(access: "new", refresh: "r2", expires: .distantFuture)
    }
    try await token.set(RefreshingToken.Tokens(access: "old", refresh: "r1", expires: Date(timeIntervalSince1970: 0)))

    let error = await #expect(throws: VaultError.self) { try await token.accessToken() }
    #expect(error?.code == .locked)

    try vault.unlock()
    #expect(try await token.accessToken() == Secret("new"))
  }

  @Test(.throwawayVault) func `neither an error nor a file shows the token`() throws {
    let vault = ThrowawayVault.current
    let tokens = try vault.preferences()
    try tokens.set("ghp_example", forKey: "github")
    let error = try #require(throws: VaultError.self) { try tokens.data(forKey: "github") }

    let token = try tokens.secret(String.self, forKey: "github")
    for value in ["request failed: \(error)", error, tokens, token as Any] as [Any] {
      #expect(traces(of: "ghp_example", in: value) == [])
    }
    #expect(try traces(of: "ghp_example", inFilesAt: vault.path) == [])
  }
}
