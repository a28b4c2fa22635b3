import Testing
import VaultSealing

@testable import VaultCore

extension EveryStorage {
  /// The key of one slot, as it is kept outside of a vault.
  struct SlotKeyTests {}
}

extension EveryStorage.SlotKeyTests {
  /// The key of the slot that opened `vault`, written and read again.
  private static func credential(_ vault: Vault) throws -> Vault.Credential {
    let key = try vault.slotKey()
    var bytes = try SecretBytes(count: key.count)
    bytes.withUnsafeMutableBytes { key.write(to: $0) }
    return .slot(try #require(try bytes.withSpan { (span) throws(VaultError) in try SlotKey(span) }))
  }

  @Test func `it opens what its slot opens, also after the vault's keys were replaced`() throws {
    try SharedVault.with { shared in
      let (owner, one) = (try Self.credential(shared.owner), try Self.credential(try shared.holder(of: "one")))
      try shared.owner.rotateVault(droppingOthers: true)
      let vault = try Vault.open(in: stored(shared.path), credential: owner)
      #expect(try vault.contents() == shared.owner.contents())
      #expect(try vault.slots().filter(\.isCurrent).map(\.id) == shared.owner.slotKey().slots.map(\.id))
      #expect(try Vault.open(in: stored(shared.path), credential: one).groupNames() == ["one"])
    }
  }

  @Test func `it opens every group that the credential opened`() throws {
    try SharedVault.with { shared in
      for group in ["one", "two"] {
        try shared.owner.addSlot(NewSlot(.key(.sample(from: 200))), granting: shared.owner.group(named: group))
      }
      let key = try Self.credential(Vault.open(in: stored(shared.path), credential: .key(.sample(from: 200))))
      try shared.owner.rotateVault()
      #expect(try Vault.open(in: stored(shared.path), credential: key).groupNames() == ["one", "two"])
    }
  }

  @Test func `bytes that are no keys are not taken for some`() throws {
    try SharedVault.with { shared in
      let key = try shared.owner.slotKey()
      var bytes = try SecretBytes(count: key.count)
      bytes.withUnsafeMutableBytes { key.write(to: $0) }
      for (number, count) in [(UInt8(0), 65), (2, 65), (65, 65), (255, 65), (1, 64), (1, 0)] {
        bytes.withUnsafeMutableBytes { $0[16] = number }
        let read = try bytes.withSpan { (span) throws(VaultError) in try SlotKey(span.extracting(..<count)) }
        #expect(read == nil, "\(number), \(count)")
      }
    }
  }

  @Test func `it opens no other slot and no other vault`() throws {
    try SharedVault.with { shared in
      let old = try Self.credential(shared.owner)
      let other = shared.path + ".other"
      _ = try Vault.sample(at: other, options: .sample(seed: "other"))
      #expect(Vault.refusal(at: other, old) == .credentialRejected)
      try shared.owner.replaceSlot(with: NewSlot(.key(try .sample(from: 200))))
      #expect(Vault.refusal(at: shared.path, old) == .credentialRejected)
    }
  }

  @Test func `it keeps its slot when the vault's keys are replaced, and makes none`() throws {
    try SharedVault.with { shared in
      try shared.owner.addSlot(NewSlot(.key(try .sample(from: 200)), label: "second"))
      let second = try Vault.open(in: stored(shared.path), credential: .key(try .sample(from: 200)))
      let key = try Self.credential(second)
      #expect(refusal { try shared.owner.addSlot(NewSlot(key)) } == .credentialRejected)
      let report = try shared.owner.rotateVault(keeping: [key], droppingOthers: false)
      #expect(report.droppedSlots.isEmpty)
      #expect(Vault.refusal(at: shared.path, key) == nil)
    }
  }
}
