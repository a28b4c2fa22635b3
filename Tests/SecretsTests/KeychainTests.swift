import Foundation
import Secrets
import SecretsTesting
import Synchronization
import Testing

/// The samples of KeychainAccess's manual, with the initialiser of this package.
@Suite(.throwawayVault) struct KeychainTests {
  private let keychain: Keychain
  private let key = "kishikawakatsumi"
  private let token = "01234567-89ab-cdef-0123-456789abcdef"

  init() throws { keychain = try Keychain(service: "com.example.github-token", in: ThrowawayVault.current.vault) }
}

extension KeychainTests {
  @Test func `saving, obtaining and removing by subscript`() throws {
    keychain[key] = token
    #expect(keychain[key] == token)
    keychain[string: key] = "new"
    #expect(keychain[string: key] == "new")
    keychain[data: "secret"] = Data([0xFF, 0])
    #expect(keychain[data: "secret"] == Data([0xFF, 0]))
    keychain[key] = nil
    keychain[data: "secret"] = nil
    #expect(keychain[key] == nil)
    #expect(try keychain.secrets.keys() == [])
  }

  @Test func `saving, obtaining and removing by method`() throws {
    try keychain.set(token, key: key)
    try keychain.set(Data("text".utf8), key: "data")

    #expect(try keychain.get(key) == token)
    #expect(try keychain.getString(key) == token)
    #expect(try keychain.getData(key) == Data(token.utf8))
    #expect(try keychain.getString("data") == "text")
    #expect(try keychain.contains(key))
    try keychain.remove(key)
    try keychain.remove(key)
    #expect(try keychain.get(key) == nil)
    #expect(try keychain.contains(key) == false)
    try keychain.removeAll()
    #expect(keychain.allKeys() == [])
  }

  @Test func `label, comment and attributes`() throws {
    do {
      try keychain
        .label("github.com (kishikawakatsumi)")
        .comment("github access token")
        .attributes(["creator": Data("ops".utf8)])
        .set(token, key: key)
    } catch let error {
      Issue.record("error: \(error)")
    }

    let attributes = keychain[attributes: key]
    #expect(attributes?.label == "github.com (kishikawakatsumi)")
    #expect(attributes?.comment == "github access token")
    #expect(attributes?.attributes == ["creator": Data("ops".utf8)])
    #expect(attributes?.creationDate == attributes?.modificationDate)
    #expect(try keychain.get(key) { $0?.label } == "github.com (kishikawakatsumi)")
    #expect(keychain[attributes: "nothing"] == nil)
  }

  @Test func `configuration`() throws {
    let configured = keychain.label("github.com").accessibility(.afterFirstUnlock)
    configured[key] = token
    try keychain.accessibility(.whenUnlocked).set(token, key: "other")

    #expect(keychain[attributes: key]?.accessibility == .afterFirstUnlock)
    #expect(keychain[attributes: key]?.label == "github.com")
    #expect(keychain[attributes: "other"]?.accessibility == .whenUnlocked)
    #expect(keychain[attributes: "other"]?.label == nil)
  }

  @Test func `sharing is by access group`() throws {
    let vault = try ThrowawayVault(groups: ["default", "shared"])
    let shared = try Keychain(service: "shop", accessGroup: "shared", in: vault.vault)
    shared[key] = token

    #expect(try Keychain(service: "shop", in: vault.vault).get(key) == nil)
    #expect(shared.accessGroup == "shared" && shared.service == "shop")
    #expect(code { try Keychain(service: "shop", accessGroup: "other", in: vault.vault) } == .groupNotGranted)
  }

  @Test func `all keys and items, which print without values`() throws {
    keychain[key] = token
    keychain[data: "data"] = Data(token.utf8)
    let keys = keychain.allKeys()
    let items = keychain.allItems()

    #expect(keys == ["data", key])
    #expect(items.map { $0["key"] as? String } == keys)
    #expect(items.allSatisfy { $0["service"] as? String == "com.example.github-token" })
    #expect(try (items[1]["value"] as? Secret<String>)?.withValue { $0 } == token)
    #expect(items[0]["accessibility"] as? String == "whenUnlocked")
    for item in items {
      let text = "item: \(item)"
      #expect(!text.contains(token))
    }
    #expect("\(keychain)" == "vault com.example.github-token/default")
  }

  @Test func `what cannot throw reports`() throws {
    keychain[key] = token
    ThrowawayVault.current.vault.lock()
    let failures = Mutex<[String]>([])
    PreferenceFailures.withHandler { failure in
      failures.withLock { $0.append("\(failure.key) \((failure.error as? VaultError)?.code.rawValue ?? "?")") }
    } _: {
      #expect(keychain[key] == nil)
      keychain[key] = "new"
      #expect(keychain.allKeys() == [])
      #expect(keychain.allItems().isEmpty)
      #expect(keychain[attributes: key] == nil)
    }
    #expect(failures.withLock(\.self) == ["\(key) locked", "\(key) locked", "* locked", "* locked", "\(key) locked"])
    #expect(code { try keychain.get(key) } == .locked)
  }

  @Test func `a change in place of a value that cannot be read writes nothing`() throws {
    try keychain.set(Data([0xC3, 0x28]), key: key)
    let failures = Mutex<[String]>([])
    PreferenceFailures.withHandler { failure in
      failures.withLock { $0.append(failure.key) }
    } _: {
      keychain[key]? += "!"
      keychain[string: key]? += "!"
    }
    #expect(failures.withLock(\.self) == [key, key])
    #expect(try keychain.getData(key) == Data([0xC3, 0x28]))
    keychain[data: key]?.append(0)
    #expect(try keychain.getData(key) == Data([0xC3, 0x28, 0]))
    keychain[string: "note"] = "a"
    keychain["note"]? += "b"
    #expect(try keychain.get("note") == "ab")
  }

  @Test func `data that is no text is not a string`() throws {
    try keychain.set(Data([0xC3, 0x28]), key: key)
    #expect(code { try keychain.getString(key) } == .typeMismatch)
  }
}
