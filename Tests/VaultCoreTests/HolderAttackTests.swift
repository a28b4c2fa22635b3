import Synchronization
import Testing
import VaultSealing

@testable import VaultCore

extension EveryStorage {
  /// What can be made for a holder by public key by someone who knows the file, the pin and the holder's public key, but
  /// neither the identity nor the vault key (row G2).
  struct HolderAttackTests {}
}

extension EveryStorage.HolderAttackTests {
  /// A vault of the attacker with the id of the genuine one, in which the holder has a slot.
  private static func substitute(_ held: HeldVault, granting group: String?) throws -> [UInt8] {
    try TemporaryDirectory.with { directory in
      var options = Vault.Options.sample(seed: "attacker")
      let (rest, id) = (options.random, held.pin.vaultID.bytes)
      let isFirst = Tally()
      // The id of a new vault is what is drawn first.
      options.random = RandomSource { bytes in
        if isFirst.count.add(1, ordering: .relaxed).newValue == 1 {
          bytes.copyBytes(from: id)
        } else {
          rest.fill(bytes)
        }
      }
      let vault = try Vault.create(
        in: stored(directory + "/evil.spv"), slots: [NewSlot(.key(.sample(from: 99)))], groups: [.sample("one")],
        options: options)
      try vault.set("EVIL", forKey: "password", in: "one")
      try vault.addSlot(
        NewSlot(held.identity.publicKey), granting: try group.map { try vault.group(named: $0) })
      try vault.compact()
      #expect(try vault.pin().vaultID == held.pin.vaultID)
      return try VaultBytes.read(directory + "/evil.spv")
    }
  }

  @Test(arguments: ["one", nil]) func `row G2: a vault of the attacker in the genuine one's place is rejected`(
    group: String?
  ) throws {
    try HeldVault.with { held in
      let running = try held.open()
      try held.shared.putInPlace(try Self.substitute(held, granting: group))

      #expect(try held.refusal() == .credentialRejected)
      #expect(refusal { try running.text("password", in: "one") } == .credentialRejected)
      #expect(refusal { try running.unlock(with: held.credential()) } == .credentialRejected)
    }
  }

  @Test func `row G2: a group that is planted in the genuine file is not opened, and an owner finds it`() throws {
    try HeldVault.with { held in
      var parts = try held.shared.parts
      let evil = try Parts(Self.substitute(held, granting: "one"))
      parts.slots.append(try #require(evil.slots.last))
      parts.sections.append(evil.sections[0])
      parts.sections.sort { $0.id.lexicographicallyPrecedes($1.id) }
      try VaultBytes.write(parts.file, to: held.path)

      let vault = try held.open()
      #expect(try vault.groupNames() == ["one"])
      #expect(try vault.contents() == ["one": vault.contents()["one"]])
      #expect(try vault.text("password", in: "one") == "s3cret")
      #expect(refusal { try held.shared.secondOwner() } == .tampered)
    }
  }

  @Test func `row G2: the slot made anew as one that is sealed to a public key is rejected`() throws {
    for kind in [UInt8(3), 1, 0, 4, 255] {
      try HeldVault.with { held in
        var parts = try held.shared.parts
        let index = try #require(parts.slots.firstIndex { $0[8..<24] == held.slot.bytes[...] })
        parts.slots[index][0] = kind
        if kind == 1 { (parts.slots[index][40], parts.slots[index][45]) = (1, 0x20) }
        try VaultBytes.write(parts.file, to: held.path)

        #expect(try held.refusal() == .credentialRejected, "kind \(kind)")
      }
    }
  }

  @Test func `row G2: what a holder of a different group makes of its own slot is rejected`() throws {
    try HeldVault.with { held in
      let insider = try VaultIdentity.sample(2)
      let own = try held.add(insider, "two")
      let state = try held.shared.loaded
      let genuine = try held.shared.parts
      let key = try state.content(held.owner.group(named: "two").id).key
      // The keys that an insider can compute: its own, and those of a wrong agreement with the victim.
      let wrong = VaultPin(vaultID: held.pin.vaultID, point: held.identity.publicKey.point)
      for raw in [try insider.key(for: held.pin), try insider.key(for: wrong)] {
        var parts = genuine
        let index = try #require(parts.slots.firstIndex { $0[8..<24] == held.slot.bytes[...] })
        let scope = try #require(state.snapshot.slots.first { $0.id == own }).scope
        let kek = try StoredSlot.kek(from: raw, vault: held.pin.vaultID, slot: held.slot, state.sealer)
        parts.slots[index] =
          StoredSlot.make(
            kind: 2, scope: scope, id: held.slot, cost: nil, salt: [UInt8](repeating: 0, count: 16),
            vault: held.pin.vaultID, granting: key, kek: kek, sealer: state.sealer
          ).bytes
        try VaultBytes.write(parts.file, to: held.path)

        #expect(try held.refusal() == .credentialRejected)
        #expect(try held.refusal(insider) == nil)
      }
    }
  }

  @Test func `a point of small order in a pin or a public key is refused before anything is written`() throws {
    try HeldVault.with { held in
      let zeros = String(repeating: "0", count: 64)
      try expectRefused(.invalidKeyText, at: held.path) {
        try held.owner.addSlot(NewSlot(VaultIdentity.PublicKey("spv-public-1:" + zeros)))
      }
      #expect(refusal { try VaultPin("spv-vault-1:\(held.pin.vaultID):\(zeros)") } == .invalidKeyText)
    }
  }

  @Test func `row G10: an earlier file opens without a mark, and is rolledBack with one`() throws {
    try HeldVault.with { held in
      try held.owner.createMark(at: held.shared.mark)
      let old = try held.shared.bytes
      let options = held.shared.options("identity")
      let credential = try held.credential()
      let vault = try Vault.open(in: stored(held.path), credential: credential, options: options)
      try vault.set("new", forKey: "password", in: "one")
      try held.shared.putInPlace(old)

      #expect(try held.refusal() == nil)
      #expect(
        refusal { try Vault.open(in: stored(held.path), credential: credential, options: options) } == .rolledBack)
    }
  }

