import Foundation
import Secrets
import SecretsTesting
import Synchronization
import Testing

/// The class that a store writes with, and what a store and composites with it return while the vault is locked.
@Suite(.throwawayVault) struct LockedStoreTests {}

extension LockedStoreTests {
  private static func store(_ accessibility: Vault.Accessibility? = nil, in vault: Vault) throws -> SecretPreferences {
    try SecretPreferences(service: "com.example.test", accessibility: accessibility, in: vault)
  }

  private static func accessibility(_ key: String, in vault: Vault) throws -> Vault.Accessibility? {
    try vault.record(service: Vault.Name("com.example.test"), key: key, in: vault.group())?.accessibility
  }

  /// A vault with `token` for while it is unlocked, and `background` for afterwards.
  private static func locked() throws -> (vault: ThrowawayVault, store: SecretPreferences) {
    let vault = ThrowawayVault.current
    try store(.whenUnlocked, in: vault.vault).set("t", forKey: "token")
    try store(.afterFirstUnlock, in: vault.vault).set("b", forKey: "background")
    let store = try store(in: vault.vault)
    vault.vault.lock()
    return (vault, store)
  }

  // MARK: Classes

  /// A vault whose handle has a device key.
  private static func vaultOfDevice() throws -> ThrowawayVault {
    var options = Vault.Options()
    options.deviceKey = try SealingKey(from: .system)
    return try ThrowawayVault(options: options)
  }

