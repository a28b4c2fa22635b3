import Glibc
import Synchronization
import Testing
import VaultSealing

@testable import VaultCore

extension EveryStorage {
  /// What a locked handle still returns, and what ends the lock (`Docs/Format.md` section 7).
  struct LockTests {}
}

extension EveryStorage.LockTests {
  /// A handle of a vault with a record of each class, named after it, in each of two groups. The handle has used the
  /// first group alone.
  struct Fixture {
    let path: String
    let vault: Vault
    /// Opened `vault`.
    let credential: Vault.Credential
    let group, unused: AccessGroup
    let service: Vault.Name

    static func with(
      device: UInt8? = 0x80, _ change: (inout Vault.Options) -> Void = { _ in }, _ body: (Fixture) throws -> Void
    ) throws {
      try TemporaryDirectory.with { directory in
        let path = directory + "/vault.spv"
        let maker = try Vault.sample(
          at: path, groups: [.sample(), .sample("unused")], options: .device(seed: "maker", reserve: 32 << 10))
        for group in ["default", "unused"] {
          for accessibility in Vault.Accessibility.allCases {
            try maker.set("first", forKey: accessibility.name, in: group, as: accessibility, edit: .keeping(2))
            try maker.set("loaded", forKey: accessibility.name, in: group, as: nil)
          }
        }
        var options = try Vault.Options.device(device, reserve: 32 << 10)
        change(&options)
        try body(try Fixture(at: path, .key(.sample()), options))
      }
    }

    init(at path: String, _ credential: Vault.Credential, _ options: Vault.Options) throws {
      self.path = path
      self.credential = credential
      vault = try Vault.open(in: stored(path), credential: credential, options: options)
      group = try vault.group()
      unused = try vault.group(named: "unused")
      service = try Vault.Name("db")
      _ = try vault.records(in: group)
    }

    func value(_ key: String, in group: AccessGroup? = nil) throws(VaultError) -> String? {
      try vault.withValue(service: service, key: key, in: group ?? self.group) { _, bytes in
        String(bytes)
      }
    }

    func set(_ text: String, forKey key: String = "new") throws(VaultError) {
      try vault.transaction(service: service, in: group) { batch throws(VaultError) in try batch.set(text, forKey: key)
      }
    }

    /// What another process does meanwhile.
    func other() throws -> Vault { try Vault.opened(at: path, options: .device(seed: "other", reserve: 32 << 10)) }

    /// What the handle returns for the value of each class.
    func answers(in group: AccessGroup? = nil) -> [String] {
      Vault.Accessibility.allCases.map { accessibility in
        do throws(VaultError) { return try value(accessibility.name, in: group) ?? "nil" } catch {
          return error.code.rawValue
        }
      }
    }

    static let unlocked = ["loaded", "loaded", "loaded", "loaded"]
    static let locked = ["locked", "loaded", "locked", "loaded"]
  }

  static let lost = Vault.Accessibility.allCases.filter { !$0.isReadableAfterLock }
  static let kept = Vault.Accessibility.allCases.filter(\.isReadableAfterLock)

  // MARK: What is locked

  @Test func `few openers are kept behind a burst of readers, and none while the handle is locked`() throws {
    try TemporaryDirectory.with { directory in
      let handle = try Vault.sample(at: directory + "/vault.spv").handle
      let burst = try (0..<40).map { _ in try handle.acquireOpener() }
      for opener in burst { handle.release(opener) }
      #expect(handle.loaded.withLock { $0.idleOpeners.count } == VaultHandle.mostIdleOpeners)

      let late = try handle.acquireOpener()
      handle.lock()
      handle.release(late)
      #expect(handle.loaded.withLock { $0.idleOpeners.count } == 0)
    }
  }