  @Test func `row G10: a mark of a different vault than the pin's is tampered`() throws {
    try HeldVault.with { held in
      let other = held.path + ".other"
      try Vault.sample(at: other, options: .sample(seed: "other")).createMark(at: held.shared.mark)
      let credential = try held.credential()
      #expect(
        refusal {
          try Vault.open(in: stored(held.path), credential: credential, options: held.shared.options("identity"))
        }
          == .tampered)
    }
  }

  @Test func `who has the identity makes a vault that its holder opens, until the slot is removed`() throws {
    try HeldVault.with { held in
      let genuine = try held.shared.bytes
      // With the identity, the agreement with the vault's public key needs nothing of the owner.
      let evil = try Parts(Self.substitute(held, granting: "one"))
      let raw = try held.identity.key(for: held.pin)
      let state = try MemoryVault(evil.file, key: .sample(from: 99)).state
      let index = try #require(state.snapshot.slots.firstIndex { $0.scope != .owner })
      let slot = state.snapshot.slots[index]
      let kek = try StoredSlot.kek(from: raw, vault: held.pin.vaultID, slot: slot.id, state.sealer)
      var parts = evil
      parts.slots[index] =
        StoredSlot.make(
          kind: 2, scope: slot.scope, id: slot.id, cost: nil, salt: [UInt8](repeating: 0, count: 16),
          vault: held.pin.vaultID, granting: try state.content(slot.groupID).key, kek: kek, sealer: state.sealer
        ).bytes
      try FileBytes.write(parts.file, to: held.path)
      #expect(try held.open().text("password", in: "one") == "EVIL")

      // So does an identity that is stolen, with the genuine vault.
      try FileBytes.write(genuine, to: held.path)
      try held.open().set("EVIL", forKey: "password", in: "one")
      #expect(try held.shared.secondOwner().text("password", in: "one") == "EVIL")
      try held.shared.secondOwner().removeSlots(of: held.identity.publicKey)
      #expect(try held.refusal() == .credentialRejected)
    }
  }

  @Test(arguments: [false, true])
  func `a removed holder writes to an older copy, which others accept unless they use a mark`(isOwner: Bool) throws {
    try HeldVault.with { held in
      let other = try VaultIdentity.sample(2)
      try held.add(other, "one")
      let old = try held.shared.bytes
      try held.owner.removeSlots(of: held.identity.publicKey)
      try held.owner.createMark(at: held.shared.mark)

      try held.shared.putInPlace(old)
      try held.open().set("EVIL", forKey: "password", in: "one")

      let credential = isOwner ? Vault.Credential.key(try .sample()) : try held.credential(other)
      let accepted = try Vault.open(in: stored(held.path), credential: credential, options: .sample(seed: "others"))
      #expect(try accepted.text("password", in: "one") == "EVIL")
      let options = held.shared.options("others")
      #expect(
        refusal { try Vault.open(in: stored(held.path), credential: credential, options: options) } == .rolledBack)
    }
  }

  @Test func `a removed owner writes to an older copy, which holders with the new pin refuse`() throws {
    try HeldVault.with { held in
      let leaving = try VaultIdentity.sample(3)
      try held.add(leaving)
      let old = try held.shared.bytes
      try held.owner.removeSlots(of: leaving.publicKey)
      let pin = try held.owner.pin()

      try held.shared.putInPlace(old)
      try held.open(leaving).set("EVIL", forKey: "password", in: "one")

      #expect(try held.refusal() == nil)
      #expect(try held.refusal(trusting: pin) == .credentialRejected)
      // An owner's key opens the copy.
      #expect(try held.shared.secondOwner().text("password", in: "one") == "EVIL")
    }
  }
}
