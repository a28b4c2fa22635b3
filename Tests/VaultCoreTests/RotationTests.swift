import FoundationEssentials
import Testing
import VaultSealing

@testable import VaultCore

extension EveryStorage {
  /// New keys for a group or the vault: everything is sealed anew and nothing is lost.
  struct RotationTests {}
}

extension EveryStorage.RotationTests {
  enum Rotation: String, CaseIterable, Sendable {
    case group, vault

    /// Rotates every group one by one, or the vault.
    @discardableResult
    func run(_ vault: Vault, droppingHistory: Bool = false) throws -> [SlotInfo] {
      switch self {
      case .vault: return try vault.rotateVault(droppingHistory: droppingHistory).droppedSlots
      case .group:
        return try vault.groups().flatMap { group in
          try vault.rotate(group, droppingHistory: droppingHistory).droppedSlots
        }
      }
    }
  }

  @Test func `a rotated group has a new key and the next epoch, the others stay`() throws {
    try SharedVault.with { shared in
      let (before, parts, one) = try (shared.loaded, shared.parts, shared.position(of: "one"))

      let report = try shared.owner.rotate(shared.owner.group(named: "one"))

      let (after, new) = try (shared.loaded, shared.parts)
      #expect(report.droppedSlots.isEmpty)
      for index in 0..<3 {
        let id = after.groups[index].id
        #expect(after.groups[index].section.epoch == (index == one ? 2 : 1))
        let isSameKey = try after.content(id).key.isEqual(to: before.content(id).key)
        #expect(isSameKey == (index != one))
        #expect((new.sections[index].sealed == parts.sections[index].sealed) == (index != one))
        #expect(try after.content(id).generation == (index == one ? 2 : 1))
      }
      #expect(try KeyHolder(shared.bytes).vaultKey.isEqual(to: KeyHolder(parts.file).vaultKey))
      #expect(after.snapshot.generation == before.snapshot.generation + 1)
    }
  }

  @Test func `a rotated vault has new keys throughout, every epoch and generation one higher`() throws {
    try SharedVault.with { shared in
      let (before, old) = try (shared.loaded, KeyHolder(shared.bytes).vaultKey)

      let report = try shared.owner.rotateVault()

      let after = try shared.loaded
      #expect(report.droppedSlots.isEmpty)
      #expect(try !KeyHolder(shared.bytes).vaultKey.isEqual(to: old))
      #expect(after.snapshot.vaultID == before.snapshot.vaultID)
      #expect(after.snapshot.generation == before.snapshot.generation + 1)
      for group in after.groups {
        #expect(group.section.epoch == 2)
        #expect(try !after.content(group.id).key.isEqual(to: before.content(group.id).key))
        #expect(try after.content(group.id).generation == 2)
      }
      #expect(after.snapshot.slots.map(\.id) == before.snapshot.slots.map(\.id))
    }
  }

  @Test(arguments: Rotation.allCases)
  func `contents are as before, for live handles and fresh ones`(rotation: Rotation) throws {
    try SharedVault.with { shared in
      for group in shared.groups {
        try shared.owner.set("entry", forKey: "user", in: group)
        try shared.owner.set("", forKey: "empty", in: group)
      }
      try shared.owner.remove("password", in: "two")
      let second = try shared.secondOwner()
      let holder = try shared.holder(of: "one")
      let contents = try second.contents()

      try rotation.run(shared.owner)

      #expect(try shared.owner.contents() == contents)
      #expect(try second.contents() == contents)
      #expect(try Vault.opened(at: shared.path).contents() == contents)
      #expect(try holder.contents() == ["one": contents["one"]])
      #expect(try shared.holder(of: "one").contents() == ["one": contents["one"]])
      #expect(try shared.owner.status().entryCount == 0)
    }
  }

