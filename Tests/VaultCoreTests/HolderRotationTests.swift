import Glibc
import SyncFaulting
import Synchronization
import Testing
import VaultSealing

@testable import VaultCore

extension EveryStorage {
  /// What rotations and removals do to holders by public key (`Docs/Format.md` G.3).
  struct HolderRotationTests {}
}

extension EveryStorage.HolderRotationTests {
  /// The key of a slot, computed by a former owner from what an owner knows.
  private static func opens(
    _ slot: StoredSlot, _ kek: SealingKey, of state: VaultState
  ) throws -> Bool {
    let bytes = slot.bytes.bytes
    state.sealer.bind(
      to: .slot(vault: state.snapshot.vaultID, header: bytes.extracting(..<StoredSlot.headerCount)))
    return try state.sealer.openedKey(bytes.extracting(StoredSlot.headerCount...), with: kek) != nil
  }

  @Test func `row G5: a holder goes on after its group was rotated, by a writer that does not know it as well`() throws
  {
    try HeldVault.with { held in
      let running = try held.open()
      let group = try held.owner.group(named: "one")
      let items = try held.items
      try held.owner.rotate(group)
      #expect(try held.refusal() == nil)
      #expect(try running.text("password", in: "one") == "s3cret")
      #expect(try held.items == items)

      // A writer without annex G has the slot for one of a raw key, and the item for an unknown one.
      try held.owner.rewrite { (draft, _) throws(VaultError) in
        try draft.rotate(group.id, droppingHistory: false)
        return nil
      }
      #expect(try held.refusal() == nil)
      #expect(try running.text("password", in: "one") == "s3cret")
      #expect(try held.items == items)
      #expect(try held.shared.epoch(of: "one") == 3)
    }
  }

  @Test func `row G6: a removal takes every slot of a holder and rotates what they granted in one write`() throws {
    try HeldVault.with { held in
      let other = try VaultIdentity.sample(2)
      try held.add(held.identity, "two")
      try held.add(other, "one")
      let generation = try held.shared.loaded.snapshot.generation

      let report = try held.owner.removeSlots(of: held.identity.publicKey)

      #expect(report.droppedSlots.isEmpty && report.renewedSlots.isEmpty)
      #expect(try held.shared.loaded.snapshot.generation == generation + 1)
      #expect(try ["default", "one", "two"].map { try held.shared.epoch(of: $0) } == [1, 2, 2])
      #expect(try held.refusal() == .credentialRejected)
      #expect(try held.refusal(other) == nil)
      for group in held.shared.groups {
        #expect(try Vault.refusal(at: held.path, held.shared.credential(of: group)) == nil)
      }
      #expect(try held.owner.slots().compactMap(\.publicKey) == [other.publicKey])
      try expectRefused(.notFound, at: held.path) { try held.owner.removeSlots(of: held.identity.publicKey) }
    }
  }

  @Test func `a holder of a group and of the vault is removed with the vault's keys`() throws {
    try HeldVault.with { held in
      try held.add(held.identity)
      let report = try held.owner.removeSlots(of: held.identity.publicKey)
      #expect(report.renewedSlots.isEmpty)
      #expect(try held.owner.pin() != held.pin)
      #expect(try held.refusal(trusting: held.owner.pin()) == .credentialRejected)
      #expect(try held.items.isEmpty)
    }
  }

  @Test func `row G7: after the vault key was replaced, a holder needs the new pin`() throws {
    try HeldVault.with { held in
      let running = try held.open()
      let report = try held.owner.rotateVault()

      #expect(report.droppedSlots.isEmpty)
      #expect(report.renewedSlots.map(\.label) == ["web1"])
      #expect(report.renewedSlots.map(\.publicKey) == [held.identity.publicKey])
      #expect(report.renewedSlots.map { $0.group?.text } == ["one"])
      #expect(refusal { try running.text("password", in: "one") } == .credentialRejected)
      #expect(try held.refusal() == .credentialRejected)
      #expect(try held.refusal(trusting: held.owner.pin()) == nil)
      #expect(try held.items.count == 1)
      try running.unlock(with: held.credential(trusting: held.owner.pin()))
      #expect(try running.text("password", in: "one") == "s3cret")
    }
  }

