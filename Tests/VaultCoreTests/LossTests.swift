import Synchronization
import Testing
import VaultSealing

@testable import VaultCore

/// Open vaults whose storage returns to an earlier state, or cannot be reached.
struct LossTests {
  private static func stored() throws -> (storage: MemoryStorage, vault: Vault) {
    let storage = MemoryStorage()
    let vault = try Vault.create(
      in: storage, slots: [NewSlot(.key(try .sample()))], groups: [.sample()], options: .sample())
    return (storage, vault)
  }

  private static func put(_ bytes: [UInt8], into storage: MemoryStorage) throws {
    let locked = try storage.lock(until: LockDeadline(after: .seconds(60)))
    defer { locked.release() }
    _ = try locked.replace(with: bytes, behind: nil)
  }

  private static func opened(
    _ storage: any VaultStorage, _ report: @escaping @Sendable (VaultError) -> Void
  ) throws -> Vault {
    var options = Vault.Options.sample(seed: "opened")
    options.markFailure = report
    return try Vault.open(in: storage, credential: .key(try .sample()), options: options)
  }

  @Test(arguments: [false, true])
  func `an older copy in place of an open vault is reported once, and used`(isFolded: Bool) throws {
    let (storage, vault) = try Self.stored()
    try vault.set("old", forKey: "a")
    let old = try storage.load(limit: .max).bytes.bytes
    try vault.set("new", forKey: "a")
    if isFolded { try vault.compact() }
    let reported = Mutex<[VaultError.Code]>([])
    let reader = try Self.opened(storage) { error in reported.withLock { $0.append(error.code) } }
    #expect(try reader.text("a") == "new")
    try Self.put(old, into: storage)
    #expect(try reader.text("a") == "old")
    #expect(try reader.text("a") == "old")
    #expect(reported.withLock(\.self) == [.rolledBack])
  }

  @Test func `two writes in place of each other are reported`() throws {
    let (storage, vault) = try Self.stored()
    let start = try storage.load(limit: .max).bytes.bytes
    try vault.set("one", forKey: "a")
    let reported = Mutex<[VaultError.Code]>([])
    let reader = try Self.opened(storage) { error in reported.withLock { $0.append(error.code) } }
    #expect(try reader.text("a") == "one")
    let copy = MemoryStorage()
    try copy.create(start).storage.release()
    try Self.opened(copy) { _ in }.set("two", forKey: "a")
    try Self.put(copy.load(limit: .max).bytes.bytes, into: storage)
    #expect(try reader.text("a") == "two")
    #expect(reported.withLock(\.self) == [.rolledBack])
  }

  @Test func `writes, folds and rotations of others are not reported`() throws {
    let (storage, vault) = try Self.stored()
    let reported = Mutex<[VaultError.Code]>([])
    let reader = try Self.opened(storage) { error in reported.withLock { $0.append(error.code) } }
    for number in 0..<6 {
      try vault.set("value \(number)", forKey: "a")
      if number % 3 == 1 { try vault.compact() }
      if number % 3 == 2 { try vault.rotate(try vault.groups()[0]) }
      #expect(try reader.text("a") == "value \(number)")
    }
    try Self.put(storage.load(limit: .max).bytes.bytes, into: storage)
    #expect(try reader.text("a") == "value 5")
    #expect(reported.withLock(\.self) == [])
  }

  @Test func `a storage that cannot be brought up to date makes the health degraded, and says how old it is`() throws {
    final class Away: VaultStorage {
      let base: MemoryStorage
      let error = Mutex<VaultError?>(nil)
      init(_ base: MemoryStorage) { self.base = base }
      var name: String { base.name }
      func load(limit: Int) throws(VaultError) -> StoredVault { try base.load(limit: limit) }
      func changes(since position: StoragePosition, limit: Int) throws(VaultError) -> StorageChanges {
        try base.changes(since: position, limit: limit)
      }
      func lock(until deadline: LockDeadline) throws(VaultError) -> any LockedStorage { try base.lock(until: deadline) }
      func create(_ bytes: [UInt8]) throws(VaultError) -> (storage: any LockedStorage, version: any StorageVersion) {
        try base.create(bytes)
      }
      func refresh() throws(VaultError) { if let error = problem { throw error } }
      var age: Duration { problem == nil ? .zero : .seconds(7) }
      var problem: VaultError? { error.withLock(\.self) }
    }
    let (base, _) = try Self.stored()
    let storage = Away(base)
    let vault = try Self.opened(storage) { _ in }
    #expect(vault.health().description == "ready")
    #expect(vault.age == .zero)
    storage.error.withLock { $0 = VaultError(.unreachable, "the database does not answer") }
    #expect(vault.health().description == "degraded: unreachable")
    #expect(vault.age == .seconds(7))
    #expect(refusal { try vault.refresh() } == .unreachable)
    #expect(try vault.text("password") == "s3cret")
    storage.error.withLock { $0 = nil }
    try vault.refresh()
    #expect(vault.health().description == "ready")
  }

  @Test func `a vault in a storage that looks itself is refreshed at any time`() throws {
    let (storage, vault) = try Self.stored()
    let reader = try Self.opened(storage) { _ in }
    try vault.set("new", forKey: "a")
    try reader.refresh()
    #expect(try reader.text("a") == "new")
    #expect(reader.age == .zero)
    vault.lock()
    #expect(refusal { try vault.refresh() } == .locked)
  }
}
