import Testing
import VaultSealing

@testable import VaultCore

extension EveryStorage {
  /// Slots that an owner adds, and what they grant.
  struct AddedSlotTests {}
}

extension EveryStorage.AddedSlotTests {
  private static func credential(_ kind: String) throws -> Vault.Credential {
    kind == "passphrase" ? try .passphrase("new") : .key(try .sample(from: 200))
  }

  @Test(arguments: ["passphrase", "raw key"])
  func `an added owner slot opens the whole vault`(kind: String) throws {
    try SharedVault.with { shared in
      let id = try shared.owner.addSlot(NewSlot(Self.credential(kind), cost: .throwaway))

      let added = try Vault.open(in: stored(shared.path), credential: Self.credential(kind))
      #expect(try added.status().isOwner)
      #expect(try added.contents() == shared.owner.contents())
      #expect(try added.slots().first { $0.isCurrent }?.id == id)
    }
  }

  @Test(arguments: ["passphrase", "raw key"])
  func `an added group slot opens its group and nothing else`(kind: String) throws {
    try SharedVault.with { shared in
      let slot = NewSlot(try Self.credential(kind), cost: .throwaway)
      try shared.owner.addSlot(slot, granting: shared.owner.group(named: "one"))

      let added = try Vault.open(in: stored(shared.path), credential: Self.credential(kind))
      #expect(try !added.status().isOwner)
      #expect(try added.contents() == ["one": shared.owner.contents()["one"]])
      try added.set("new", forKey: "password", in: "one")
      #expect(try shared.owner.text("password", in: "one") == "new")
    }
  }

  @Test func `slots, handles and records still work when a slot is added`() throws {
    try SharedVault.with { shared in
      let holder = try shared.holder(of: "one")
      let second = try shared.secondOwner()
      try holder.set("entry", forKey: "user", in: "one")
      let before = try (shared.parts, shared.owner.contents())

      try shared.owner.addSlot(NewSlot(.key(.sample(from: 200))))

      #expect(try shared.owner.contents() == before.1)
      #expect(try second.contents() == before.1)
      #expect(try holder.text("user", in: "one") == "entry")
      #expect(try Array(shared.parts.slots.dropLast()) == before.0.slots)
      #expect(try shared.parts.sections.map(\.epoch) == [1, 1, 1])
      for group in shared.groups { #expect(try Vault.refusal(at: shared.path, shared.credential(of: group)) == nil) }
    }
  }

  @Test func `the manifest keeps the key of a group slot and none of an owner slot`() throws {
    try SharedVault.with { shared in
      try shared.owner.addSlot(NewSlot(.key(.sample(from: 200))))

      #expect(try shared.loaded.manifest?.slots.map { $0.kek != nil } == [false, true, true, true, false])
    }
  }

  @Test func `slots are listed with label, kind, cost, time, group and which is in use`() throws {
    try SharedVault.with(groups: ["default", "é"]) { shared in
      var options = Vault.Options.sample(seed: "later")
      options.now = { -5 }
      let later = try Vault.opened(at: shared.path, options: options)
      let id = try later.addSlot(
        NewSlot(.passphrase("new"), label: "Büro \u{202E}", cost: .throwaway), granting: later.group(named: "é"))

      let slots = try later.slots()
      #expect(slots.map(\.label) == ["owner", "default", "é", "Büro \u{202E}"])
      #expect(slots.map(\.kind) == [.rawKey, .rawKey, .rawKey, .passphrase(.throwaway)])
      #expect(slots.map(\.created) == [1_700_000_000_000, 1_700_000_000_000, 1_700_000_000_000, -5])
      #expect(slots.map { $0.group?.text } == [nil, "default", "é", "é"])
      #expect(slots.map(\.isCurrent) == [true, false, false, false])
      #expect(slots[3].id == id)
      #expect(try VaultInfo(in: stored(shared.path)).slots.map(\.id) == slots.map(\.id))
    }
  }

  @Test func `row 28: a holder that requests another group is not granted it`() throws {
    try SharedVault.with { shared in
      let holder = try shared.holder(of: "one")
      let other = try shared.owner.group(named: "two")

      #expect(refusal { try holder.group(named: "two") } == .groupNotGranted)
      #expect(refusal { try holder.group(named: "none") } == .groupNotGranted)
      #expect(refusal { try holder.records(in: other) } == .groupNotGranted)
      #expect(
        refusal { try holder.withValue(service: Vault.Name("db"), key: "password", in: other) { _, _ in } }
          == .groupNotGranted)
      try expectRefused(.groupNotGranted, at: shared.path) {
        try holder.transaction(service: Vault.Name("db"), in: other) { batch throws(VaultError) in
          try batch.set("new", forKey: "password")
        }
      }
    }
  }

  enum OwnerOperation: String, CaseIterable, Sendable {
    case slots, addSlot, addGroupSlot, replaceSlot, replaceOwnSlot, removeSlot, removeSlotWithoutRotation
    case createGroup, renameGroup, removeGroup, rotate, rotateVault

