import Testing
import VaultSealing

@testable import VaultCore

extension EveryStorage {
  /// Slots that an owner removes: revoked with new keys, or only taken out.
  struct RemovedSlotTests {}
}

extension EveryStorage.RemovedSlotTests {
  /// A vault with two more owners: `second` by a passphrase and `third` by a raw key.
  private func withOwners(_ body: (SharedVault) throws -> Void) throws {
    try SharedVault.with { shared in
      try shared.owner.addSlot(NewSlot(.passphrase("second"), label: "second", cost: .throwaway))
      try shared.owner.addSlot(NewSlot(Self.third(), label: "third"))
      try body(shared)
    }
  }

  private static func second() throws -> Vault.Credential { try .passphrase("second") }
  private static func third() throws -> Vault.Credential { .key(try .sample(from: 200)) }

  @Test func `removing an owner slot gives the vault and every group new keys`() throws {
    try withOwners { shared in
      let before = try (KeyHolder(shared.bytes).vaultKey, shared.owner.contents())

      try shared.owner.removeSlot(shared.slot("second"), keeping: [Self.third()])

      #expect(try !KeyHolder(shared.bytes).vaultKey.isEqual(to: before.0))
      #expect(try shared.parts.sections.map(\.epoch) == [2, 2, 2])
      #expect(try Vault.refusal(at: shared.path, Self.second()) == .credentialRejected)
      #expect(try shared.owner.contents() == before.1)
      #expect(try Vault.opened(at: shared.path).contents() == before.1)
    }
  }

  @Test func `the presented credentials still open, and handles opened with them still work`() throws {
    try withOwners { shared in
      let third = try Vault.open(in: stored(shared.path), credential: Self.third(), options: .sample(seed: "third"))
      let contents = try third.contents()

      let report = try shared.owner.removeSlot(shared.slot("second"), keeping: [Self.third()])

      #expect(report.droppedSlots.isEmpty)
      #expect(try third.contents() == contents)
      try third.createGroup("by the third")
      #expect(try shared.owner.groupNames().contains("by the third"))
      #expect(try Vault.refusal(at: shared.path, Self.third()) == nil)
    }
  }

  @Test func `owner slots whose credential is not presented are dropped and reported`() throws {
    try withOwners { shared in
      let third = try Vault.open(in: stored(shared.path), credential: Self.third())
      let slot = try shared.slot("third")

      let report = try shared.owner.removeSlot(shared.slot("second"))

      #expect(report.droppedSlots.map(\.id) == [slot])
      #expect(report.droppedSlots.map(\.label) == ["third"])
      #expect(try shared.owner.slots().map(\.label) == ["owner", "default", "one", "two"])
      #expect(try Vault.refusal(at: shared.path, Self.third()) == .credentialRejected)
      #expect(refusal { try third.text("password") } == .credentialRejected)
    }
  }

  @Test func `holders keep access without new credentials when an owner slot is removed`() throws {
    try withOwners { shared in
      let holders = try shared.groups.map { try shared.holder(of: $0) }

      try shared.owner.removeSlot(shared.slot("second"), keeping: [Self.third()])

      for (group, holder) in zip(shared.groups, holders) {
        try holder.set("new", forKey: "user", in: group)
        #expect(try shared.owner.text("user", in: group) == "new")
        #expect(try shared.holder(of: group).text("user", in: group) == "new")
      }
    }
  }

  @Test func `an owner removes its own slot and keeps another`() throws {
    try withOwners { shared in
      let contents = try shared.owner.contents()

      try shared.owner.removeSlot(shared.slot("owner"), keeping: [Self.third()])

      #expect(try Vault.refusal(at: shared.path, .key(.sample())) == .credentialRejected)
      #expect(try Vault.open(in: stored(shared.path), credential: Self.third()).contents() == contents)
    }
  }

  @Test(arguments: ["added", "in the place of the current slot"])
  func `row 23: a removed owner slot replayed into the new file is tampered`(place: String) throws {
    try withOwners { shared in
      let old = try #require(try shared.parts.slots.first { try $0[8..<24].elementsEqual(shared.slot("second").bytes) })
      try shared.owner.removeSlot(shared.slot("second"), keeping: [Self.third()])
      var parts = try shared.parts
      if place == "added" { parts.slots.append(old) } else { parts.slots[0] = old }
      try VaultBytes.write(parts.file, to: shared.path)

      #expect(try Vault.refusal(at: shared.path, Self.second()) == .tampered)
      #expect(try Vault.refusal(at: shared.path, Self.third()) == .tampered)
    }
  }

  @Test func `removing a group slot gives its group a new key and leaves the others alone`() throws {
    try SharedVault.with { shared in
      let slot = try shared.owner.addSlot(
        NewSlot(.passphrase("revoked"), cost: .throwaway), granting: shared.owner.group(named: "one"))
      let sibling = try shared.holder(of: "one")
      let before = try (shared.loaded, shared.parts, shared.owner.contents())

      let report = try shared.owner.removeSlot(slot)

      let one = try shared.position(of: "one")
      #expect(report.droppedSlots.isEmpty)
      #expect(try Vault.refusal(at: shared.path, .passphrase("revoked")) == .credentialRejected)
      let state = try shared.loaded
      for (index, group) in state.groups.enumerated() {
        #expect(group.section.epoch == (index == one ? 2 : 1))
        let isSame = try state.content(group.id).key.isEqual(to: before.0.content(group.id).key)
        #expect(isSame == (index != one))
        let isSameSection = try shared.parts.sections[index].sealed == before.1.sections[index].sealed
        #expect(isSameSection == (index != one))
      }
      #expect(try shared.owner.contents() == before.2)
      try sibling.set("new", forKey: "password", in: "one")
      #expect(try shared.owner.text("password", in: "one") == "new")
    }
  }

