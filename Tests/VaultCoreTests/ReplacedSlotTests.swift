import Glibc
import Synchronization
import SyncFaulting
import Testing
import VaultSealing

@testable import VaultCore

extension EveryStorage {
  /// A slot replaced by one with another credential.
  struct ReplacedSlotTests {}
}

extension EveryStorage.ReplacedSlotTests {
  private static let changes = [
    "passphrase by passphrase", "passphrase by raw key", "raw key by passphrase", "raw key by raw key",
  ]

  private static func credentials(_ change: String) throws -> (old: Vault.Credential, new: Vault.Credential) {
    let isPassphrase = change.split(separator: " by ").map { $0 == "passphrase" }
    return (
      isPassphrase[0] ? try .passphrase("old") : .key(try .sample(from: 200)),
      isPassphrase[1] ? try .passphrase("new") : .key(try .sample(from: 220))
    )
  }

  @Test(arguments: changes)
  func `row 69: a handle that replaces its own slot still works, the old credential is rejected`(change: String) throws
  {
    try SharedVault.with { shared in
      let (old, new) = try Self.credentials(change)
      try shared.owner.addSlot(NewSlot(old, label: "old", cost: .throwaway))
      let vault = try Vault.open(in: stored(shared.path), credential: old, options: .sample(seed: "own"))
      let stranded = try Vault.open(in: stored(shared.path), credential: old)
      let contents = try vault.contents()

      let id = try vault.replaceSlot(with: NewSlot(new, label: "new", cost: .throwaway))

      #expect(Vault.refusal(at: shared.path, old) == .credentialRejected)
      #expect(Vault.refusal(at: shared.path, new) == nil)
      #expect(try vault.contents() == contents)
      #expect(try vault.slots().filter(\.isCurrent).map(\.id) == [id])
      #expect(try vault.slots().map(\.label) == ["owner", "default", "one", "two", "new"])
      try vault.set("append", forKey: "a")
      try vault.createGroup("full write")
      try vault.set("append", forKey: "b")
      #expect(try shared.owner.text("b") == "append")
      #expect(refusal { try stranded.text("password") } == .credentialRejected)
      #expect(refusal { try stranded.set("lost", forKey: "password") } == .credentialRejected)
    }
  }

  /// The slot of the handle is replaced, or removed together with a rotation.
  private static func replaceOwnSlot(of vault: Vault, removes: Bool) throws {
    guard removes else {
      try vault.replaceSlot(with: NewSlot(.key(.sample(from: 200))))
      return
    }
    try vault.addSlot(NewSlot(.key(.sample(from: 200))))
    let own = try #require(try vault.slots().first(where: \.isCurrent))
    try vault.removeSlot(own.id, keeping: [.key(.sample(from: 200))])
  }

  @Test(.filesOnly("a disk that fails"), arguments: [false, true])
  func `other threads read while a handle replaces or removes its own slot`(removes: Bool) throws {
    try SharedVault.with { shared in
      let vault = shared.owner
      let codes = Mutex<[VaultError.Code?]>([])

      // The new file has the vault's name when the directory is synced.
      try SyncFault.with { descriptor in
        if SyncFault.isDirectory(descriptor) {
          let code = refusal { try vault.text("password") }
          codes.withLock { $0.append(code) }
        }
        return nil
      } during: {
        try Self.replaceOwnSlot(of: vault, removes: removes)
      }

      let seen = codes.withLock(\.self)
      #expect(!seen.isEmpty)
      #expect(seen.allSatisfy { $0 == nil }, "\(seen)")
      try vault.set("append", forKey: "a")
      try vault.createGroup("full write")
      #expect(try Vault.refusal(at: shared.path, .key(.sample())) == .credentialRejected)
      #expect(try Vault.refusal(at: shared.path, .key(.sample(from: 200))) == nil)
    }
  }

  @Test(.filesOnly("a disk that fails"), arguments: ["a read", "a set", "a full write"])
  func `a handle goes on with its new slot although the directory could not be synced`(first: String) throws {
    try SharedVault.with { shared in
      let code = SyncFault.with {
        SyncFault.isDirectory($0) ? EIO : nil
      } during: {
        refusal { try shared.owner.replaceSlot(with: NewSlot(.key(.sample(from: 200)))) }
      }

      #expect(code == .durabilityUnknown)
      switch first {
      case "a read": #expect(try shared.owner.text("password") == "s3cret")
      case "a set": try shared.owner.set("new", forKey: "password")
      default: try shared.owner.compact()
      }
      try shared.owner.set("last", forKey: "password")
      #expect(try shared.owner.text("password") == "last")
    }
  }

  @Test(.filesOnly("a disk that fails")) func `a handle that was locked while it replaced its slot stays locked`()
    throws
  {
    try SharedVault.with { shared in
      try SyncFault.with { descriptor in
        if SyncFault.isDirectory(descriptor) { shared.owner.lock() }
        return nil
      } during: {
        _ = try shared.owner.replaceSlot(with: NewSlot(.key(.sample(from: 200))))
      }

      #expect(refusal { try shared.owner.text("password") } == .locked)
    }
  }

