import Foundation
import Preferences
import Secrets
import SecretsTesting
import Synchronization
import Testing

/// Secrets that a store removes and keeps for a while.
@Suite(.throwawayVault) struct RemovedSecretTests {
  private let secrets: SecretPreferences

  init() throws {
    secrets = try SecretPreferences(
      service: "com.example.test", keeping: .forPeople, in: ThrowawayVault.current.vault)
  }
}

extension RemovedSecretTests {
  @Test func `a store keeps nothing unless it is told to`() throws {
    let server = try ThrowawayVault.current.preferences()
    try server.set("a", forKey: "key")
    try server.set("b", forKey: "key")
    #expect(
      try server.vault.record(service: Vault.Name(server.service), key: "key", in: server.vault.group())?.previous
        .isEmpty == true)
    try server.removeValue(forKey: "key")
    #expect(try server.removedSecrets().isEmpty)
    #expect(try server.restore("key") == false)
  }

  @Test func `a removed secret is absent until it is restored`() throws {
    try secrets.set("a", forKey: "key", expires: .distantFuture, label: "label")
    try secrets.removeValue(forKey: "key")

    #expect(try secrets.string(forKey: "key") == nil)
    #expect(try secrets.keys().isEmpty)
    #expect(try secrets.info(forKey: "key") == nil)
    var isAbsent = false
    if case .absent = secrets.presence(forKey: "key") { isAbsent = true }
    #expect(isAbsent)
    let removed = try #require(try secrets.removedSecrets().first)
    #expect(removed.key == "key" && removed.revisions.count == 1)
    #expect(abs(removed.removed.timeIntervalSinceNow) < 60)
    #expect(removed.keptUntil.timeIntervalSince(removed.removed) == 30 * 86_400)
    #expect("\(removed)" == "1 earlier values" && !String(reflecting: removed).contains("key"))

    #expect(try secrets.restore("key"))
    #expect(try secrets.string(forKey: "key") == "a")
    #expect(try secrets.info(forKey: "key")?.label == "label")
    #expect(try secrets.info(forKey: "key")?.expires == .distantFuture)
  }

  @Test func `the asynchronous form restores an earlier value by its revision`() async throws {
    try await secrets.set("a", forKey: "key")
    try await secrets.set("b", forKey: "key")
    try await secrets.removeValue(forKey: "key")
    let revisions = try #require(try secrets.removedSecrets().first).revisions

    #expect(try await secrets.restore("key", revision: revisions[1]))
    #expect(try secrets.string(forKey: "key") == "a")
  }

  @Test func `removing everything keeps everything, and setting all values keeps what is left out`() throws {
    try secrets.set("a", forKey: "a")
    try secrets.set("b", forKey: "b")
    try secrets.removeAll()
    #expect(try secrets.removedSecrets().map(\.key) == ["a", "b"])
  }

  @Test func `observers are notified of a removal and of a restore`() throws {
    let log = Mutex<[String]>([])
    let token = PreferenceKey<String?>("token")
    let observation = secrets.observe(token) { change in
      log.withLock { $0.append("\((change.oldValue ?? nil) ?? "-")>\((change.newValue ?? nil) ?? "-")") }
    }
    try secrets.set("a", forKey: "token")
    try secrets.removeValue(forKey: "token")
    try secrets.restore("token")
    observation.invalidate()
    #expect(log.withLock(\.self) == ["->a", "a>-", "->a"])
  }
}