    func run(_ vault: Vault, slot: Vault.Identifier, group: AccessGroup) throws {
      let new = NewSlot(.key(try .sample(from: 200)))
      switch self {
      case .slots: _ = try vault.slots()
      case .addSlot: try vault.addSlot(new)
      case .addGroupSlot: try vault.addSlot(new, granting: group)
      case .replaceSlot: try vault.replaceSlot(slot, with: new)
      case .replaceOwnSlot: try vault.replaceSlot(with: new)
      case .removeSlot: try vault.removeSlot(slot)
      case .removeSlotWithoutRotation: try vault.removeSlotWithoutRotation(slot)
      case .createGroup: try vault.createGroup("new")
      case .renameGroup: try vault.renameGroup(group, to: "new")
      case .removeGroup: try vault.removeGroup(group)
      case .rotate: try vault.rotate(group)
      case .rotateVault: try vault.rotateVault()
      }
    }
  }

  @Test(arguments: OwnerOperation.allCases)
  func `row 28: what an owner may do a holder may not`(operation: OwnerOperation) throws {
    try SharedVault.with { shared in
      let (holder, slot) = (try shared.holder(of: "one"), try shared.slot("two"))
      let group = try holder.group(named: "one")

      try expectRefused(.ownerRequired, at: shared.path) { try operation.run(holder, slot: slot, group: group) }
      #expect(try holder.text("password", in: "one") == "s3cret")
      try holder.set("still", forKey: "password", in: "one")
    }
  }

  @Test func `row 27: after slots were added a wrong key and a wrong passphrase are rejected`() throws {
    try SharedVault.with { shared in
      try shared.owner.addSlot(NewSlot(.passphrase("right"), cost: .throwaway))

      #expect(try Vault.refusal(at: shared.path, .passphrase("wrong")) == .credentialRejected)
      #expect(try Vault.refusal(at: shared.path, .key(.sample(from: 201))) == .credentialRejected)
    }
  }

  @Test func `row 11: the ninth passphrase slot exceeds the limit`() throws {
    try SharedVault.with { shared in
      for number in 0..<8 { try shared.owner.addSlot(NewSlot(.passphrase("\(number)"), cost: .throwaway)) }

      try expectRefused(.limitExceeded, at: shared.path) {
        try shared.owner.addSlot(NewSlot(.passphrase("ninth"), cost: .throwaway))
      }
      #expect(try Vault.refusal(at: shared.path, .passphrase("7")) == nil)
    }
  }

  @Test func `the sixty-fifth slot exceeds the limit`() throws {
    try TemporaryDirectory.with { directory in
      let path = directory + "/vault.spv"
      let slots = try (0..<63).map { NewSlot(.key(try .sample(from: UInt8($0)))) }
      let vault = try Vault.create(in: stored(path), slots: slots, options: .sample())
      try vault.addSlot(NewSlot(.key(.sample(from: 63))), granting: vault.group())

      try expectRefused(.limitExceeded, at: path) { try vault.addSlot(NewSlot(.key(.sample(from: 64)))) }
      #expect(try vault.slots().count == 64)
      #expect(try Vault.refusal(at: path, .key(.sample(from: 63))) == nil)
    }
  }

  @Test func `a label has up to 1024 bytes`() throws {
    try SharedVault.with { shared in
      let label = String(repeating: "é", count: 512)
      try shared.owner.addSlot(NewSlot(.key(.sample(from: 200)), label: label))
      #expect(try shared.owner.slots().last?.label == label)

      try expectRefused(.invalidName, at: shared.path) {
        try shared.owner.addSlot(NewSlot(.key(.sample(from: 201)), label: label + "a"))
      }
    }
  }

  @Test(arguments: [
    PassphraseCost(passes: 2, kibibytes: 64 << 10), PassphraseCost(passes: 3, kibibytes: (64 << 10) - 1),
    PassphraseCost(passes: 2, kibibytes: 8 << 10), PassphraseCost(passes: 5, kibibytes: 1 << 20),
  ])
  func `a cost below the minimum or beyond what readers accept is refused`(cost: PassphraseCost) throws {
    try SharedVault.with { shared in
      try expectRefused(.kdfRefused, at: shared.path) {
        try shared.owner.addSlot(NewSlot(.passphrase("new"), cost: cost))
      }
    }
  }

  @Test func `a slot for a group that was removed is not granted`() throws {
    try SharedVault.with { shared in
      let group = try shared.owner.group(named: "one")
      try shared.owner.removeGroup(group)

      try expectRefused(.groupNotGranted, at: shared.path) {
        try shared.owner.addSlot(NewSlot(.key(.sample(from: 200))), granting: group)
      }
    }
  }

  @Test func `a slot that would make the file exceed the caller's limit is refused`() throws {
    try TemporaryDirectory.with { directory in
      let path = directory + "/vault.spv"
      var options = Vault.Options.sample()
      _ = try Vault.sample(at: path)
      options.limits.fileBytes = try VaultBytes.read(path).count
      let vault = try Vault.opened(at: path, options: options)

      try expectRefused(.limitExceeded, at: path) { try vault.addSlot(NewSlot(.key(.sample(from: 200)))) }
      #expect(try vault.text("password") == "s3cret")
    }
  }
}