  @Test(arguments: lost, ["default", "unused"])
  func `row 61: after lock() nothing of a record whenUnlocked is returned`(
    accessibility: Vault.Accessibility, group: String
  ) throws {
    try Fixture.with { fixture in
      let (vault, service, key) = (fixture.vault, fixture.service, accessibility.name)
      let group = group == "unused" ? fixture.unused : fixture.group
      // As the other group has it, too: this one may not have been used yet.
      let record = try #require(try vault.record(service: service, key: key, in: fixture.group))

      vault.lock()

      #expect(refusal { try fixture.value(key, in: group) } == .locked)
      #expect(refusal { try vault.kind(service: service, key: key, in: group) } == .locked)
      #expect(refusal { try vault.record(service: service, key: key, in: group) } == .locked)
      #expect(refusal { try vault.withValue(of: record, in: group) { _, _ in } } == .locked)
      let previous = try #require(record.previous.first).revision
      #expect(refusal { try vault.withValue(of: record, previous: previous, in: group) { _, _ in } } == .locked)
    }
  }

  @Test func `after lock() a key that is not there is locked, and not absent`() throws {
    try Fixture.with { fixture in
      let (vault, service) = (fixture.vault, fixture.service)
      try #require(try fixture.value("nothing") == nil)
      vault.lock()

      for group in [fixture.group, fixture.unused] {
        #expect(refusal { try fixture.value("nothing", in: group) } == .locked)
        #expect(refusal { try vault.kind(service: service, key: "nothing", in: group) } == .locked)
        #expect(refusal { try vault.record(service: service, key: "nothing", in: group) } == .locked)
      }
      let other = try Vault.Name("other service")
      #expect(refusal { try vault.kind(service: other, key: "afterFirstUnlock", in: fixture.group) } == .locked)
    }
  }

  /// Everything that needs keys which are wiped.
  enum Use: String, CaseIterable, Sendable {
    case groupNamed, groups, records, recordsOfService, keys, status, verify, backUp
    case set, setForBackground, remove, removeNothing, edit, restore, createGroup, renameGroup, removeGroup
    case slots, addSlot, addPassphrase, replaceSlot, removeSlot, removeSlotWithoutRotation
    case compact, rotate, rotateVault, rotateVaultKeeping

    func run(_ fixture: Fixture) throws {
      let (vault, group, service) = (fixture.vault, fixture.group, fixture.service)
      func update(_ body: (inout Vault.Transaction) throws(VaultError) -> Void) throws {
        try vault.transaction(service: service, in: group, body)
      }
      let slot = Vault.Identifier([UInt8](repeating: 1, count: 16))
      switch self {
      case .groupNamed: _ = try vault.group(named: "default")
      case .groups: _ = try vault.groups()
      case .records: _ = try vault.records(in: group)
      case .recordsOfService: _ = try vault.records(service: service, in: group)
      case .keys: _ = try vault.keys(service: service, in: group)
      case .status: _ = try vault.status()
      case .verify: _ = try vault.verify()
      case .backUp: try vault.backUp(to: fixture.path + ".backup")
      case .set: try update { batch throws(VaultError) in try batch.set("v", forKey: "new") }
      case .setForBackground:
        try update { batch throws(VaultError) in try batch.set("v", forKey: "new", as: .afterFirstUnlock) }
      case .remove: try update { batch throws(VaultError) in try batch.remove("password") }
      case .removeNothing: try update { batch throws(VaultError) in try batch.remove("nothing") }
      case .edit: try update { batch throws(VaultError) in try batch.edit("afterFirstUnlock", .keeping(9)) }
      case .restore: try update { batch throws(VaultError) in try batch.restore("afterFirstUnlock", revision: 4) }
      case .createGroup: try vault.createGroup("new")
      case .renameGroup: try vault.renameGroup(group, to: "new")
      case .removeGroup: try vault.removeGroup(group)
      case .slots: _ = try vault.slots()
      case .addSlot: try vault.addSlot(NewSlot(.key(.sample(from: 9))))
      case .addPassphrase: try vault.addSlot(NewSlot(.passphrase("new"), cost: .throwaway), granting: group)
      case .replaceSlot: try vault.replaceSlot(with: NewSlot(.key(.sample(from: 9))))
      case .removeSlot: try vault.removeSlot(slot)
      case .removeSlotWithoutRotation: try vault.removeSlotWithoutRotation(slot)
      case .compact: try vault.compact()
      case .rotate: try vault.rotate(group)
      case .rotateVault: try vault.rotateVault()
      case .rotateVaultKeeping: try vault.rotateVault(keeping: [fixture.credential])
      }
    }
  }