  @Test func `row G7: a former owner opens no slot of a holder, with all that an owner knew`() throws {
    try HeldVault.with { held in
      try held.add(try .sample(2), "two")
      try held.add(try .sample(3), label: "colleague")
      let old = try held.shared.loaded
      let manifest = try #require(old.manifest)
      let agreement = try VaultAgreement(
        of: old.snapshot.vaultID, vaultKey: #require(old.unlocked.vaultKey), old.sealer)

      try held.owner.rotateVault()

      let new = try held.shared.loaded
      let holders = try HolderKeys(in: #require(new.manifest).extensionField)
      var opened: [Vault.Identifier] = []
      for slot in new.snapshot.slots where slot.id != new.unlocked.slot {
        // Every kept key of the old file, and what the old secret gives with every public key.
        var keys = manifest.slots.compactMap(\.kek)
        for number in UInt8(1)...3 {
          let raw = try agreement.key(of: VaultIdentity.sample(number).publicKey, old.sealer)
          keys.append(try StoredSlot.kek(from: raw, vault: old.snapshot.vaultID, slot: slot.id, old.sealer))
        }
        if try keys.contains(where: { try Self.opens(slot, $0, of: new) }) { opened.append(slot.id) }
      }
      // Those of raw keys, whose kept keys an owner has, as ever.
      #expect(opened == new.snapshot.slots.map(\.id).filter { holders.key(of: $0) == nil && $0 != new.unlocked.slot })
      #expect(opened.count == 3)
    }
  }

  @Test func `row G8: group slots stay as they are if asked, and owner slots do not`() throws {
    try HeldVault.with { held in
      let colleague = try VaultIdentity.sample(2)
      try held.add(colleague)
      let report = try held.owner.rotateVault(keepingHolders: true)

      #expect(report.renewedSlots.map(\.publicKey) == [colleague.publicKey])
      #expect(report.droppedSlots.isEmpty)
      #expect(try held.refusal() == nil)
      #expect(try held.refusal(trusting: held.owner.pin()) == .credentialRejected)
      #expect(try held.refusal(colleague) == .credentialRejected)
      #expect(try held.refusal(colleague, trusting: held.owner.pin()) == nil)

      // The next rotation renews what this one has kept.
      try held.owner.rotateVault()
      #expect(try held.refusal(trusting: held.owner.pin()) == nil)
    }
  }

  @Test func `row G8: a holder whose slots were kept opens all with the present pin once it gets another`() throws {
    try HeldVault.with { held in
      try held.owner.rotateVault(keepingHolders: true)
      try held.add(held.identity, "two")

      let pin = try held.owner.pin()
      let slots = try held.owner.slots().filter { $0.publicKey == held.identity.publicKey }
      #expect(try held.refusal() == .credentialRejected)
      #expect(try held.open(trusting: pin).groupNames() == ["one", "two"])
      #expect(slots.map(\.label) == ["web1", "more"])
      #expect(slots.map { $0.group?.text } == ["one", "two"])
      #expect(!slots.map(\.id).contains(held.slot))
      #expect(try held.items.count == 2)

      // What is for the present pin stays.
      try held.add(held.identity, "default")
      #expect(try held.owner.slots().map(\.id).filter(Set(slots.map(\.id)).contains) == slots.map(\.id))
      try held.owner.rotate(held.owner.group(named: "one"))
      #expect(try held.open(trusting: pin).text("password", in: "one") == "s3cret")
    }
  }

  @Test func `row G8: another slot of a holder leaves the kept slots of others as they are`() throws {
    try HeldVault.with { held in
      let other = try VaultIdentity.sample(2)
      try held.owner.rotateVault(keepingHolders: true)
      try held.add(other, "two")
      #expect(try held.refusal() == nil)
      #expect(try held.refusal(other, trusting: held.owner.pin()) == nil)
    }
  }

  @Test func `an owner by identity goes on with its renewed slot`() throws {
    try HeldVault.with { held in
      let colleague = try VaultIdentity.sample(2)
      try held.add(colleague, label: "colleague")
      let vault = try held.open(colleague)
      let second = try held.open(colleague)
      let report = try vault.rotateVault(keeping: [.key(.sample())], droppingOthers: false)

      #expect(report.droppedSlots.isEmpty)
      #expect(report.renewedSlots.map(\.isCurrent) == [false, true])
      try vault.set("after", forKey: "password", in: "two")
      #expect(try held.shared.secondOwner().text("password", in: "two") == "after")
      #expect(refusal { try second.text("password", in: "two") } == .credentialRejected)
    }
  }

  /// The rotations that change the pin.
  enum PinChange: CaseIterable {
    case rotation, removal, holderRemoval

    /// Rotates a vault that has an owner slot labelled `former` and an identity 3 that owns it as well.
    func run(
      _ vault: Vault, beforeStoring: @escaping @Sendable (RotationReport) throws(VaultError) -> Void
    ) throws -> RotationReport {
      switch self {
      case .rotation: return try vault.rotateVault(beforeStoring: beforeStoring)
      case .removal:
        let former = try #require(try vault.slots().first { $0.label == "former" })
        return try vault.removeSlot(former.id, beforeStoring: beforeStoring)
      case .holderRemoval:
        return try vault.removeSlots(of: VaultIdentity.sample(3).publicKey, beforeStoring: beforeStoring)
      }
    }
  }

  /// A vault that an identity has opened as an owner, beside others.
  private static func withColleague(_ body: (HeldVault, Vault, VaultIdentity) throws -> Void) throws {
    try HeldVault.with { held in
      let colleague = try VaultIdentity.sample(2)
      try held.add(colleague, label: "colleague")
      try held.add(.sample(3), label: "third")
      try held.owner.addSlot(NewSlot(.key(.sample(from: 9)), label: "former"))
      try body(held, try held.open(colleague), colleague)
    }
  }

  @Test(arguments: PinChange.allCases)
  func `the new pin is known before anything is stored, with the slot that goes on`(change: PinChange) throws {
    try Self.withColleague { held, vault, colleague in
      let path = held.path
      let before = try held.shared.bytes
      let seen = Mutex<(pin: VaultPin?, isUnchanged: Bool, isCurrent: Bool)?>(nil)

      let report = try change.run(vault) { (report) throws(VaultError) in
        let isUnchanged = (try? VaultBytes.read(path)) == before
        let isCurrent = report.renewedSlots.contains(where: \.isCurrent)
        seen.withLock { $0 = (report.newPin, isUnchanged, isCurrent) }
      }

      let last = seen.withLock { $0 }
      let found = try #require(last)
      #expect(found.isUnchanged && found.isCurrent)
      #expect(try found.pin == vault.pin())
      #expect(report.newPin == found.pin)
      #expect(report.formerPin == held.pin)
      #expect(try held.refusal(colleague, trusting: found.pin) == nil)
      #expect(try held.refusal(colleague) == .credentialRejected)
    }
  }

  @Test(arguments: PinChange.allCases)
  func `nothing is changed if the new pin cannot be handed over`(change: PinChange) throws {
    try Self.withColleague { held, vault, colleague in
      try expectRefused(.readOnly, at: held.path) {
        try change.run(vault) { (_) throws(VaultError) in throw VaultError(.readOnly, "the pin cannot be stored") }
      }
      #expect(try held.refusal(colleague) == nil)
      #expect(try change.run(vault) { _ in }.newPin != nil)
    }
  }

  @Test(.filesOnly("a disk that fails"), arguments: PinChange.allCases)
  func `the old pin still opens if the write fails after the new one was handed over`(change: PinChange) throws {
    try Self.withColleague { held, vault, colleague in
      let handed = Mutex<VaultPin?>(nil)
      SyncFault.with {
        SyncFault.isDirectory($0) ? nil : EIO
      } during: {
        #expect(
          refusal {
            try change.run(vault) { (report) throws(VaultError) in handed.withLock { $0 = report.newPin } }
          } == .io)
      }
      let last = handed.withLock { $0 }
      let next = try #require(last)
      #expect(try held.refusal(colleague) == nil)
      #expect(try held.refusal(colleague, trusting: next) == .credentialRejected)
      let either = try Vault.Credential.identity(colleague, trusting: held.pin, next: next)
      #expect(Vault.refusal(at: held.path, either) == nil)
    }
  }

  @Test func `an identity with two pins opens the vault before and after its keys are replaced`() throws {
    try Self.withColleague { held, vault, colleague in
      let next = try #require(try vault.rotateVault().newPin)
      let either = try Vault.Credential.identity(colleague, trusting: held.pin, next: next)
      #expect(Vault.refusal(at: held.path, either) == nil)
      let reversed = try Vault.Credential.identity(colleague, trusting: next, next: held.pin)
      #expect(Vault.refusal(at: held.path, reversed) == nil)
      try vault.rotateVault()
      #expect(Vault.refusal(at: held.path, either) == .credentialRejected)
    }
  }

  @Test func `a rotation of a group has no new pin`() throws {
    try HeldVault.with { held in
      let rotated = try held.owner.rotate(held.owner.group(named: "one"))
      let removed = try held.owner.removeSlot(held.slot)
      #expect(rotated.newPin == nil && removed.newPin == nil)
      #expect(rotated.formerPin == nil && removed.formerPin == nil)
      #expect(try held.owner.pin() == held.pin)
    }
  }

  @Test func `a stale pin is rejected however often the vault key is replaced`() throws {
    try HeldVault.with { held in
      var pins = [held.pin]
      for _ in 0..<3 {
        try held.owner.rotateVault()
        #expect(try pins.map { try held.refusal(trusting: $0) } == pins.map { _ in .credentialRejected })
        pins.append(try held.owner.pin())
        #expect(try held.refusal(trusting: pins.last) == nil)
      }
      #expect(Set(pins).count == 4)
    }
  }

  /// What a former owner may have written about the slot of a colleague.
  enum Forgery: CaseIterable { case nothing, noItem, twoItems, otherHolder }

  @Test(arguments: Forgery.allCases)
  func `row G7: an owner who has shown an identity is renewed, whatever a former owner has written of its slot`(
    forgery: Forgery
  ) throws {
    try HeldVault.with { held in
      let colleague = try VaultIdentity.sample(2)
      let slot = try held.add(colleague, label: "colleague")
      let old = try held.shared.loaded
      let agreement = try VaultAgreement(
        of: old.snapshot.vaultID, vaultKey: #require(old.unlocked.vaultKey), old.sealer)
      let raw = try agreement.key(of: colleague.publicKey, old.sealer)
      let other = try VaultIdentity.sample(3).publicKey
      try held.owner.rewrite { (draft, _) throws(VaultError) in
        let others = Set(draft.slots.map(\.slot.id)).subtracting([slot])
        if [.noItem, .otherHolder].contains(forgery) {
          draft.extensionField = try HolderKeys.keeping(others, in: draft.extensionField)
        }
        if [.twoItems, .otherHolder].contains(forgery) {
          draft.extensionField = try HolderKeys.adding(other, of: slot, to: draft.extensionField)
        }
        return nil
      }

      // By the identity itself, and by the key that is kept of it.
      let opened = try held.open(colleague)
      let vault = try Vault.open(
        in: stored(held.path), credential: .slot(opened.slotKey()), options: .sample(seed: "kept"))
      let former = try #require(try vault.slots().first { $0.isOwner && !$0.isCurrent })
      try vault.removeSlot(former.id)

      let snapshot = try Snapshot(FileImage(held.shared.bytes))
      for slot in snapshot.slots where slot.scope == .owner {
        let kek = try StoredSlot.kek(from: raw, vault: old.snapshot.vaultID, slot: slot.id, old.sealer)
        #expect(try !Self.opens(slot, kek, of: old))
      }
      #expect(try held.refusal(colleague, trusting: vault.pin()) == nil)
      #expect(try vault.slots().first(where: \.isCurrent)?.publicKey == colleague.publicKey)
    }
  }

  @Test func `an identity gets a slot by its public key only`() throws {
    try HeldVault.with { held in
      let credential = try held.credential(.sample(2))
      #expect(refusal { try held.owner.addSlot(NewSlot(credential)) } == .invalidKeyText)
    }
  }
}