  @Test(arguments: Vault.Accessibility.allCases)
  func `a store writes with its class`(accessibility: Vault.Accessibility) throws {
    let vault = try Self.vaultOfDevice()
    let store = try Self.store(accessibility, in: vault.vault)

    try store.set(PreferenceValue.integer(1), forKey: "value")
    try store.set("text", forKey: "bridged")
    try store.set(["batch": .integer(2)])

    #expect(store.accessibility == accessibility)
    #expect(try store.keys() == ["batch", "bridged", "value"])
    for key in try store.keys() { #expect(try Self.accessibility(key, in: vault.vault) == accessibility) }
    #expect(try store.string(forKey: "bridged") == "text")
  }

  @Test(arguments: Vault.Accessibility.allCases)
  func `a store writes asynchronously with its class`(accessibility: Vault.Accessibility) async throws {
    let vault = try Self.vaultOfDevice()
    let store = try Self.store(accessibility, in: vault.vault)

    try await store.set(PreferenceValue.integer(1), forKey: "value")
    try await store.set("text", forKey: "bridged")
    try await store.set(["batch": .integer(2)])

    #expect(try store.keys() == ["batch", "bridged", "value"])
    for key in try store.keys() { #expect(try Self.accessibility(key, in: vault.vault) == accessibility) }
    #expect(try store.string(forKey: "bridged") == "text")
  }

  @Test func `a store without a class keeps what a record has, and makes new ones whenUnlocked`() throws {
    let vault = ThrowawayVault.current.vault
    try Self.store(.afterFirstUnlock, in: vault).set("old", forKey: "key")

    try Self.store(in: vault).set("new", forKey: "key")
    try Self.store(in: vault).set("new", forKey: "other")

    #expect(try Self.accessibility("key", in: vault) == .afterFirstUnlock)
    #expect(try Self.accessibility("other", in: vault) == .whenUnlocked)
  }

  @Test func `a store with a class changes the class of what it writes`() throws {
    let vault = ThrowawayVault.current.vault
    try Self.store(.afterFirstUnlock, in: vault).set("old", forKey: "key")

    try Self.store(.whenUnlocked, in: vault).set("new", forKey: "key")

    #expect(try Self.accessibility("key", in: vault) == .whenUnlocked)
  }

  // MARK: Locked

  @Test func `a locked store refuses what it cannot know and reads what it kept`() throws {
    let (_, store) = try Self.locked()

    #expect(code { try store.string(forKey: "token") } == .locked)
    #expect(code { try store.value(forKey: "token") } == .locked)
    #expect(code { try store.data(forKey: "token") } == .locked)
    #expect(code { try store.withBytes(forKey: "token") { _ in } } == .locked)
    #expect(code { try store.string(forKey: "not there") } == .locked)
    #expect(code { try store.keys() } == .locked)
    #expect(try store.string(forKey: "background") == "b")
    #expect(try store.withBytes(forKey: "background") { $0.byteCount } == 1)
  }

  @Test func `a locked store writes nothing`() throws {
    let (vault, store) = try Self.locked()
    let before = try Data(contentsOf: URL(filePath: vault.path))

    #expect(code { try store.set("new", forKey: "background") } == .locked)
    #expect(code { try store.set(["new": .integer(1)]) } == .locked)
    #expect(code { try store.removeValue(forKey: "background") } == .locked)
    #expect(code { try store.removeAll() } == .locked)
    #expect(try Data(contentsOf: URL(filePath: vault.path)) == before)
  }

  @Test func `a locked store does not say that a key is absent`() throws {
    let (_, store) = try Self.locked()

    for key in ["token", "not there"] {
      guard case .unavailable(let error) = store.presence(forKey: key) else {
        Issue.record("\(key) has a presence")
        continue
      }
      #expect(error.code == .locked)
    }
    guard case .present = store.presence(forKey: "background") else {
      Issue.record("what was kept is not present")
      return
    }
  }

  @Test func `no store is made of a locked vault`() throws {
    let (vault, _) = try Self.locked()

    #expect(code { try Self.store(in: vault.vault) } == .locked)
    #expect(code { try Self.store(.afterFirstUnlock, in: vault.vault) } == .locked)
  }

  @Test func `a store works again when its vault is unlocked`() throws {
    let (vault, store) = try Self.locked()

    try vault.vault.unlock(with: .key(vault.key))

    #expect(try store.string(forKey: "token") == "t")
    try store.set("new", forKey: "token")
    #expect(try store.string(forKey: "token") == "new")
  }

  // MARK: Layers

  /// A lower layer that counts its lookups.
  private final class Lower: PreferencesReader {
    let asked = Atomic<Int>(0)
    var name: String { "lower" }

    func value(for query: PreferenceQuery) -> PreferenceValue? {
      asked.add(1, ordering: .relaxed)
      return .string("weak default")
    }

    func names(of secrecy: Secrecy) -> [PreferenceName] {
      asked.add(1, ordering: .relaxed)
      return PreferenceName.valid(["token"])
    }
  }

  private static func refusedBy<R>(_ body: () throws -> R) -> VaultError.Code? {
    do {
      _ = try body()
      return nil
    } catch {
      guard let error = error as? PreferencesError, error.code == .unavailable else { return nil }
      return (error.cause as? VaultError)?.code
    }
  }

  @Test func `a locked vault stops the lookup of a composite, and no lower layer is queried`() throws {
    let (_, store) = try Self.locked()
    let lower = Lower()
    let composite = CompositePreferences([store.claiming(.everything), lower])

    #expect(Self.refusedBy { try composite.string(forKey: "token") } == .locked)
    #expect(Self.refusedBy { try composite.value(forKey: "not there") } == .locked)
    let key = PreferenceKey("token", default: "default")
    #expect(Self.refusedBy { try composite.value(for: key) } == .locked)
    #expect(Self.refusedBy { try composite.keys() } == .locked)
    #expect(Self.refusedBy { try composite.set("new", forKey: "token") } == .locked)
    #expect(try composite.string(forKey: "background") == "b")
    #expect(lower.asked.load(ordering: .relaxed) == 0)
  }

  @Test func `a locked vault takes away what it claims, from higher layers too, and nothing else`() throws {
    let (_, store) = try Self.locked()
    let plain: DictionaryPreferences = ["token": "override", "port": 80]
    let composite = CompositePreferences([plain, store.claiming(.names(["token", "background"]))])

    #expect(Self.refusedBy { try composite.string(forKey: "token") } == .locked)
    #expect(try composite.string(forKey: "background") == "b")
    #expect(try composite.integer(forKey: "port") == 80)
    #expect(try composite.string(forKey: "not there") == nil)
    #expect(try composite.set(443, forKey: "port") == .visible)
    #expect(Self.refusedBy { try composite.set("new", forKey: "token") } == .locked)
    #expect(try plain.string(forKey: "token") == "override")
  }

  @Test func `a vault at a mount point claims all names there, also while it is locked`() throws {
    let (_, store) = try Self.locked()
    let plain: DictionaryPreferences = ["secrets.token": "plain", "port": 80]
    let composite = CompositePreferences([plain, store.mounted(at: "secrets.")])

    #expect(try composite.string(forKey: "secrets.background") == "b")
    #expect(Self.refusedBy { try composite.string(forKey: "secrets.token") } == .locked)
    #expect(try composite.integer(forKey: "port") == 80)
  }
}
