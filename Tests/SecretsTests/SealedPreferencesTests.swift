import Foundation
import PreferencesOperators
import Secrets
import SecretsTesting
import Synchronization
import Testing

/// Sealed values in plain stores: the view of a store, and single keys.
@Suite(.throwawayVault) struct SealedPreferencesTests {}

extension SealedPreferencesTests {
  static let sentinel = "s3ntinel-5ecret"
  static let values: [String: PreferenceValue] = [
    "string": .string(sentinel), "empty": "", "data": .data(Data([0, 255])), "no data": .data(Data()), "bool": true,
    "integer": .integer(.min), "unsigned": .unsignedInteger(.max), "double": .double(-0.0),
    "date": .date(Date(timeIntervalSinceReferenceDate: 0.1)), "array": [1, "two", [3.5]],
    "dictionary": ["a": ["b": .data(Data([1]))]], "caf\u{E9}": "accented",
    "huge": .string(String(repeating: "v", count: 1 << 20)),
  ]

  static func sealer(in vault: Vault? = nil, key: String = "settings-key") throws -> ValueSealer {
    let sealer = ValueSealer(
      key: key, in: try SecretPreferences(service: "com.example.shop", in: vault ?? ThrowawayVault.current.vault))
    try sealer.createSealingKey()
    return sealer
  }

  /// The error of the vault, also if it is the cause of an error of the preferences.
  static func refusal<R>(_ body: () throws -> R) -> VaultError.Code? {
    do {
      _ = try body()
      return nil
    } catch let error as PreferencesError { return (error.cause as? VaultError)?.code } catch {
      return (error as? VaultError)?.code
    }
  }

  // MARK: The view

