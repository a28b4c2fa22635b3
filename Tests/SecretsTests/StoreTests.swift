import Foundation
import Secrets
import SecretsTesting
import Testing

/// What the store promises about scope, presence and failures.
@Suite(.throwawayVault) struct StoreTests {}

extension StoreTests {
  @Test func `item 110: services do not see each other`() throws {
    let shop = try ThrowawayVault.current.preferences(service: "shop")
    let other = try ThrowawayVault.current.preferences(service: "shop2")
    try shop.set("a", forKey: "token")
    try other.set("b", forKey: "token")

    #expect(try shop.keys() == ["token"])
    try shop.removeAll()

    #expect(try shop.keys() == [])
    #expect(try other.string(forKey: "token") == "b")
  }

  @Test func `item 110: access groups do not see each other`() throws {
    let vault = try ThrowawayVault(groups: ["default", "billing"])
    let plain = try vault.preferences()
    let billing = try vault.preferences(accessGroup: "billing")
    try plain.set("a", forKey: "token")
    try billing.set("b", forKey: "token")
    try billing.removeAll()

    #expect(try plain.string(forKey: "token") == "a")
    #expect(try billing.string(forKey: "token") == nil)
  }

  @Test func `a group that is not there is refused at creation`() {
    #expect(code { try ThrowawayVault.current.preferences(accessGroup: "billing") } == .groupNotGranted)
  }

  @Test(arguments: ["", "line\nbreak", "tab\t", "\u{85}", String(repeating: "k", count: 1025)])
  func `item 110: bad names are refused everywhere`(_ name: String) throws {
    let secrets = try ThrowawayVault.current.preferences()

    #expect(code { try ThrowawayVault.current.preferences(service: name) } == .invalidName)
    #expect(code { try ThrowawayVault.current.preferences(accessGroup: name) } == .invalidName)
    #expect(code { try secrets.string(forKey: name) } == .invalidName)
    // Writes are one `edit`, whose names every store checks alike.
    for write in [{ try secrets.set("v", forKey: name) }, { try secrets.removeValue(forKey: name) }]
      as [() throws -> Void]
    {
      let error = #expect(throws: PreferencesError.self, performing: write)
      #expect(error?.code == .invalidKey)
    }
  }

  @Test func `item 115: presence is present, absent or an error`() throws {
    let vault = try ThrowawayVault()
    let secrets = try vault.preferences()
    try secrets.set("v", forKey: "key")

    #expect(answer(secrets.presence(forKey: "key")) == "present")
    #expect(answer(secrets.presence(forKey: "other")) == "absent")
    try FileManager.default.removeItem(atPath: vault.path)
    #expect(answer(secrets.presence(forKey: "key")) == "notFound")
  }

  private func answer(_ presence: Vault.Presence) -> String {
    switch presence {
    case .present: "present"
    case .absent: "absent"
    case .unavailable(let error): error.code.rawValue
    }
  }

  @Test func `a vault that fails stops a composite's lookup`() throws {
    let vault = try ThrowawayVault()
    let preferences = CompositePreferences([
      try vault.preferences().claiming(.names(["password"])), DictionaryPreferences(["password": "weak default"]),
    ])
    try FileManager.default.removeItem(atPath: vault.path)

    #expect {
      try preferences.string(forKey: "password")
    } throws: { error in
      let failure = error as? PreferencesError
      return failure?.code == .unavailable && (failure?.cause as? VaultError)?.code == .notFound
    }
  }

  @Test func `a batch is one write`() throws {
    let vault = ThrowawayVault.current
    let secrets = try vault.preferences()

    try secrets.set(Dictionary(uniqueKeysWithValues: (0..<100).map { ("key \($0)", .integer($0)) }))

    #expect(try secrets.keys().count == 100)
    #expect(try vault.vault.status().groups[0].generation == 2)
  }

  @Test func `concurrent writes share entries and lose nothing`() async throws {
    let vault = ThrowawayVault.current
    let secrets = try vault.preferences()

    try await withThrowingTaskGroup(of: Void.self) { group in
      for index in 0..<64 {
        group.addTask { for write in 0..<5 { try await secrets.set("v", forKey: "\(index) \(write)") } }
      }
      try await group.waitForAll()
    }

    #expect(try secrets.keys().count == 320)
    #expect(try vault.vault.status().groups[0].generation < 321)
    let again = try SecretPreferences(service: "com.example.test", in: vault.reopened())
    #expect(try again.keys().count == 320)
  }

  @Test func `an asynchronous write is readable when it returns`() async throws {
    let vault = ThrowawayVault.current
    let secrets = try vault.preferences()

    try await secrets.set("v", forKey: "key")

    let again = try SecretPreferences(service: "com.example.test", in: vault.reopened())
    #expect(try again.string(forKey: "key") == "v")
    try await secrets.removeValue(forKey: "key")
    #expect(try again.string(forKey: "key") == nil)
  }

  @Test func `another handle's write is seen by the next read`() throws {
    let vault = ThrowawayVault.current
    let here = try vault.preferences()
    let there = try SecretPreferences(service: "com.example.test", in: vault.reopened())

    for round in 0..<300 {
      try (round % 2 == 0 ? here : there).set("\(round)", forKey: "key")
      #expect(try (round % 2 == 0 ? there : here).string(forKey: "key") == "\(round)")
    }
  }

  @Test func `item 120: nothing that can be printed holds a value`() throws {
    let vault = ThrowawayVault.current
    let secrets = try vault.preferences()
    let sentinel = "SENTINEL-5f3a"
    try secrets.set(sentinel, forKey: "key")
    _ = try secrets.string(forKey: "key")
    let composite = CompositePreferences([secrets.claiming(.everything)])
    let error = code { try secrets.data(forKey: "key") }

    let shown: [Any] = [
      secrets, vault, vault.vault, secrets.presence(forKey: "key"), try vault.vault.status(),
      try composite.explain("key"), error as Any, try secrets.info(forKey: "key") as Any, try secrets.snapshot(),
    ]
    for value in shown { #expect(traces(of: sentinel, in: value) == []) }
    #expect(try traces(of: sentinel, inFilesAt: vault.path) == [])
  }

  @Test func `each test has a vault of its own`() throws {
    #expect(try ThrowawayVault.current.preferences().keys() == [])
  }

  @Test(.throwawayVault(withPassphrase: true)) func `passphrase and key open the same vault`() throws {
    let vault = ThrowawayVault.current
    try vault.preferences().set("v", forKey: "key")

    let byPassphrase = try Vault.open(at: vault.path, credential: .passphrase(ThrowawayVault.passphrase))
    #expect(try SecretPreferences(service: "com.example.test", in: byPassphrase).string(forKey: "key") == "v")
    #expect(code { try Vault.open(at: vault.path, credential: .passphrase("wrong")) } == .credentialRejected)
  }
}
