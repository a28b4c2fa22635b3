import CVaultSodium
import Foundation
import Glibc
import VaultMemorySearching
import Synchronization
import Testing

@testable import VaultCore
@testable import VaultSealing

/// What a process that uses a vault finds in a directory, and looks for in its own memory. The vault is made by another
/// process: this one has seen nothing of it.
struct SearchedVault {
  let directory: String
  let search: MemorySearch
  var path: String { directory + "/vault.spv" }

  /// Makes the vault and its credentials, and notes every secret of it.
  static func with(_ body: (_ directory: String) async throws -> Void) async throws {
    try await TemporaryDirectory.with { directory in
      try make(in: directory)
      try await body(directory)
    }
  }

  init(_ directory: String) throws {
    self.directory = directory
    search = try MemorySearch(from: directory + "/notes")
  }

  /// The values: name, length, class.
  static let values: [(key: String, count: Int, accessibility: Vault.Accessibility)] = [
    ("short", 12, .whenUnlocked), ("line", 40, .whenUnlocked), ("long", 5000, .whenUnlocked),
    ("kept", 40, .afterFirstUnlock), ("bound", 300, .whenUnlockedThisDeviceOnly),
    ("kept and bound", 40, .afterFirstUnlockThisDeviceOnly),
  ]

  static func random(_ count: Int) -> [UInt8] { (0..<count).map { _ in .random(in: 0...255) } }

  static func make(in directory: String) throws {
    let search = MemorySearch()
    let (passphrase, wrong, key, deviceKey) = (random(24), random(24), random(32), random(32))
    let text = { (bytes: [UInt8]) in bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined() }
    try FileBytes.write(passphrase, to: directory + "/passphrase")
    try FileBytes.write(wrong, to: directory + "/wrong")
    try FileBytes.write(Array("spv-key-1:\(text(key))".utf8), to: directory + "/key")
    try FileBytes.write(Array("spv-key-1:\(text(deviceKey))".utf8), to: directory + "/device-key")
    var options = Vault.Options()
    options.deviceKey = try SealingKey(copying: deviceKey)
    let credentials = [try Vault.Credential.passphrase(of: passphrase), .key(try SealingKey(copying: key))]
    let vault = try Vault.create(
      at: directory + "/vault.spv", slots: credentials.map { NewSlot($0, cost: .throwaway) },
      groups: [NewGroup(), NewGroup("other")], options: options)
    for (key, count, accessibility) in values {
      for age in ["earlier ", ""] {
        let value = random(count)
        search.add("\(age)value \(key)", value)
        try vault.transaction(service: Vault.Name("db"), in: vault.group()) { batch throws(VaultError) in
          try batch.set(value, forKey: key, as: accessibility, edit: .keeping(1))
        }
      }
    }
    // No call requests this record: its name comes into the memory of a process by loading only.
    let name = text(random(20))
    try vault.transaction(service: Vault.Name("db"), in: vault.group()) { batch throws(VaultError) in
      try batch.set("v", forKey: name)
    }
    search.add("name of a record", Array(name.utf8))
    search.add("passphrase", passphrase)
    search.add("wrong passphrase", wrong)
    for (name, key) in [("raw key", key), ("device key", deviceKey)] {
      search.add(name, key)
      search.add("text of the \(name)", Array(text(key).utf8))
    }
    try search.addKeys(of: vault)
    for slot in try vault.handle.loaded.withLock({ try $0.state.snapshot.slots }) {
      for credential in credentials where credential.kind == slot.kind {
        try search.addCredential(credential, of: slot, in: vault)
      }
    }
    let slot = try vault.handle.loaded.withLock { try $0.state.snapshot.slots[0] }
    try search.addCredential(.passphrase(of: wrong), of: slot, in: vault, prefix: "wrong ")
    try search.save(to: directory + "/notes")
  }

  // MARK: As a program reads them