  @Test func `item 122: values in a file come back with their types, and the file has none of them`() throws {
    let folder = try TemporaryFolder()
    let path = folder.path + "/settings.json"
    let settings = try JSONPreferences(at: path, options: .creating).sealed(by: Self.sealer(), as: "settings")
    try settings.set(Self.values)

    #expect(!String(decoding: try Data(contentsOf: URL(filePath: path)), as: UTF8.self).contains("s3ntinel"))
    let plain = try JSONPreferences(at: path)
    for name in plain.keys() { #expect(try plain.string(forKey: name)?.hasPrefix("spv-sealed-1:") == true) }
    let reopened = try plain.sealed(by: Self.sealer(in: ThrowawayVault.current.reopened()), as: "settings")
    #expect(try reopened.dictionary(revealingSecrets: true) == Self.values)
    #expect(try reopened.string(forKey: "cafe\u{301}") == "accented")
  }

  @Test func `item 122: a plain value where a sealed one is expected is an error`() throws {
    for value in [.string(Self.sentinel), "", 1, ["spv-sealed-1:"]] as [PreferenceValue] {
      let base: DictionaryPreferences = ["password": value]
      let settings = try base.sealed(by: Self.sealer(), as: "settings")
      let key = try PreferenceKey<Secret<String>?>("password").sealed(by: Self.sealer(), as: "settings")

      #expect(Self.refusal { try settings.value(forKey: "password") } == .malformed)
      #expect(Self.refusal { try settings.secret(String.self, forKey: "password") } == .malformed)
      #expect(Self.refusal { try settings.dictionary(revealingSecrets: true) } == .malformed)
      #expect(Self.refusal { try settings.update(PreferenceKey<String?>("password")) { $0 = "new" } } == .malformed)
      #expect(throws: PreferencesError.self) { try base.value(for: key) }
      #expect(try base.value(forKey: "password") == value)
    }
  }

  @Test
  func `item 122: a value does not open under a different key, in a different store, or with another sealing key`()
    throws
  {
    let base = DictionaryPreferences()
    let settings = try base.sealed(by: Self.sealer(), as: "settings")
    try settings.set("s3cret", forKey: "password")
    try base.set(try #require(try base.string(forKey: "password")), forKey: "user")

    #expect(Self.refusal { try settings.value(forKey: "user") } == .tampered)
    #expect(Self.refusal { try base.sealed(by: Self.sealer(), as: "others").value(forKey: "password") } == .tampered)
    let other = try Self.sealer(key: "other-key")
    #expect(Self.refusal { try base.sealed(by: other, as: "settings").value(forKey: "password") } == .tampered)
    #expect(try settings.string(forKey: "password") == "s3cret")
  }

  @Test func `item 122: every byte that changes in the store is refused`() throws {
    let base = DictionaryPreferences()
    let settings = try base.sealed(by: Self.sealer(), as: "settings")
    try settings.set("s3cret", forKey: "password")
    let text = try #require(try base.string(forKey: "password"))
    for position in 0..<text.utf8.count {
      var bytes = Array(text.utf8)
      bytes[position] ^= 1
      try base.set(String(decoding: bytes, as: UTF8.self), forKey: "password")
      let refusal = Self.refusal { try settings.value(forKey: "password") }
      #expect([.malformed, .tampered].contains(refusal), "\(position)")
    }
  }

  @Test func `item 122: a locked vault and a missing sealing key are errors, and none is created`() throws {
    let vault = ThrowawayVault.current
    let tokens = try vault.preferences(service: "com.example.shop")
    let base = DictionaryPreferences()
    let settings = try base.sealed(by: Self.sealer(), as: "settings")
    try settings.set("s3cret", forKey: "password")
    let before = try base.value(forKey: "password")
    vault.vault.lock()

    #expect(Self.refusal { try settings.value(forKey: "password") } == .locked)
    #expect(Self.refusal { try settings.set("new", forKey: "password") } == .locked)
    #expect(Self.refusal { try settings.set("new", forKey: "other") } == .locked)
    let composite: CompositePreferences = [
      settings.claiming(.everything), ["password": "plain"] as DictionaryPreferences,
    ]
    #expect(Self.refusal { try composite.string(forKey: "password") } == .locked)
    #expect(try settings.keys() == ["password"])
    try vault.vault.unlock(with: .key(vault.key))
    try tokens.removeValue(forKey: "settings-key")
    #expect(Self.refusal { try settings.value(forKey: "password") } == .notFound)
    #expect(Self.refusal { try settings.set("new", forKey: "other") } == .notFound)
    #expect(try tokens.keys() == [])
    #expect(try base.value(forKey: "password") == before)
    #expect(base.keys() == ["password"])
  }

  @Test func `item 122: compare-and-set compares values, also if the text was sealed again meanwhile`() throws {
    let base = ResealingPreferences()
    let settings = try base.sealed(by: Self.sealer(), as: "settings")
    base.reseal = { try settings.set("old", forKey: "password") }
    try settings.set("old", forKey: "password")

    let name = try PreferenceName("password")
    let edit = { (expected: String?) in
      PreferenceEdits([
        .init(name, to: .value("new"), secrecy: .secret, if: .ifStored(expected.map { .value(.string($0)) }))
      ])
    }
    base.remaining = 1
    #expect(try settings.edit(edit("other")) == .conflict)
    #expect(try settings.edit(edit(nil)) == .conflict)
    #expect(try settings.string(forKey: "password") == "old")
    #expect(try settings.edit(edit("old")) == .visible)
    #expect(base.remaining == 0)
    #expect(try settings.string(forKey: "password") == "new")
  }

  @Test func `item 122: increments of two views from eight tasks lose none`() async throws {
    let base = DictionaryPreferences()
    let views = [
      try base.sealed(by: Self.sealer(), as: "settings"),
      try base.sealed(by: Self.sealer(in: ThrowawayVault.current.reopened()), as: "settings"),
    ]
    let count = PreferenceKey("count", default: 0)
    try await withThrowingTaskGroup(of: Void.self) { group in
      for task in 0..<8 {
        group.addTask { for _ in 0..<25 { try await views[task % 2].update(count) { $0 += 1 } } }
      }
      try await group.waitForAll()
    }

    #expect(try views[0].value(for: count) == 200)
  }

  @Test func `secrets are accepted, and nothing prints them`() throws {
    let settings = try DictionaryPreferences().sealed(by: Self.sealer(), as: "settings")
    try settings.set(Secret(Self.sentinel), forKey: "password")
    var dumped = ""
    dump(settings, to: &dumped)

    #expect(try settings.secret(String.self, forKey: "password") == Secret(Self.sentinel))
    #expect(try settings.dictionary()["password"] == .redacted)
    for text in ["\(settings)", String(reflecting: settings), dumped] { #expect(!text.contains("s3ntinel"), "\(text)") }
  }

  @Test func `a layer that cannot be written is read`() throws {
    let base = DictionaryPreferences()
    try base.sealed(by: Self.sealer(), as: "deployment").set("s3cret", forKey: "password")
    let text = try #require(try base.string(forKey: "password"))
    let environment = EnvironmentPreferences(prefix: "SHOP", environment: ["SHOP_PASSWORD": text])

    #expect(try environment.sealed(by: Self.sealer(), as: "deployment").string(forKey: "password") == "s3cret")
  }

  @Test func `views of the same storage with the same name and sealing key have equal identities`() throws {
    let base = DictionaryPreferences()
    let view = try base.sealed(by: Self.sealer(), as: "settings")

    #expect(try base.sealed(by: Self.sealer(), as: "settings").id == view.id)
    #expect(try base.sealed(by: Self.sealer(), as: "others").id != view.id)
    #expect(try base.sealed(by: Self.sealer(key: "other-key"), as: "settings").id != view.id)
    #expect(try DictionaryPreferences().sealed(by: Self.sealer(), as: "settings").id != view.id)
  }

  @Test func `the name of a store follows the rule for names`() throws {
    let sealer = try Self.sealer()
    for name in ["", "a\n", String(repeating: "n", count: 1025)] {
      #expect(Self.refusal { try DictionaryPreferences().sealed(by: sealer, as: name) } == .invalidName)
      #expect(Self.refusal { try PreferenceKey("a", default: 1).sealed(by: sealer, as: name) } == .invalidName)
    }
  }

  // MARK: Single keys

  @Test func `item 122: a sealed key stands among plain ones, in any store`() throws {
    let store = DictionaryPreferences(["port": 80])
    let sealer = try Self.sealer()
    let password = try PreferenceKey<Secret<String>?>("password").sealed(by: sealer, as: "settings")
    let count = try PreferenceKey("count", default: 7).sealed(by: sealer, as: "settings")
    let list = try PreferenceKey<[String]?>("list").sealed(by: sealer, as: "settings")

    #expect(try store.value(for: password) == nil)
    #expect(try store.value(for: count) == 7)
    try store.set(Secret(Self.sentinel), for: password)
    try store.preference(for: count).set(8)
    try store.set(["a", ""], for: list)
    #expect(try store.value(for: password) == Secret(Self.sentinel))
    #expect(try store.value(for: count) == 8)
    #expect(try store.value(for: list) == ["a", ""])
    for name in ["password", "count", "list"] {
      #expect(try store.string(forKey: name)?.hasPrefix("spv-sealed-1:") == true)
    }
    let view = try store.sealed(by: sealer, as: "settings")
    #expect(try view.string(forKey: "password") == Self.sentinel)
    try store.set(nil, for: password)
    #expect(store.keys() == ["count", "list", "port"])
  }

  @Test func `item 122: a sealed key says why it cannot be read`() throws {
    let store = DictionaryPreferences()
    let key = try PreferenceKey<Int?>("count").sealed(by: Self.sealer(), as: "settings")
    let text = try PreferenceKey<String?>("count").sealed(by: Self.sealer(), as: "settings")
    func code(_ body: () throws -> Void) -> PreferencesError.Code? {
      do { try body() } catch { return (error as? PreferencesError)?.code }
      return nil
    }

    try store.set(7, forKey: "count")
    #expect(code { _ = try store.value(for: key) } == .malformed)
    try store.set("text", for: text)
    #expect(code { _ = try store.value(for: key) } == .typeMismatch)
    let tokens = try ThrowawayVault.current.preferences(service: "com.example.shop")
    let other = try PreferenceKey<String?>("count").sealed(by: ValueSealer(key: "token", in: tokens), as: "settings")
    try tokens.set("not a sealing key", forKey: "token")
    #expect(code { _ = try store.value(for: other) } == .unavailable)
    #expect(Self.refusal { try store.value(for: other) } == .typeMismatch)
    ThrowawayVault.current.vault.lock()
    #expect(code { _ = try store.value(for: text) } == .unavailable)
    #expect(Self.refusal { try store.set("new", for: text) } == .locked)
  }

  @Test func `observers of a sealed key receive the changes of its value, and not that it was sealed again`() throws {
    let store = DictionaryPreferences()
    let key = try PreferenceKey("count", default: 7).sealed(by: Self.sealer(), as: "settings")
    let values = Mutex<[Int]>([])
    let changes = Mutex(0)
    let observations = [
      store.observe(key) { change in values.withLock { $0.append(change.newValue) } },
      store.observe(changesOf: key) { changes.withLock { $0 += 1 } },
    ]
    for value in [7, 8, 8, 7] { try store.set(value, for: key) }
    try store.removeValue(forKey: "count")
    observations.forEach { $0.invalidate() }
    #expect(values.withLock(\.self) == [8, 7])
    #expect(changes.withLock(\.self) == 2)
  }

  @Test func `observers of keys that are made from a sealed one do not receive that it was sealed again`() throws {
    let store = DictionaryPreferences()
    let text = try PreferenceKey<String?>("text").sealed(by: Self.sealer(), as: "settings")
    let data = text.transformed(by: UTF8Transformation())
    let changes = Mutex<[String]>([])
    let observations = [
      store.observe(text.alsoReading(PreferenceKey("text"))) { _ in changes.withLock { $0.append("either") } },
      store.observe(data) { _ in changes.withLock { $0.append("data") } },
    ]
    for value in ["a", "a", "b"] { try store.set(value, for: text) }
    observations.forEach { $0.invalidate() }
    #expect(changes.withLock { $0.sorted() } == ["data", "data", "either", "either"])
  }

  @Test func `a sealed key that is absent is watched while the vault is locked`() throws {
    let store = DictionaryPreferences()
    let key = try PreferenceKey("count", default: 7).sealed(by: Self.sealer(), as: "settings")
    ThrowawayVault.current.vault.lock()
    let values = Mutex<[Int]>([])
    let observation = store.observe(key, initial: true) { change in values.withLock { $0.append(change.newValue) } }
    observation.invalidate()
    #expect(values.withLock(\.self) == [7])
  }

  @Test func `a sealed default that was never synced only pulls, and is put into no empty store`() throws {
    let (here, there) = (DictionaryPreferences(), DictionaryPreferences())
    let key = try PreferenceKey("count", default: 7).sealed(by: Self.sealer(), as: "settings")
    try here.set(7, for: key)
    let sync = PreferenceSync(here, with: there)
    try sync.add(key)
    #expect(there.keys() == [])
    sync.remove(key)
    try there.set(8, for: key)
    try sync.add(key)
    #expect(try here.value(for: key) == 8)
  }

  // MARK: A whole store

  @Test func `item 122: a whole store is exported as a vault, and imported again`() throws {
    let base = DictionaryPreferences()
    let settings = try base.sealed(by: Self.sealer(), as: "settings")
    try settings.set(Self.values)
    let export = try ThrowawayVault()

    let exported = try export.preferences(service: "settings")
    try exported += settings
    #expect(!String(decoding: try Data(contentsOf: URL(filePath: export.path)), as: UTF8.self).contains("s3ntinel"))
    try settings.removeAll()
    try settings += SecretPreferences(service: "settings", in: export.reopened())

    #expect(try settings.dictionary(revealingSecrets: true) == Self.values)
    #expect(try base.string(forKey: "string")?.hasPrefix("spv-sealed-1:") == true)
  }

  // MARK: Processes

  // Exit tests capture values since Swift 6.3.
  #if compiler(>=6.3)
    @Test func `item 122: two processes that start at once use the same sealing key`() async throws {
      let folder = try TemporaryFolder()
      let (vault, path) = (ThrowawayVault.current, folder.path + "/settings.json")
      let key = folder.path + "/key"
      try vault.key.withUnsafeBytes { try Data($0).write(to: URL(filePath: key)) }
      try await withThrowingTaskGroup(of: Void.self) { group in
        for name in ["a", "b"] {
          group.addTask {
            await #expect(processExitsWith: .success) {
              [vault = vault.path as String, path = path as String, key = key as String, name = name as String] in
              let credential = try Data(contentsOf: URL(filePath: key)).withUnsafeBytes { try SealingKey(copying: $0) }
              let vault = try Vault.open(at: vault, credential: .key(credential))
              let sealer = ValueSealer(key: "new-key", in: try SecretPreferences(service: "shop", in: vault))
              try sealer.createSealingKey()
              let settings = try JSONPreferences(at: path, options: .creating).sealed(by: sealer, as: "settings")
              try settings.set("of \(name)", forKey: name)
            }
          }
        }
        try await group.waitForAll()
      }
      let sealer = ValueSealer(key: "new-key", in: try vault.preferences(service: "shop"))
      let settings = try JSONPreferences(at: path).sealed(by: sealer, as: "settings")

      #expect(try settings.dictionary(revealingSecrets: true) == ["a": "of a", "b": "of b"])
    }
  #endif
}
