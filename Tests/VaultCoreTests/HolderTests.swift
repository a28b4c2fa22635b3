import Testing
import VaultSealing

@testable import VaultCore

extension EveryStorage {
  /// Holders by public key: what they open, and what owners do with them (`Docs/Format.md` annex G).
  struct HolderTests {}
}

extension EveryStorage.HolderTests {
  @Test func `row G1: an identity with the vault's pin opens its group, and so does the agreed key`() throws {
    try HeldVault.with { held in
      let raw = Vault.Credential.key(try held.identity.key(for: held.pin))

      for vault in [try held.open(), try Vault.open(in: stored(held.path), credential: raw)] {
        #expect(try vault.groupNames() == ["one"])
        #expect(try vault.text("password", in: "one") == "s3cret")
        #expect(try !vault.isOwner)
      }
      try held.open().set("by identity", forKey: "password", in: "one")
      #expect(try held.owner.text("password", in: "one") == "by identity")
      #expect(refusal { try held.open().pin() } == .ownerRequired)
    }
  }

  @Test func `an owner sees whose slot it is`() throws {
    try HeldVault.with { held in
      let slots = try held.owner.slots()

      #expect(slots.map(\.publicKey) == [nil, nil, nil, nil, held.identity.publicKey])
      #expect(slots.map(\.kind) == Array(repeating: .rawKey, count: 5))
      #expect(slots.map(\.label).last == "web1")
      #expect(try held.items == [held.slot.bytes + held.identity.publicKey.point.bytes])
    }
  }

  @Test func `the pin is the same for all owners and until the vault key is replaced`() throws {
    try HeldVault.with { held in
      #expect(try held.shared.secondOwner().pin() == held.pin)
      try held.owner.rotate(held.owner.group(named: "one"))
      #expect(try held.owner.pin() == held.pin)
      try held.owner.rotateVault()
      #expect(try held.owner.pin().vaultID == held.pin.vaultID)
      #expect(try held.owner.pin() != held.pin)
      #expect(try held.shared.secondOwner().pin() == held.owner.pin())
    }
  }

  @Test func `texts are read as they are written`() throws {
    let identity = try VaultIdentity()
    let text = try identity.text()
    let read = try text.withSpan { (text) throws(VaultError) in try VaultIdentity(text: text) }

    #expect(read.publicKey == identity.publicKey)
    #expect(try VaultIdentity.PublicKey("\(identity.publicKey)") == identity.publicKey)
    #expect(try VaultIdentity.PublicKey("\(identity.publicKey)\n") == identity.publicKey)
    try HeldVault.with { held in
      let read = try ["\(held.pin)", "\(held.pin)\n"].map { try VaultPin($0) }
      #expect(read == [held.pin, held.pin])
      #expect("\(held.pin)".hasPrefix("spv-vault-1:\(held.pin.vaultID):"))
      #expect("\(held.pin)".utf8.count == VaultPin.textCount)
    }
  }

  @Test func `row G3: a pin with a different id is tampered, with a different key it is rejected`() throws {
    try HeldVault.with { held in
      let other = VaultPin(vaultID: Vault.Identifier([UInt8](repeating: 7, count: 16)), point: held.pin.point)
      #expect(try held.refusal(trusting: other) == .tampered)

      let stranger = VaultPin(vaultID: held.pin.vaultID, point: try VaultIdentity.sample(9).publicKey.point)
      #expect(try held.refusal(trusting: stranger) == .credentialRejected)
    }
  }

  @Test func `a handle that is unlocked with an identity again needs the pin of its vault`() throws {
    try HeldVault.with { held in
      let vault = try held.open()
      vault.lock()
      try vault.unlock(with: held.credential())
      #expect(try vault.text("password", in: "one") == "s3cret")
      let other = VaultPin(vaultID: Vault.Identifier([UInt8](repeating: 7, count: 16)), point: held.pin.point)
      #expect(refusal { try vault.unlock(with: held.credential(trusting: other)) } == .tampered)
    }
  }

  @Test func `a holder is added once for each grant, and a vault is no holder`() throws {
    try HeldVault.with { held in
      try expectRefused(.alreadyExists, at: held.path) { try held.add(held.identity, "one") }
      try held.add(held.identity, "two")
      try held.add(held.identity)
      try expectRefused(.alreadyExists, at: held.path) { try held.add(held.identity) }
      try expectRefused(.invalidKeyText, at: held.path) {
        try held.owner.addSlot(NewSlot(VaultIdentity.PublicKey(held.pin.point)))
      }
    }
  }

  @Test func `row G9: an identity with owner scope opens as owner, and its slot counts as an owner slot`() throws {
    try HeldVault.with { held in
      let colleague = try VaultIdentity.sample(2)
      let slot = try held.add(colleague, label: "colleague")
      let vault = try held.open(colleague)
      #expect(try vault.isOwner)
      #expect(try vault.pin() == held.pin)

      // The owner that added the colleague leaves; the colleague is renewed.
      let report = try vault.removeSlot(held.shared.slot("owner"))
      #expect(report.droppedSlots.isEmpty)
      #expect(report.renewedSlots.map(\.label) == ["web1", "colleague"])
      #expect(try vault.slots().filter(\.isCurrent).map(\.label) == ["colleague"])
      #expect(try vault.slots().allSatisfy { $0.id != slot })
      #expect(try held.refusal(colleague) == .credentialRejected)
      #expect(try held.refusal(colleague, trusting: vault.pin()) == nil)
      #expect(refusal { try vault.removeSlots(of: colleague.publicKey) } == .lastOwnerSlot)
    }
  }

  @Test func `a vault can be created for a public key alone`() throws {
    try TemporaryDirectory.with { directory in
      let identity = try VaultIdentity.sample(3)
      let path = directory + "/vault.spv"
      let made = try Vault.create(
        in: stored(path), slots: [NewSlot(identity.publicKey)], groups: [.sample()], options: .sample())
      let pin = try made.pin()
      let vault = try Vault.open(in: stored(path), credential: .identity(identity, trusting: pin))
      #expect(try vault.isOwner)
      #expect(try vault.text("password") == "s3cret")
      #expect(try vault.slots().map(\.publicKey) == [identity.publicKey])
    }
  }

  @Test func `a credential is replaced by a public key and a public key by a credential`() throws {
    try HeldVault.with { held in
      let new = try VaultIdentity.sample(4)
      let two = try held.shared.slot("two")
      try held.owner.replaceSlot(two, with: NewSlot(new.publicKey))
      #expect(try held.open(new).groupNames() == ["two"])
      #expect(try held.owner.slots().last?.label == "two")

      try held.owner.replaceSlot(held.slot, with: NewSlot(.key(.sample(from: 200))))
      #expect(try held.refusal() == .credentialRejected)
      #expect(try held.items.count == 1)
    }
  }
}