  /// Reads a file into guarded memory.
  func bytes(of file: String) throws -> SecretBytes {
    let descriptor = Glibc.open(directory + "/" + file, O_RDONLY | O_CLOEXEC)
    try #require(descriptor >= 0)
    defer { close(descriptor) }
    var bytes = try SecretBytes(count: 100)
    let count = bytes.withUnsafeMutableBytes { Glibc.read(descriptor, $0.baseAddress!, $0.count) }
    return try bytes.prefix(count)
  }

  func passphrase(_ file: String = "passphrase") throws -> Vault.Credential { .passphrase(try bytes(of: file)) }
  func key() throws -> Vault.Credential { try bytes(of: "key").withSpan { (span) throws in try .key(text: span) } }

  func options() throws -> Vault.Options {
    var options = Vault.Options()
    options.deviceKey = try bytes(of: "device-key").withSpan { (span) throws in try KeyText.parse(span) }
    return options
  }

  func open() throws -> Vault { try Vault.open(at: path, credential: passphrase(), options: options()) }

  /// Lends a value, and nothing more.
  func read(_ key: String, _ count: Int, _ vault: Vault) throws {
    let length = try vault.withValue(service: Vault.Name("db"), key: key, in: vault.group()) { $1.byteCount }
    try #require(length == count)
  }

  func readAll(_ vault: Vault) throws {
    for value in Self.values { try read(value.key, value.count, vault) }
  }

  /// What opening with the passphrase in that file is refused with.
  func refusal(_ file: String) throws -> VaultError.Code? {
    let credential = try passphrase(file)
    return VaultCoreTests.refusal { try Vault.open(at: path, credential: credential) }
  }

  /// Changes the passphrase that opened `vault` to a new one.
  func replaceSlot(_ vault: Vault) throws {
    let new = try fresh("new passphrase")
    try vault.replaceSlot(with: NewSlot(Vault.Credential(material: .passphrase(new)), cost: .throwaway))
    let credential = Vault.Credential(material: .passphrase(new))
    let slot = try vault.handle.loaded.withLock { try $0.state.snapshot.slots[0] }
    try search.note { search in try search.addCredential(credential, of: slot, in: vault, prefix: "new ") }
  }

  /// Adds new secret bytes to the search and returns them.
  func fresh(_ name: String, _ count: Int = 40) throws -> Vault.Credential.Passphrase {
    let fresh = Vault.Credential.Passphrase(try SecretBytes(count: count, from: .system))
    try search.note { search in fresh.bytes.withUnsafeBytes { search.add(name, $0) } }
    return fresh
  }

  func set(_ vault: Vault, _ value: Vault.Credential.Passphrase) throws {
    _ = try value.bytes.withSpan { (bytes) throws(VaultError) in
      try vault.transaction(service: Vault.Name("db"), in: vault.group()) { (batch) throws(VaultError) in
        try batch.set(bytes, kind: .data, forKey: "new")
      }
    }
  }

  // MARK: What is found

  /// The page of a new key, which holds as many other keys as fit.
  func keyPage() throws -> UInt {
    try SealingKey(from: .system).withUnsafeBytes { UInt(bitPattern: $0.baseAddress!) & ~4095 }
  }

  /// What is found elsewhere than on the page of the keys, or is none of `keys`.
  func strays(except keys: [String] = []) throws -> [MemorySearch.Find] {
    let page = try keyPage()
    return try search.finds().filter { find in
      !(find.address & ~4095 == page && keys.contains { find.secret.hasPrefix($0) })
    }
  }

  /// The names of what is found.
  func found() throws -> Set<String> { Set(try search.finds().map(\.secret)) }
}

extension Vault.Credential {
  static func passphrase(of bytes: [UInt8]) throws -> Vault.Credential {
    var secret = try SecretBytes(count: bytes.count)
    secret.withUnsafeMutableBytes { $0.copyBytes(from: bytes) }
    return .passphrase(secret)
  }
}