  @Test(arguments: Use.allCases)
  func `after lock() whatever needs the keys is locked and writes nothing`(use: Use) throws {
    try Fixture.with { fixture in
      fixture.vault.lock()

      try expectRefused(.locked, at: fixture.path) { try use.run(fixture) }
      #expect(access(fixture.path + ".backup", F_OK) != 0)
    }
  }

  @Test func `after lock() an asynchronous update is locked`() async throws {
    try await TemporaryDirectory.with { directory in
      let vault = try Vault.sample(at: directory + "/vault.spv")
      let (service, group) = (try Vault.Name("db"), try vault.group())
      vault.lock()
      var code: VaultError.Code?

      do throws(VaultError) {
        try await vault.transaction(service: service, in: group) { batch throws(VaultError) in
          try batch.set("v", forKey: "new")
        }
      } catch { code = error.code }

      #expect(code == .locked)
    }
  }

  @Test func `a batch that is being filled when lock() comes is locked and not written`() throws {
    try Fixture.with { fixture in
      try expectRefused(.locked, at: fixture.path) {
        try fixture.vault.transaction(service: fixture.service, in: fixture.group) { batch throws(VaultError) in
          try batch.set("v", forKey: "new")
          fixture.vault.lock()
        }
      }
    }
  }

  // MARK: What stays

  @Test func `row 61: after lock() values afterFirstUnlock are read as loaded, also of a group not used before`()
    throws
  {
    try Fixture.with { fixture in
      fixture.vault.lock()

      #expect(fixture.answers() == Fixture.locked)
      #expect(fixture.answers(in: fixture.unused) == Fixture.locked)
    }
  }

  @Test(arguments: kept)
  func `after lock() all that is known of a record afterFirstUnlock is returned`(accessibility: Vault.Accessibility)
    throws
  {
    try Fixture.with { fixture in
      let (vault, service, group, key) = (fixture.vault, fixture.service, fixture.group, accessibility.name)
      let record = try #require(try vault.record(service: service, key: key, in: group))
      let image = try RecordImage(record, group, vault)

      vault.lock()

      #expect(try vault.kind(service: service, key: key, in: group) == .string)
      let again = try #require(try vault.record(service: service, key: key, in: group))
      #expect(try RecordImage(again, group, vault) == image)
      #expect(image.value == .bytes(Array("loaded".utf8)))
      #expect(image.previous.map(\.value) == [.bytes(Array("first".utf8))])
      #expect(try vault.withValue(of: record, previous: 99, in: group) { _, _ in } == nil)
    }
  }

  @Test func `after lock() a value of this device needs the device key as before`() throws {
    try Fixture.with(device: nil) { fixture in
      let before = ["loaded", "loaded", "deviceKeyMissing", "deviceKeyMissing"]
      try #require(fixture.answers() == before)
      fixture.vault.lock()
      #expect(fixture.answers() == ["locked", "loaded", "locked", "deviceKeyMissing"])
    }
    try Fixture.with(device: 0x81) { fixture in
      fixture.vault.lock()
      #expect(fixture.answers() == ["locked", "loaded", "locked", "wrongDevice"])
    }
  }

  @Test func `after lock() a record of the same name in another group or service is not mistaken`() throws {
    try Fixture.with { fixture in
      let other = try fixture.other()
      try other.set("other group", forKey: "afterFirstUnlock", in: "unused", as: nil)
      try other.transaction(service: Vault.Name("db2"), in: other.group()) { batch throws(VaultError) in
        try batch.set("other service", forKey: "afterFirstUnlock", as: .afterFirstUnlock)
      }
      _ = try fixture.vault.status()
      fixture.vault.lock()

      #expect(try fixture.value("afterFirstUnlock") == "loaded")
      #expect(try fixture.value("afterFirstUnlock", in: fixture.unused) == "other group")
      let value = try fixture.vault.withValue(service: Vault.Name("db2"), key: "afterFirstUnlock", in: fixture.group) {
        String($1)
      }
      #expect(value == "other service")
    }
  }

