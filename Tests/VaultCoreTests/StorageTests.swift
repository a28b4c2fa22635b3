import Synchronization
import Testing
import VaultSealing

@testable import VaultCore

/// Vaults in storages that are not named by a path.
struct StorageTests {
  private static func memory() throws -> (storage: MemoryStorage, vault: Vault) {
    let storage = MemoryStorage()
    let vault = try Vault.create(
      in: storage, slots: [NewSlot(.key(try .sample()), label: "owner")], groups: [.sample()], options: .sample())
    return (storage, vault)
  }

  private static func opened(in storage: any VaultStorage) throws -> Vault {
    try Vault.open(in: storage, credential: .key(try .sample()), options: .sample(seed: "opened"))
  }

  @Test func `a vault in the storage of a file is the vault at its path`() throws {
    try TemporaryDirectory.with { directory in
      let path = directory + "/vault.spv"
      let vault = try Vault.create(
        in: .file(path), slots: [NewSlot(.key(try .sample()))], groups: [.sample()], options: .sample())
      try Vault.opened(at: path).set("new", forKey: "a")
      #expect(try vault.text("a") == "new")
      #expect(try Self.opened(in: .file(path)).text("a") == "new")
      #expect(try VaultInfo(in: .file(path)).vaultID == VaultInfo(at: path).vaultID)
    }
  }

  @Test func `a vault has the same bytes in memory as in a file, without the reserve`() throws {
    try TemporaryDirectory.with { directory in
      let path = directory + "/vault.spv"
      let (storage, vault) = try Self.memory()
      try vault.set("new", forKey: "a")
      try Vault.copy(from: storage, to: .file(path, options: .sample(reserve: 64)))
      let bytes = try storage.load(limit: .max).bytes.bytes
      #expect(try FileBytes.read(path) == bytes + [UInt8](repeating: 0, count: 64))

      let other = MemoryStorage()
      try Vault.copy(from: .file(path), to: other)
      #expect(try other.load(limit: .max).bytes.bytes == bytes)
      #expect(try Self.opened(in: other).text("a") == "new")
    }
  }

  @Test func `a copy without a key refuses a vault that is damaged, and a place that has one`() throws {
    let (storage, vault) = try Self.memory()
    try vault.set("new", forKey: "a")
    #expect(refusal { try Vault.copy(from: storage, to: storage) } == .alreadyExists)

    var bytes = try storage.load(limit: .max).bytes.bytes
    bytes[100] ^= 1
    let (damaged, target) = (MemoryStorage(), MemoryStorage())
    try damaged.create(bytes).storage.release()
    #expect(refusal { try Vault.copy(from: damaged, to: target) } == .damaged)
    #expect(refusal { try target.load(limit: .max) } == .notFound)
    #expect(refusal { try Vault.copy(from: MemoryStorage(), to: target) } == .notFound)
  }

  @Test func `a copy leaves out a broken last entry`() throws {
    let (storage, vault) = try Self.memory()
    try vault.set("new", forKey: "a")
    let bytes = try storage.load(limit: .max).bytes.bytes
    let (torn, target) = (MemoryStorage(), MemoryStorage())
    try torn.create(bytes + [1, 2, 3]).storage.release()
    try Vault.copy(from: torn, to: target)
    #expect(try target.load(limit: .max).bytes.bytes == bytes)
    let written = try Self.opened(in: torn)
    try written.set("newer", forKey: "a")
    #expect(try VaultInfo(in: torn).hasTornTail == false)
  }

  @Test func `a vault in a storage without a place for logs is not logged`() throws {
    let (_, vault) = try Self.memory()
    #expect(refusal { try vault.setAuditing(.failOpen) } == .unsupportedFeature)
    #expect(try vault.auditing() == nil)
    #expect(try vault.unreadAuditLogs() == [])
    #expect(try vault.text("password") == "s3cret")
  }

  @Test(arguments: [AuditPolicy.failOpen, .failClosed])
  func `a vault with logging is neither read nor written without a place for logs`(policy: AuditPolicy) throws {
    try AuditedVault.with(policy) { shared in
      let storage = MemoryStorage()
      try Vault.copy(from: .file(shared.path), to: storage)
      let vault = try Vault.open(in: storage, credential: .key(try .sample()), options: .sample(seed: "opened"))
      #expect(refusal { _ = try vault.text("password") } == .unsupportedFeature)
      #expect(refusal { try vault.set("new", forKey: "a") } == .unsupportedFeature)
      guard case .failing(let error) = vault.health() else {
        Issue.record("the vault is said to be ready")
        return
      }
      #expect(error.code == .unsupportedFeature)
    }
  }

  @Test func `bytes that are longer than the limit are refused, whatever the storage checks`() throws {
    final class Boundless: VaultStorage {
      let base: MemoryStorage
      init(_ base: MemoryStorage) { self.base = base }
      var name: String { base.name }
      func load(limit: Int) throws(VaultError) -> StoredVault { try base.load(limit: .max) }
      func changes(since position: StoragePosition, limit: Int) throws(VaultError) -> StorageChanges {
        try base.changes(since: position, limit: .max)
      }
      func lock(until deadline: LockDeadline) throws(VaultError) -> any LockedStorage { try base.lock(until: deadline) }
      func create(_ bytes: [UInt8]) throws(VaultError) -> (storage: any LockedStorage, version: any StorageVersion) {
        try base.create(bytes)
      }
    }
    let (storage, vault) = try Self.memory()
    let boundless = Boundless(storage)
    var options = Vault.Options.sample(seed: "opened")
    options.limits.fileBytes = try storage.load(limit: .max).bytes.count
    let limited = try Vault.open(in: boundless, credential: .key(try .sample()), options: options)
    try vault.set("new", forKey: "a")
    #expect(refusal { _ = try limited.text("a") } == .limitExceeded)
    #expect(
      refusal { _ = try Vault.open(in: boundless, credential: .key(try .sample()), options: options) }
        == .limitExceeded)
    #expect(refusal { try boundless.checkVacant() } == .alreadyExists)
  }

  @Test func `a storage without observers of its own is looked at every second`() async throws {
    let calls = Tally()
    let observation = try StorageObservation.polling { calls.count.add(1, ordering: .relaxed) }
    while calls.count.load(ordering: .relaxed) == 0 { try await Task.sleep(for: .milliseconds(50)) }
    observation.stop()
  }
}