  @Test(arguments: changes)
  func `a group slot that its owner replaces opens the same group by the new credential`(change: String) throws {
    try SharedVault.with { shared in
      let (old, new) = try Self.credentials(change)
      let slot = try shared.owner.addSlot(
        NewSlot(old, cost: .throwaway), granting: shared.owner.group(named: "one"))
      let stranded = try Vault.open(in: stored(shared.path), credential: old)
      let sibling = try shared.holder(of: "one")

      try shared.owner.replaceSlot(slot, with: NewSlot(new, cost: .throwaway))

      #expect(Vault.refusal(at: shared.path, old) == .credentialRejected)
      #expect(refusal { try stranded.text("password", in: "one") } == .credentialRejected)
      let replaced = try Vault.open(in: stored(shared.path), credential: new)
      #expect(try replaced.groupNames() == ["one"])
      try replaced.set("new", forKey: "password", in: "one")
      #expect(try sibling.text("password", in: "one") == "new")
      #expect(try shared.loaded.manifest?.slots.last?.kek != nil)
    }
  }

  @Test func `the other slots, the keys and the epochs stay`() throws {
    try SharedVault.with { shared in
      let second = try shared.secondOwner()
      let before = try (shared.parts, KeyHolder(shared.bytes).vaultKey)

      try shared.owner.replaceSlot(shared.slot("one"), with: NewSlot(.key(.sample(from: 200))))

      #expect(try KeyHolder(shared.bytes).vaultKey.isEqual(to: before.1))
      #expect(try shared.parts.sections.map(\.sealed) == before.0.sections.map(\.sealed))
      #expect(try shared.parts.slots[0] == before.0.slots[0])
      #expect(try shared.holder(of: "two").text("password", in: "two") == "s3cret")
      #expect(try second.text("password", in: "one") == "s3cret")
    }
  }

  struct Change: CustomTestStringConvertible, Sendable {
    let testDescription: String
    let old, new: PassphraseCost

    static let all = [
      Change(testDescription: "throwaway for the minimum", old: .minimum, new: .throwaway),
      Change(
        testDescription: "the same work in half the memory",
        old: PassphraseCost(passes: 3, kibibytes: 128 << 10), new: PassphraseCost(passes: 6, kibibytes: 64 << 10)),
    ]
  }

  @Test(arguments: Change.all)
  func `a passphrase is never replaced at a lower cost`(change: Change) throws {
    try TemporaryDirectory.with { directory in
      let path = directory + "/vault.spv"
      let vault = try Vault.create(
        in: stored(path), slots: [NewSlot(.passphrase("old"), cost: change.old)], options: .sample())

      try vault.replaceSlot(with: NewSlot(.passphrase("new"), cost: change.new))

      let kind = try vault.slots()[0].kind
      let cost = try #require({ if case .passphrase(let cost) = kind { cost } else { nil } }() as PassphraseCost?)
      #expect(cost.work >= change.old.work)
      #expect(cost.kibibytes >= change.old.kibibytes)
      #expect(try Vault.refusal(at: path, .passphrase("new")) == nil)
    }
  }

  @Test func `a passphrase is replaced at the higher cost that was requested`() throws {
    try TemporaryDirectory.with { directory in
      let path = directory + "/vault.spv"
      let vault = try Vault.create(
        in: stored(path), slots: [NewSlot(.passphrase("same"), cost: .throwaway)], options: .sample())

      try vault.replaceSlot(with: NewSlot(.passphrase("same"), cost: .minimum))

      #expect(try vault.slots().map(\.kind) == [.passphrase(.minimum)])
      #expect(try Vault.refusal(at: path, .passphrase("same")) == nil)
    }
  }

  @Test func `a slot that is not there is not found`() throws {
    try SharedVault.with { shared in
      let slot = try shared.slot("one")
      try shared.owner.removeSlot(slot)

      try expectRefused(.notFound, at: shared.path) {
        try shared.owner.replaceSlot(slot, with: NewSlot(.key(.sample(from: 200))))
      }
    }
  }

  @Test func `row 11: a raw key is not replaced by a ninth passphrase`() throws {
    try SharedVault.with { shared in
      for number in 0..<8 { try shared.owner.addSlot(NewSlot(.passphrase("\(number)"), cost: .throwaway)) }

      try expectRefused(.limitExceeded, at: shared.path) {
        try shared.owner.replaceSlot(with: NewSlot(.passphrase("ninth"), cost: .throwaway))
      }
      try shared.owner.replaceSlot(
        #require(try shared.owner.slots().last).id, with: NewSlot(.passphrase("ninth"), cost: .throwaway))
      #expect(try Vault.refusal(at: shared.path, .passphrase("ninth")) == nil)
    }
  }

  @Test func `one of 64 slots is replaced`() throws {
    try TemporaryDirectory.with { directory in
      let path = directory + "/vault.spv"
      let slots = try (0..<64).map { NewSlot(.key(try .sample(from: UInt8($0)))) }
      let vault = try Vault.create(in: stored(path), slots: slots, options: .sample())

      try vault.replaceSlot(with: NewSlot(.key(.sample(from: 64))))

      #expect(try vault.slots().count == 64)
      #expect(try Vault.refusal(at: path, .key(.sample(from: 0))) == .credentialRejected)
      #expect(try Vault.refusal(at: path, .key(.sample(from: 64))) == nil)
    }
  }
}