  @Test func `after lock() a value is read as it was loaded, and after unlocking as it is now`() throws {
    try Fixture.with { fixture in
      let other = try fixture.other()
      try other.set("before the lock, never loaded", forKey: "afterFirstUnlock", as: nil)
      fixture.vault.lock()
      try other.set("after the lock", forKey: "afterFirstUnlock", as: nil)
      try other.remove("afterFirstUnlockThisDeviceOnly")
      try other.rotateVault()

      #expect(fixture.answers() == Fixture.locked)
      try fixture.vault.unlock(with: fixture.credential)
      #expect(fixture.answers() == ["loaded", "after the lock", "loaded", "nil"])
    }
  }

  @Test func `a record that lost its class after lock() is read until the next lock`() throws {
    try Fixture.with { fixture in
      let other = try fixture.other()
      fixture.vault.lock()
      try other.set("secret now", forKey: "afterFirstUnlock", as: .whenUnlocked)

      #expect(try fixture.value("afterFirstUnlock") == "loaded")
      try fixture.vault.unlock(with: fixture.credential)
      fixture.vault.lock()
      #expect(fixture.answers() == ["locked", "locked", "locked", "loaded"])
    }
  }

  @Test(.filesOnly("removes the file")) func `after lock() what was loaded is read although the vault is deleted`()
    throws
  {
    try Fixture.with { fixture in
      fixture.vault.lock()
      try #require(unlink(fixture.path) == 0)

      #expect(fixture.answers() == Fixture.locked)
      #expect(refusal { try fixture.vault.unlock(with: fixture.credential) } == .notFound)
      #expect(fixture.answers() == Fixture.locked)
    }
  }

  @Test(arguments: [ExpiryPolicy.read, .refuse])
  func `after lock() records whose expiry has passed obey the policy as before`(policy: ExpiryPolicy) throws {
    try Fixture.with({ $0.expiredRecords = policy }) { fixture in
      var edit = RecordEdit()
      edit.expiry = .set(1)
      try fixture.vault.transaction(service: fixture.service, in: fixture.group) { batch throws(VaultError) in
        try batch.edit("whenUnlocked", edit)
        try batch.edit("afterFirstUnlock", edit)
      }

      let answer = policy == .refuse ? "expired" : "loaded"
      #expect(fixture.answers() == [answer, answer, "loaded", "loaded"])
      fixture.vault.lock()
      #expect(fixture.answers() == ["locked", answer, "locked", "loaded"])
    }
  }

  @Test func `a group that does not verify keeps nothing, and the others keep theirs`() throws {
    try SharedVault.with { shared in
      for group in shared.groups { try shared.owner.set("loaded", forKey: "kept", in: group, as: .afterFirstUnlock) }
      try shared.owner.compact()
      var parts = try shared.parts
      let position = try shared.position(of: "one")
      var draft = SectionDraft(generation: 9)
      draft.name = Array("one".utf8)
      draft.records[0].kind = 0
      parts.sections[position].sealed = try KeyHolder(shared.bytes, group: position).section(draft)
      try VaultBytes.write(parts.file, to: shared.path)
      let vault = try shared.secondOwner()
      let groups = try shared.groups.map { try vault.group(named: $0) }

      vault.lock()

      let codes = groups.map { group in
        refusal { try vault.withValue(service: Vault.Name("db"), key: "kept", in: group) { _, _ in } }
      }
      #expect(codes == [nil, .locked, nil])
      try vault.unlock(with: .key(.sample()))
      #expect(refusal { try vault.text("kept", in: "one") } == .malformed)
    }
  }

  @Test func `a group's holder keeps the values of its group alone`() throws {
    try SharedVault.with { shared in
      for group in shared.groups { try shared.owner.set("loaded", forKey: "kept", in: group, as: .afterFirstUnlock) }
      let groups = try shared.groups.map { try shared.owner.group(named: $0) }
      let holder = try shared.holder(of: "one")

      holder.lock()

      let codes = groups.map { group in
        refusal { try holder.withValue(service: Vault.Name("db"), key: "kept", in: group) { _, _ in } }
      }
      #expect(codes == [.locked, nil, .locked])
      try holder.unlock(with: shared.credential(of: "one"))
      #expect(try holder.groupNames() == ["one"])
    }
  }
}