  @Test(arguments: Rotation.allCases)
  func `handles can write after a rotation, by append and by full write`(rotation: Rotation) throws {
    try SharedVault.with { shared in
      let (holder, second) = try (shared.holder(of: "one"), shared.secondOwner())
      for round in 0..<3 {
        try rotation.run(shared.owner)
        for (name, vault) in [("owner", shared.owner), ("second", second), ("holder", holder)] {
          try vault.set("\(round)", forKey: name, in: "one")
        }
        try holder.compact()
        try second.createGroup("round \(round)")
      }

      let fresh = try Vault.opened(at: shared.path)
      for name in ["owner", "second", "holder"] { #expect(try fresh.text(name, in: "one") == "2") }
      #expect(try shared.epoch(of: "one") == 4)
    }
  }

  @Test(
    arguments: Rotation.allCases,
    ["kinds.spv", "names.spv", "journal.spv", "holder-fold.spv", "history-extensions.spv", "device.spv"])
  func `a vector's values, metadata, earlier values and extensions survive`(
    rotation: Rotation, vector: String
  ) throws {
    try VectorFile.with(vector) { path in
      let contents = try VectorFile.open(path, deviceKey: 0x20).contents()
      #expect(!contents.isEmpty)

      try rotation.run(try VectorFile.open(path))

      #expect(try VectorFile.open(path, deviceKey: 0x20).contents() == contents)
      // The passphrase slot of some vectors is an owner's, so a vault rotation drops it.
      #expect(try VectorFile.open(path, with: VectorFile.holder, deviceKey: 0x20).contents()["ci"] == contents["ci"])
    }
  }

  @Test(arguments: Rotation.allCases)
  func `values of every length survive`(rotation: Rotation) throws {
    try SharedVault.with { shared in
      var options = Vault.Options.sample(seed: "long")
      options.limits.writtenValueBytes = 16 << 20
      let vault = try Vault.opened(at: shared.path, options: options)
      let lengths = [0, 1, 63, 64, 65, 1023, 3448, 3520, 3521, 65_536, 16 << 20]
      for length in lengths {
        try vault.set([UInt8](repeating: UInt8(length & 255), count: length), forKey: "\(length)")
      }

      try rotation.run(vault)

      let fresh = try Vault.opened(at: shared.path)
      for length in lengths {
        let bytes = try #require(try fresh.bytes("\(length)"))
        #expect(Data(bytes) == Data(repeating: UInt8(length & 255), count: length))
      }
    }
  }

  @Test(arguments: Rotation.allCases)
  func `three thousand records survive`(rotation: Rotation) throws {
    try SharedVault.with { shared in
      try shared.owner.transaction(service: Vault.Name("db"), in: shared.owner.group(named: "one")) {
        batch throws(VaultError) in
        for number in 0..<3000 { try batch.set("value \(number)", forKey: "key-\(number)") }
      }
      let contents = try shared.owner.contents()

      try rotation.run(shared.owner)

      #expect(try shared.holder(of: "one").contents()["one"] == contents["one"])
      #expect(try Vault.opened(at: shared.path).contents() == contents)
    }
  }

  @Test(arguments: Rotation.allCases)
  func `row 75: droppingHistory drops earlier values and nothing else`(rotation: Rotation) throws {
    try VectorFile.with("history-extensions.spv") { path in
      let vault = try VectorFile.open(path)
      let before = try vault.records(in: vault.group())
      try #require(before[1].previous.count == 2)

      try rotation.run(vault, droppingHistory: true)

      let after = try VectorFile.open(path).records(in: vault.group())
      #expect(after.map { $0.previous.count } == [0, 0])
      #expect(after[1].extensionItems.map(\.tag) == before[1].extensionItems.map(\.tag))
      #expect(after[1].extensionItems.map(\.data) == before[1].extensionItems.map(\.data))
      #expect(after.map(\.revision) == before.map(\.revision))
      #expect(try vault.text("password") == "generation 3")
      try vault.set("generation 4", forKey: "password")
      #expect(try vault.records(in: vault.group())[1].previous.map(\.revision) == [5])
    }
  }

  @Test(arguments: Rotation.allCases)
  func `row 60: values of this device survive a rotation without the device key`(rotation: Rotation) throws {
    try VectorFile.with("device.spv") { path in
      try rotation.run(try VectorFile.open(path))

      func bound(_ deviceKey: UInt8?, in group: String) throws -> String? {
        try VectorFile.open(path, deviceKey: deviceKey).text("k", service: "dev", in: group)
      }
      #expect(try bound(0x20, in: "default") == "bound")
      #expect(try bound(0x20, in: "ci") == "bound too")
      #expect(refusal { try bound(nil, in: "default") } == .deviceKeyMissing)
      #expect(refusal { try bound(0x21, in: "ci") } == .wrongDevice)
    }
  }

  @Test(arguments: Rotation.allCases)
  func `row 60: earlier values of this device survive a rotation without the device key`(rotation: Rotation) throws {
    let file = try SampleFiles.snapshot()
    let (forger, deviceKey) = (try KeyHolder(file), try SealingKey.sample(from: 0x20))
    var parts = try Parts(file)
    var draft = SectionDraft()
    let (service, key) = (draft.records[0].service, draft.records[0].key)
    let inner = forger.seal(
      Array("first".utf8), with: deviceKey,
      as: .device(
        vault: forger.vaultID, group: forger.group, service: service.span.bytes, key: key.span.bytes, kind: 1))
    draft.records[0].class = 3
    draft.records[0].sealed = try forger.value(inner, service: service, key: key, kind: 1, class: 3)
    draft.records[0].extensionField = extensionItem(6, [5, 0])
    parts.sections[0].sealed = try forger.section(draft)

    try SampleFiles.with(parts.file) { vault, path throws in
      var options = Vault.Options.sample(seed: "device")
      options.deviceKey = deviceKey
      let device = try Vault.opened(at: path, options: options)
      try device.set("second", forKey: "password")
      // A put needs no device key for the value it replaces.
      try device.set("third", forKey: "password")
      let contents = try device.contents()

      try rotation.run(vault)

      #expect(try device.contents() == contents)
      let kept = try #require(contents["default"]?[0].previous)
      #expect(kept.map(\.value) == ["second", "first"].map { .bytes(Array($0.utf8)) })
      #expect(refusal { try vault.text("password") } == .deviceKeyMissing)
    }
  }

  @Test func `row 70: unknown extensions survive rotations and the removal of a slot`() throws {
    let file = try SampleFiles.snapshot()
    let forger = try KeyHolder(file)
    var parts = try Parts(file)
    var manifest = try #require(try MemoryVault(file, key: .sample()).state.manifest)
    manifest.extensionField = extensionItem(902, [3])
    try forger.replaceManifest(&parts, padded: manifest.padded().withSpan { $0.copy })
    var draft = SectionDraft(baseTag: parts.manifestTag, extensionField: extensionItem(901, [2]))
    draft.records[0].extensionField = extensionItem(900, [1])
    parts.sections[0].sealed = try forger.section(draft)

    try SampleFiles.with(parts.file) { vault, path throws in
      for rotation in Rotation.allCases { try rotation.run(vault) }
      try vault.removeSlot(try vault.addSlot(NewSlot(.key(.sample(from: 200)))))

      let state = try MemoryVault(VaultBytes.read(path), key: .sample()).state
      #expect(state.manifest?.extensionField == extensionItem(902, [3]))
      #expect(try state.content(state.groups[0].id).extensionField == extensionItem(901, [2]))
      #expect(try vault.records(in: vault.group())[0].extensionItems.map(\.tag) == [900])
      #expect(try vault.records(in: vault.group())[0].extensionItems.map(\.data) == [[1]])
    }
  }

  // MARK: Slots

  /// A slot of a later version: kind, scope, and the group it grants.
  private static func unknownSlot(scope: UInt8, epoch: UInt32 = 0, group: [UInt8]) -> [UInt8] {
    var slot = [200, scope, 0, 0, 0, 0, 0, 0] + [UInt8](repeating: 9, count: 16) + group
    slot.store(epoch, at: 4)
    return slot + (40..<168).map { UInt8($0) }
  }

  private static let ordinaryWrites = ["append", "compact", "createGroup", "rename", "addSlot", "rotate another group"]

  @Test(arguments: ["owner", "group"], ordinaryWrites)
  func `row 13: a slot of an unknown kind is kept by ordinary writes`(scope: String, write: String) throws {
    try SharedVault.with { shared in
      let one = try shared.parts.sections[shared.position(of: "one")].id
      let slot =
        scope == "owner"
        ? Self.unknownSlot(scope: 0, group: [UInt8](repeating: 0, count: 16))
        : Self.unknownSlot(scope: 1, epoch: 1, group: one)
      try VaultBytes.write(KeyHolder.adding(slot, to: shared.bytes), to: shared.path)
      let vault = try Vault.opened(at: shared.path)

      switch write {
      case "append": try vault.set("new", forKey: "password")
      case "compact": try vault.compact()
      case "createGroup": try vault.createGroup("new")
      case "rename": try vault.renameGroup(vault.group(named: "one"), to: "uno")
      case "addSlot": try vault.addSlot(NewSlot(.key(.sample(from: 200))))
      default: try vault.rotate(vault.group(named: "two"))
      }

      #expect(try shared.parts.slots.contains(slot))
      let info = try #require(try vault.slots().first { $0.label == "unknown" })
      #expect(info.kind == .unknown(200))
      #expect(info.created == 7)
    }
  }

  @Test(arguments: ["owner", "a group", "a group that is gone", "something else"])
  func `row 13: a vault rotation drops a slot of an unknown kind and reports it`(scope: String) throws {
    try SharedVault.with { shared in
      let one = try shared.parts.sections[shared.position(of: "one")].id
      let slot =
        switch scope {
        case "owner": Self.unknownSlot(scope: 0, group: [UInt8](repeating: 0, count: 16))
        case "a group": Self.unknownSlot(scope: 1, epoch: 1, group: one)
        case "a group that is gone": Self.unknownSlot(scope: 1, epoch: 1, group: [UInt8](repeating: 3, count: 16))
        default: Self.unknownSlot(scope: 9, epoch: 1, group: [UInt8](repeating: 0, count: 16))
        }
      try VaultBytes.write(KeyHolder.adding(slot, to: shared.bytes), to: shared.path)
      let vault = try Vault.opened(at: shared.path)

      let report = try vault.rotateVault()

      #expect(report.droppedSlots.map(\.label) == ["unknown"])
      #expect(report.droppedSlots.map(\.kind) == [.unknown(200)])
      #expect(try !shared.parts.slots.contains(slot))
      #expect(try vault.slots().map(\.label) == ["owner", "default", "one", "two"])
    }
  }

  @Test func `row 13: a group rotation drops the group's slots of unknown kinds alone`() throws {
    try SharedVault.with { shared in
      let one = try shared.parts.sections[shared.position(of: "one")].id
      let slot = Self.unknownSlot(scope: 1, epoch: 1, group: one)
      try VaultBytes.write(KeyHolder.adding(slot, to: shared.bytes), to: shared.path)
      let vault = try Vault.opened(at: shared.path)

      let report = try vault.rotate(vault.group(named: "one"))

      #expect(report.droppedSlots.map(\.label) == ["unknown"])
      #expect(try vault.slots().map(\.label) == ["owner", "default", "one", "two"])
    }
  }

  @Test func `owner slots of the presented credentials stay, the others are dropped and reported`() throws {
    try SharedVault.with { shared in
      let kept = try Vault.Credential.passphrase("kept")
      try shared.owner.addSlot(NewSlot(kept, label: "kept", cost: .throwaway))
      try shared.owner.addSlot(NewSlot(.passphrase("gone"), label: "gone", cost: .throwaway))
      let live = try Vault.open(in: stored(shared.path), credential: kept, options: .sample(seed: "kept"))

      let report = try shared.owner.rotateVault(keeping: [kept])

      #expect(report.droppedSlots.map(\.label) == ["gone"])
      #expect(try Vault.refusal(at: shared.path, .passphrase("gone")) == .credentialRejected)
      #expect(Vault.refusal(at: shared.path, kept) == nil)
      #expect(try live.text("password") == "s3cret")
      try live.createGroup("new")
    }
  }
}