  @Test func `row 22: a removed group slot replayed into the new file is a stale credential`() throws {
    try SharedVault.with { shared in
      let old = try #require(try shared.parts.slots.first { try $0[8..<24].elementsEqual(shared.slot("one").bytes) })
      try shared.owner.removeSlot(shared.slot("one"))
      #expect(try Vault.refusal(at: shared.path, shared.credential(of: "one")) == .credentialRejected)
      var parts = try shared.parts
      parts.slots.append(old)
      try VaultBytes.write(parts.file, to: shared.path)

      #expect(try Vault.refusal(at: shared.path, shared.credential(of: "one")) == .staleCredential)
      #expect(try Vault.refusal(at: shared.path, .key(.sample())) == .tampered)
    }
  }

  @Test func `a live handle of a removed group slot is rejected`() throws {
    try SharedVault.with { shared in
      let holder = try shared.holder(of: "one")
      try shared.owner.removeSlot(shared.slot("one"))

      #expect(refusal { try holder.text("password", in: "one") } == .credentialRejected)
      #expect(refusal { try holder.compact() } == .credentialRejected)
    }
  }

  @Test func `a write of a removed holder that has not looked since is rejected`() throws {
    try SharedVault.with { shared in
      let holder = try shared.holder(of: "one")
      let group = try holder.group(named: "one")
      try shared.owner.removeSlot(shared.slot("one"))

      try expectRefused(.credentialRejected, at: shared.path) {
        try holder.transaction(service: Vault.Name("db"), in: group) { batch throws(VaultError) in
          try batch.set("lost", forKey: "password")
        }
      }
    }
  }

  @Test(arguments: ["removeSlot", "removeSlotWithoutRotation"])
  func `row 68: the last owner slot is not removed`(operation: String) throws {
    try SharedVault.with { shared in
      let slot = try shared.slot("owner")

      try expectRefused(.lastOwnerSlot, at: shared.path) {
        if operation == "removeSlot" {
          try shared.owner.removeSlot(slot)
        } else {
          try shared.owner.removeSlotWithoutRotation(slot)
        }
      }
      try shared.owner.set("still", forKey: "password")
      try shared.owner.createGroup("still")
    }
  }

  @Test func `row 68: a rotation that would drop every owner slot is refused`() throws {
    try withOwners { shared in
      let slot = try shared.slot("owner")

      try expectRefused(.lastOwnerSlot, at: shared.path) { try shared.owner.removeSlot(slot) }
      #expect(try Vault.refusal(at: shared.path, Self.second()) == nil)
      try shared.owner.createGroup("still")
    }
  }

  @Test func `a credential to keep that opens nothing is rejected and nothing changes`() throws {
    try withOwners { shared in
      let slot = try shared.slot("second")

      try expectRefused(.credentialRejected, at: shared.path) {
        try shared.owner.removeSlot(slot, keeping: [Self.third(), .key(.sample(from: 201))])
      }
    }
  }

  @Test func `a holder's credential to keep is no owner's, and the holder keeps access anyhow`() throws {
    try withOwners { shared in
      let report = try shared.owner.removeSlot(shared.slot("second"), keeping: [shared.credential(of: "one")])

      #expect(report.droppedSlots.map(\.label) == ["third"])
      #expect(try shared.holder(of: "one").text("password", in: "one") == "s3cret")
    }
  }

  @Test func `every owner slot that a credential to keep opens is kept`() throws {
    try withOwners { shared in
      try shared.owner.addSlot(NewSlot(Self.third(), label: "third again"))

      let report = try shared.owner.removeSlot(shared.slot("second"), keeping: [Self.third()])

      #expect(report.droppedSlots.map(\.label) == [])
    }
  }

  @Test func `a slot that is not there is not found`() throws {
    try SharedVault.with { shared in
      let slot = try shared.slot("one")
      try shared.owner.removeSlot(slot)

      try expectRefused(.notFound, at: shared.path) { try shared.owner.removeSlot(slot) }
      try expectRefused(.notFound, at: shared.path) { try shared.owner.removeSlotWithoutRotation(slot) }
    }
  }

  @Test(arguments: ["third", "one"])
  func `a slot removed without rotation leaves keys, epochs and sections as they were`(label: String) throws {
    try withOwners { shared in
      let credential = label == "third" ? try Self.third() : try shared.credential(of: label)
      let live = try Vault.open(in: stored(shared.path), credential: credential)
      let before = try (shared.parts, KeyHolder(shared.bytes).vaultKey)

      try shared.owner.removeSlotWithoutRotation(shared.slot(label))

      #expect(try shared.parts.sections.map(\.sealed) == before.0.sections.map(\.sealed))
      #expect(try shared.parts.sections.map(\.epoch) == [1, 1, 1])
      #expect(try KeyHolder(shared.bytes).vaultKey.isEqual(to: before.1))
      #expect(try shared.parts.slots.count == before.0.slots.count - 1)
      #expect(Vault.refusal(at: shared.path, credential) == .credentialRejected)
      #expect(refusal { try live.status() } == .credentialRejected)
      #expect(try Vault.refusal(at: shared.path, Self.second()) == nil)
      #expect(try Vault.refusal(at: shared.path, shared.credential(of: "two")) == nil)
    }
  }
}
