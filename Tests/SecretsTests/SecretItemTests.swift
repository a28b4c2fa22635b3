import Foundation
import Glibc
import PreferencesOperators
import Secrets
import SecretsTesting
import Synchronization
import Testing

/// The items of Docs/Parity.md about secrets, each shown as a whole through the public interface.
@Suite(.throwawayVault) struct SecretItemTests {}

extension SecretItemTests {
  static let sentinel = "SENTINEL-5f3a"

  private struct Account: Codable, Equatable, Sendable {
    let name: String
    let scopes: [String]
  }

  static func bytes(_ path: String) throws -> Data { try Data(contentsOf: URL(filePath: path)) }

  static func mode(_ path: String) throws -> Int? {
    try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
  }

  static func folder(_ vault: ThrowawayVault) -> String {
    URL(filePath: vault.path).deletingLastPathComponent().path
  }

  /// Opens the bytes as a vault of the same credential, and reads every value.
  static func read(_ bytes: Data, of vault: ThrowawayVault, options: Vault.Options = Vault.Options()) throws {
    let path = folder(vault) + "/copy.spv"
    try bytes.write(to: URL(filePath: path))
    try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path)
    defer { unlink(path) }
    let copy = try Vault.open(at: path, credential: .key(vault.key), options: options)
    let store = try SecretPreferences(service: "com.example.test", in: copy)
    for key in try store.keys() { _ = try store.value(forKey: key) }
  }

  // MARK: 109

  @Test func `item 109: every type comes back as what was written, by store, handle, wrapper and composite`() throws {
    func check<Value: PreferenceConvertible & Equatable & Sendable>(_ value: Value, _ name: String) throws {
      let store = try ThrowawayVault.current.preferences()
      let key = PreferenceKey<Value?>(name)
      let composite: CompositePreferences = [store.claiming(.names([name])), DictionaryPreferences()]
      for writer in [store, composite] as [any PreferencesStore] {
        try writer.removeValue(forKey: name)
        try writer.set(value, for: key)
        let reopened = try SecretPreferences(
          service: "com.example.test", in: ThrowawayVault.current.reopened())
        for reader in [store, composite, reopened] as [any PreferencesStore] {
          #expect(try reader.value(for: key) == value)
          #expect(reader.preference(for: key).value == value)
          @StoredPreference(key, in: reader) var wrapped: Value?
          #expect(wrapped == value)
        }
      }
      try store.preference(for: key).set(value)
      #expect(try store.value(for: key) == value)
    }
    try check("text\0é", "string")
    try check(Data([0, 255]), "data")
    try check(true, "bool")
    try check(Int64.min, "integer")
    try check(UInt64.max, "unsigned")
    try check(-0.5, "double")
    try check(Date(timeIntervalSince1970: 0.25), "date")
    try check(try #require(URL(string: "https://example.com/?a=b#c")), "url")

    let account = Account(name: "ann", scopes: ["repo"])
    let store = try ThrowawayVault.current.preferences()
    let key = PreferenceKey<Secret<Account>?>.codable("account")
    let composite: CompositePreferences = [store.claiming(.names(["account"]))]
    try composite.set(Secret(encoding: account), for: key)
    for reader in [store, composite] as [any PreferencesReader] {
      #expect(try reader.value(for: key)?.withValue { $0 } == account)
      #expect(try reader.secret(forKey: "account", decoding: Account.self)?.withValue { $0 } == account)
    }
  }

  // MARK: 110

  @Test(.throwawayVault(groups: ["default", "billing"]))
  func `item 110: services and access groups are separate, and no group means all groups`() throws {
    let vault = ThrowawayVault.current
    let shop = try vault.preferences(service: "shop")
    let other = try vault.preferences(service: "other")
    let billing = try vault.preferences(service: "shop", accessGroup: "billing")
    try shop.set("shop", forKey: "token")

    #expect(try other.string(forKey: "token") == nil)
    #expect(try billing.string(forKey: "token") == nil)
    try billing.set("billing", forKey: "only there")
    #expect(try shop.string(forKey: "only there") == nil)
    #expect(shop.accessGroup == AccessGroup.defaultName)

    // Shared by those with the same group and the key of that group.
    let holderKey = try SealingKey(from: .system)
    try vault.vault.addSlot(NewSlot(.key(holderKey)), granting: vault.vault.group(named: "billing"))
    let holder = try Vault.open(at: vault.path, credential: .key(holderKey))
    let shared = try SecretPreferences(service: "shop", accessGroup: "billing", in: holder)
    #expect(try shared.string(forKey: "only there") == "billing")
    #expect(code { try SecretPreferences(service: "shop", in: holder) } == .groupNotGranted)
    for name in ["", "a\n", String(repeating: "x", count: 1025)] {
      #expect(code { try vault.preferences(service: name) } == .invalidName)
      #expect(code { try vault.preferences(accessGroup: name) } == .invalidName)
      #expect(throws: PreferencesError.self) { try shop.set("t", forKey: name) }
    }
  }

  // MARK: 114

  @Test func `item 114: a wrong key, no key file, a readable key file and a locked vault are different errors`() throws
  {
    let vault = ThrowawayVault.current
    let store = try vault.preferences()
    try store.set("v", forKey: "key")
    let before = try Self.bytes(vault.path)
    let keyFile = Self.folder(vault) + "/key.txt"

    let wrong = try SealingKey(from: .system)
    #expect(code { try Vault.open(at: vault.path, credential: .key(wrong)) } == .credentialRejected)
    #expect(code { try Vault.open(at: vault.path, unlocking: .keyFile(keyFile)) } == .io)
    try KeyText.write(vault.key).withUnsafeBytes { try Data($0).write(to: URL(filePath: keyFile)) }
    try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: keyFile)
    #expect(code { try Vault.open(at: vault.path, unlocking: .keyFile(keyFile)) } == .insecurePermissions)
    try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: keyFile)
    #expect(code { try Vault.open(at: vault.path, unlocking: .keyFile(keyFile)) } == nil)
    vault.lock()
    #expect(code { try store.string(forKey: "key") } == .locked)
    #expect(code { try store.set("new", forKey: "key") } == .locked)

    #expect(try Self.bytes(vault.path) == before)
  }

  // MARK: 115

  @Test func `item 115: a secret is present, absent or unavailable`() throws {
    let vault = ThrowawayVault.current
    let store = try vault.preferences()
    try store.set("v", forKey: "key")

    guard case .present = store.presence(forKey: "key"), case .absent = store.presence(forKey: "none") else {
      Issue.record("neither present nor absent")
      return
    }
    vault.lock()
    for key in ["key", "none"] {
      guard case .unavailable(let error) = store.presence(forKey: key) else {
        Issue.record("\(key) has a presence")
        continue
      }
      #expect(error.code == .locked)
    }
  }

  // MARK: 116

  @Test func `item 116: a failed write, rotation or change of the passphrase keeps every secret`() async throws {
    var options = Vault.Options()
    options.lockTimeout = .milliseconds(1)
    let vault = try ThrowawayVault(withPassphrase: true, options: options)
    let store = try vault.preferences()
    try await store.set("old", forKey: "key")
    let before = try Self.bytes(vault.path)

    try await vault.withWriterLock {
      #expect(code { try store.set("new", forKey: "key") } == .lockTimeout)
      #expect(code { try vault.vault.rotateVault(keeping: [.passphrase(ThrowawayVault.passphrase)]) } == .lockTimeout)
      #expect(code { try vault.vault.replaceSlot(with: NewSlot(.key(SealingKey(from: .system)))) } == .lockTimeout)
    }
    #expect(code { try vault.vault.rotateVault(droppingOthers: false) } == .conflict)

    #expect(try Self.bytes(vault.path) == before)
    for credential in [.key(vault.key), try .passphrase(ThrowawayVault.passphrase)] as [Vault.Credential] {
      let opened = try await Vault.open(at: vault.path, credential: credential)
      #expect(try SecretPreferences(service: "com.example.test", in: opened).string(forKey: "key") == "old")
    }
  }

  // MARK: 118

  @Test func `item 118: metadata is read without the value, and does not survive a change of the file`() throws {
    var options = Vault.Options()
    options.now = { 5_000 }
    let vault = try ThrowawayVault(options: options)
    let store = try SecretPreferences(
      service: "com.example.test", accessibility: .afterFirstUnlock, in: vault.vault)
    try store.set("v", forKey: "key", expires: Date(timeIntervalSince1970: 60), label: "CI", comment: "by ops")

    let info = try #require(try store.info(forKey: "key"))
    #expect(info.created == Date(timeIntervalSince1970: 5) && info.modified == info.created)
    #expect(info.label == "CI" && info.comment == "by ops" && info.accessibility == .afterFirstUnlock)
    #expect(traces(of: "by ops", in: info) == [])
    try vault.damage()
    #expect(code { try store.info(forKey: "key") } == .damaged)
  }

  // MARK: 119

  @Test func `item 119: a class decides what a locked vault returns, and others are refused by name`() throws {
    var options = Vault.Options()
    options.deviceKey = try SealingKey(from: .system)
    let vault = try ThrowawayVault(options: options)
    for accessibility in Vault.Accessibility.allCases {
      try SecretPreferences(service: "com.example.test", accessibility: accessibility, in: vault.vault)
        .set("v", forKey: accessibility.name)
      #expect(try Vault.Accessibility(named: accessibility.name) == accessibility)
    }
    let store = try vault.preferences()
    let withoutDevice = try SecretPreferences(service: "com.example.test", in: vault.reopened())

    vault.lock()
    for accessibility in Vault.Accessibility.allCases {
      let found = code { try store.string(forKey: accessibility.name) }
      #expect(found == (accessibility.isReadableAfterLock ? nil : .locked))
      let elsewhere = code { try withoutDevice.string(forKey: accessibility.name) }
      #expect(elsewhere == (accessibility.isThisDeviceOnly ? .deviceKeyMissing : nil))
    }
    for name in ["always", "whenPasscodeSetThisDeviceOnly", ""] {
      #expect(code { try Vault.Accessibility(named: name) } == .unsupportedAccessibility)
    }
  }

  // MARK: 120

  @Test func `item 120: nothing that is printed, encoded or observed shows a secret`() throws {
    let vault = ThrowawayVault.current
    let store = try vault.preferences()
    let seen = Mutex<[String]>([])
    let observation = store.observe { change in seen.withLock { $0 += traces(of: Self.sentinel, in: change) + ["seen"] }
    }
    try store.set(Self.sentinel, forKey: "key")
    observation.invalidate()
    let secret = try store.secret(String.self, forKey: "key")
    let composite: CompositePreferences = [store.claiming(.everything), DictionaryPreferences()]
    let errors = [
      #expect(throws: VaultError.self) { try store.data(forKey: "key") } as Any,
      #expect(throws: (any Error).self) { try composite.integer(forKey: "key") } as Any,
      #expect(throws: (any Error).self) { try DictionaryPreferences().set(Secret(Self.sentinel), forKey: "key") }
        as Any,
    ]

    let shown =
      [
        store, composite, secret as Any, [secret], try composite.dictionary(), try composite.explain("key"),
        try store.snapshot(), try store.info(forKey: "key") as Any, vault.vault, try vault.vault.status(),
        composite.preference(for: PreferenceKey<String?>("key")),
      ] + errors
    for value in shown { #expect(traces(of: Self.sentinel, in: value) == [], "\(type(of: value))") }
    #expect(seen.withLock { $0 } == ["seen"])
    #expect(!((try Secret("s") as Any) is any Encodable))
  }

  // MARK: 121

  @Test(.throwawayVault(groups: ["default", "billing"]))
  func `item 121: removing is limited to a service and a group, and listing opens no value`() throws {
    let vault = ThrowawayVault.current
    let here = try vault.preferences(service: "shop")
    let others = [
      try vault.preferences(service: "other"), try vault.preferences(service: "shop", accessGroup: "billing"),
    ]
    for store in [here] + others { try store.set(["a": 1, "b": 2]) }

    #expect(try here.keys() == ["a", "b"])
    try here.removeValue(forKey: "a")
    #expect(try here.keys() == ["b"])
    try here.removeAll()
    #expect(try here.keys() == [])
    for store in others { #expect(try store.dictionary(revealingSecrets: true) == ["a": 1, "b": 2]) }

    // A value that needs a missing key is listed all the same.
    var options = Vault.Options()
    options.deviceKey = try SealingKey(from: .system)
    let device = try SecretPreferences(
      service: "shop", accessibility: .whenUnlockedThisDeviceOnly, in: vault.reopened(options: options))
    try device.set("v", forKey: "device")
    #expect(try here.keys() == ["device"])
    #expect(code { try here.string(forKey: "device") } == .deviceKeyMissing)
  }
}
