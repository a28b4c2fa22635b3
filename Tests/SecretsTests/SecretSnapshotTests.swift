import Foundation
import Secrets
import SecretsTesting
import Testing

extension PreferenceKey<Secret<String>?> {
  fileprivate static var token: Self { .init("token") }
}

/// One service at one moment.
@Suite(.throwawayVault) struct SecretSnapshotTests {}

extension SecretSnapshotTests {
  @Test func `a snapshot keeps the values of its moment`() throws {
    let secrets = try ThrowawayVault.current.preferences()
    try secrets.set(["id": "a", "secret": "b", "number": 1])
    let snapshot = try secrets.snapshot()
    try secrets.set(["id": "new", "later": "x"])
    try secrets.removeValue(forKey: "secret")

    #expect(try snapshot.string(forKey: "id") == "a")
    #expect(try snapshot.string(forKey: "secret") == "b")
    #expect(try snapshot.integer(forKey: "number") == 1)
    #expect(try snapshot.keys() == ["id", "number", "secret"])
    #expect(try snapshot.string(forKey: "later") == nil)
    #expect(try snapshot.withBytes(forKey: "id") { $0.byteCount } == 1)
    #expect(try snapshot.withBytes(forKey: "later") { $0.byteCount } == nil)
    #expect(code { try snapshot.withBytes(forKey: "number") { $0.byteCount } } == .typeMismatch)
    #expect(throws: CancellationError.self) {
      try snapshot.withBytes(forKey: "id") { (_) throws in throw CancellationError() }
    }
    #expect(try snapshot.info(forKey: "id")?.revision == 2)
    #expect(try secrets.snapshot().keys() == ["id", "later", "number"])
  }

  @Test func `a snapshot asks the file nothing`() throws {
    let vault = try ThrowawayVault()
    let secrets = try vault.preferences()
    try secrets.set("v", forKey: "key")
    let snapshot = try secrets.snapshot()
    try FileManager.default.removeItem(atPath: vault.path)

    #expect(try snapshot.string(forKey: "key") == "v")
    #expect(try snapshot.keys() == ["key"])
    #expect(code { try secrets.string(forKey: "key") } == .notFound)
  }

  @Test func `a snapshot has one service of one group`() throws {
    let vault = try ThrowawayVault(groups: ["default", "other"])
    try vault.preferences(service: "shop").set("a", forKey: "key")
    try vault.preferences(service: "shop2").set("b", forKey: "key2")
    try vault.preferences(service: "shop", accessGroup: "other").set("c", forKey: "key3")

    let snapshot = try vault.preferences(service: "shop").snapshot()
    #expect(try snapshot.keys() == ["key"])
    #expect(try vault.preferences(service: "empty").snapshot().keys() == [])
    #expect(try vault.preferences(service: "empty").snapshot().string(forKey: "key") == nil)
  }

  @Test func `after lock a snapshot throws, also when the vault is unlocked again`() throws {
    let vault = try ThrowawayVault()
    let secrets = try vault.preferences()
    try secrets.set("v", forKey: "key")
    let snapshot = try secrets.snapshot()
    vault.vault.lock()

    #expect(code { try snapshot.string(forKey: "key") } == .locked)
    #expect(code { try snapshot.string(forKey: "absent") } == .locked)
    #expect(code { try snapshot.keys() } == .locked)
    #expect(code { try snapshot.info(forKey: "key") } == .locked)
    #expect(code { try secrets.snapshot() } == .locked)
    try vault.vault.unlock(with: .key(vault.key))
    #expect(code { try snapshot.string(forKey: "key") } == .locked)
    #expect(try secrets.snapshot().string(forKey: "key") == "v")
  }

  @Test func `values of after first unlock stay readable as they were`() throws {
    let vault = try ThrowawayVault()
    let kept = try SecretPreferences(service: "com.example.test", accessibility: .afterFirstUnlock, in: vault.vault)
    try kept.set("old", forKey: "kept")
    try vault.preferences().set("v", forKey: "other")
    let snapshot = try kept.snapshot()
    try kept.set("new", forKey: "kept")
    vault.vault.lock()

    #expect(try snapshot.string(forKey: "kept") == "old")
    #expect(try kept.string(forKey: "kept") == "new")
    #expect(code { try snapshot.string(forKey: "other") } == .locked)
  }

  @Test func `a snapshot outlives rotation and compaction`() throws {
    let vault = try ThrowawayVault()
    let secrets = try vault.preferences()
    try secrets.set("old", forKey: "key")
    let snapshot = try secrets.snapshot()
    try vault.vault.rotateVault()
    try secrets.set("new", forKey: "key")
    try vault.vault.compact()

    #expect(try snapshot.string(forKey: "key") == "old")
  }

  @Test func `a name is found in either spelling`() throws {
    let secrets = try ThrowawayVault.current.preferences(service: "caf\u{E9}")
    try secrets.set("v", forKey: "na\u{EF}ve")
    let snapshot = try secrets.snapshot()
    #expect(try snapshot.string(forKey: "nai\u{308}ve") == "v")
  }

  @Test func `a snapshot is a sealed layer`() throws {
    let secrets = try ThrowawayVault.current.preferences()
    try secrets.set(Secret("v"), for: .token)
    let preferences = CompositePreferences([
      try secrets.snapshot().claiming(.names(["token"])), DictionaryPreferences(["token": "plain", "port": 1]),
    ])
    try secrets.removeAll()

    #expect(try preferences.required(.token).withValue { $0 } == "v")
    #expect(try preferences.integer(forKey: "port") == 1)
    #expect(try secrets.snapshot().custody.holds(.plain) == false)
  }

  @Test func `a snapshot prints as its name`() throws {
    let secrets = try ThrowawayVault.current.preferences()
    try secrets.set("s3ntinel", forKey: "s3ntinel-key")
    let snapshot = try secrets.snapshot()
    var dumped = ""
    dump(snapshot, to: &dumped)
    #expect("\(snapshot)" == secrets.name)
    #expect(!dumped.contains("s3ntinel"))
  }
}
