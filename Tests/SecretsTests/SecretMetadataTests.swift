import Foundation
import Secrets
import SecretsTesting
import Testing

/// Expiry, label, comment and attributes, and several changes in one write.
@Suite(.throwawayVault) struct SecretMetadataTests {
  private let secrets: SecretPreferences

  init() throws { secrets = try ThrowawayVault.current.preferences() }
}

extension SecretMetadataTests {
  @Test func `a value and its metadata are one write`() throws {
    let expires = Date(timeIntervalSince1970: 4_000_000_000.125)
    try secrets.set(
      "v", forKey: "key", expires: expires, label: "CI", comment: "rotated by ops",
      attributes: ["owner": Data("ops".utf8), "raw": Data([0xFF])])

    let info = try #require(try secrets.info(forKey: "key"))
    #expect(try secrets.string(forKey: "key") == "v")
    #expect(info.key == "key" && info.kind == .string && info.accessibility == .whenUnlocked)
    #expect(info.expires == expires && !info.isExpired)
    #expect(info.label == "CI" && info.comment == "rotated by ops")
    #expect(info.attributes == ["owner": Data("ops".utf8), "raw": Data([0xFF])])
    #expect(info.revision == 2)
    #expect(info.created == info.modified && abs(info.created.timeIntervalSinceNow) < 60)
  }

  @Test func `the asynchronous forms write the same`() async throws {
    let expires = Date(timeIntervalSince1970: 4_000_000_000)
    try await secrets.set(1, forKey: "number", expires: expires, label: "a")
    try await secrets.set(Secret("s"), forKey: "secret", expires: expires, comment: "b")

    #expect(try secrets.info(forKey: "number")?.label == "a")
    #expect(try secrets.info(forKey: "secret")?.comment == "b")
    #expect(try secrets.info(forKey: "secret")?.expires == expires)
    #expect(try secrets.value(forKey: "number") == 1)
    #expect(try secrets.string(forKey: "secret") == "s")
  }

  @Test func `a new value keeps the label and not the expiry`() throws {
    try secrets.set(Secret("a"), forKey: "key", expires: .distantFuture, label: "CI")
    try secrets.set("b", forKey: "key", expires: nil, comment: "new")

    let info = try #require(try secrets.info(forKey: "key"))
    #expect(info.expires == nil)
    #expect(info.label == "CI" && info.comment == "new")
  }

  @Test func `a secret is expired by the vault's clock, and its metadata is still read`() throws {
    var options = Vault.Options()
    options.now = { 1_000_000 }
    options.expiredRecords = .refuse
    let vault = try ThrowawayVault(options: options)
    let secrets = try vault.preferences()
    try secrets.set("v", forKey: "late", expires: Date(timeIntervalSince1970: 1_000))
    try secrets.set("v", forKey: "early", expires: Date(timeIntervalSince1970: 1_000.001))

    #expect(try secrets.info(forKey: "late")?.isExpired == true)
    #expect(try secrets.info(forKey: "early")?.isExpired == false)
    #expect(code { try secrets.string(forKey: "late") } == .expired)
  }

  @Test(arguments: [(Date.distantPast, false), (Date(timeIntervalSince1970: .infinity), true)])
  func `dates out of range count as the earliest or latest`(_ date: Date, isLater: Bool) throws {
    try secrets.set("v", forKey: "key", expires: date)
    #expect(try secrets.info(forKey: "key")?.isExpired == !isLater)
    let refusal = code {
      try secrets.set("w", forKey: "key", expires: Date(timeIntervalSince1970: .nan))
    }
    #expect(refusal == .typeMismatch)
    #expect(try secrets.string(forKey: "key") == "v")
  }

  @Test func `an absent secret has no metadata, and a locked vault throws`() throws {
    #expect(try secrets.info(forKey: "nothing") == nil)
    ThrowawayVault.current.vault.lock()
    #expect(code { try secrets.info(forKey: "nothing") } == .locked)
  }

  @Test func `metadata prints without names and labels`() throws {
    try secrets.set("s3ntinel-5ecret", forKey: "s3ntinel-key", expires: nil, label: "s3ntinel-label")
    let info = try #require(try secrets.info(forKey: "s3ntinel-key"))
    var dumped = ""
    dump(info, to: &dumped)
    let text = "\(info)\(String(reflecting: info))\(dumped)"
    #expect(!text.contains("s3ntinel"))
  }

  @Test func `values, secrets, metadata and removals are one write`() throws {
    try secrets.set("old", forKey: "edited")
    try secrets.set("old", forKey: "removed")
    let vault = ThrowawayVault.current.vault
    let before = try vault.status().groups[0].generation

    let removed = try secrets.transaction { batch in
      try batch.set(8080, forKey: "port")
      try batch.set(.url(URL(string: "https://example.com")!), forKey: "url")
      try batch.set(["a": [1, 2]], forKey: "list", edit: RecordEdit(label: "L"))
      try batch.set(Secret("s"), forKey: "secret")
      try batch.edit("edited", RecordEdit(expires: .distantFuture, comment: "C"))
      try batch.remove("removed")
    }

    #expect(removed == 1)
    #expect(try vault.status().groups[0].generation == before + 1)
    #expect(try secrets.keys() == ["edited", "list", "port", "secret", "url"])
    #expect(try secrets.integer(forKey: "port") == 8080)
    #expect(try secrets.value(forKey: "list") == ["a": [1, 2]])
    #expect(try secrets.info(forKey: "list")?.label == "L")
    #expect(try secrets.info(forKey: "edited")?.comment == "C")
    #expect(try secrets.string(forKey: "edited") == "old")
  }

  @Test func `a batch with a wrong revision writes nothing`() async throws {
    try await secrets.set("old", forKey: "key")
    let revision = try #require(try secrets.info(forKey: "key")).revision

    let error = await #expect(throws: VaultError.self) {
      try await secrets.transaction { batch in
        try batch.set("new", forKey: "other")
        try batch.set(Secret("new"), forKey: "key", ifRevision: revision + 1)
      }
    }
    #expect(error?.code == .conflict)
    #expect(try secrets.keys() == ["key"])

    try await secrets.transaction { batch in try batch.set("new", forKey: "key", ifRevision: revision) }
    #expect(try secrets.string(forKey: "key") == "new")
  }

  @Test func `a batch writes values with the class of the store`() throws {
    let vault = ThrowawayVault.current.vault
    let kept = try SecretPreferences(service: "com.example.test", accessibility: .afterFirstUnlock, in: vault)
    try kept.transaction { batch in
      try batch.set("v", forKey: "kept")
      try batch.set("v", forKey: "other", accessibility: .whenUnlocked)
    }
    try kept.set("v", forKey: "expiring", expires: .distantFuture)

    #expect(try kept.info(forKey: "kept")?.accessibility == .afterFirstUnlock)
    #expect(try kept.info(forKey: "other")?.accessibility == .whenUnlocked)
    #expect(try kept.info(forKey: "expiring")?.accessibility == .afterFirstUnlock)
  }
}
