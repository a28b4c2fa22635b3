import Testing
import VaultSealing

@testable import VaultCore

extension EveryStorage {
  /// A credential with slots of several groups opens all of them (`Docs/Format.md` section 4, step 6; row G15).
  struct SeveralGroupsTests {}
}

extension EveryStorage.SeveralGroupsTests {
  /// What opens `one` and `two` of a shared vault, and `default` not.
  private static func credential(_ kind: String) throws -> Vault.Credential {
    kind == "passphrase" ? try .passphrase("words") : .key(try .sample(from: 200))
  }

  private static func with(_ kind: String = "raw key", _ body: (SharedVault, Vault) throws -> Void) throws {
    try SharedVault.with { shared in
      for group in ["one", "two"] {
        try shared.owner.addSlot(
          NewSlot(credential(kind), cost: .throwaway), granting: shared.owner.group(named: group))
      }
      try body(
        shared, Vault.open(in: stored(shared.path), credential: credential(kind), options: .sample(seed: "several")))
    }
  }

  @Test(arguments: ["raw key", "passphrase"]) func `row G15: all groups of a credential are open`(kind: String) throws {
    try Self.with(kind) { shared, vault in
      #expect(try vault.groupNames() == ["one", "two"])
      #expect(try !vault.isOwner)
      #expect(refusal { try vault.group(named: "default") } == .groupNotGranted)
      for group in ["one", "two"] {
        #expect(try vault.text("password", in: group) == "s3cret")
        try vault.set("of \(group)", forKey: "password", in: group)
        #expect(try shared.holder(of: group).text("password", in: group) == "of \(group)")
        #expect(try shared.owner.text("password", in: group) == "of \(group)")
      }
      #expect(try vault.status().groups.map(\.name.text).sorted() == ["one", "two"])
      #expect(try vault.verify().values == 2)
    }
  }

  @Test func `row G15: an identity opens all its groups, also those of one that was added later`() throws {
    try HeldVault.with { held in
      let running = try held.open()
      try held.add(held.identity, "two")
      #expect(try held.open().groupNames() == ["one", "two"])
      // An open vault has no credential to try the new slot with.
      #expect(try running.groupNames() == ["one"])
      try running.unlock(with: held.credential())
      #expect(try running.groupNames() == ["one", "two"])
    }
  }

  @Test func `row G15: a credential with an owner slot is an owner's`() throws {
    try Self.with { shared, _ in
      try shared.owner.addSlot(NewSlot(Self.credential("raw key")))
      let vault = try Vault.open(in: stored(shared.path), credential: Self.credential("raw key"))
      #expect(try vault.isOwner)
      #expect(try vault.groupNames() == ["default", "one", "two"])
    }
  }

  @Test(arguments: EveryStorage.SharedFoldTests.Fold.allCases)
  func `a holder of two groups leaves everything of others byte for byte`(fold: EveryStorage.SharedFoldTests.Fold)
    throws
  {
    try Self.with { shared, vault in
      for group in ["default", "one", "two"] { try shared.owner.set("entry", forKey: "user", in: group) }
      let before = try shared.parts
      let positions = try (one: shared.position(of: "one"), two: shared.position(of: "two"))

      try fold.run(vault, in: "one")

      let after = try shared.parts
      #expect(after.head == before.head && after.slots == before.slots && after.manifest == before.manifest)
      let changed = (0..<3).filter { after.sections[$0].sealed != before.sections[$0].sealed }
      #expect(changed == (fold == .change ? [positions.one] : [positions.one, positions.two].sorted()))
      #expect(after.entries.count == (fold == .change ? 2 : 1))
      #expect(try shared.secondOwner().contents() == shared.owner.contents())
      for group in ["one", "two"] { #expect(try vault.text("user", in: group) == "entry") }
    }
  }

  @Test func `row G15: a group whose slot is removed is lost, and the other one goes on`() throws {
    try Self.with { shared, vault in
      let slot = try #require(try shared.owner.slots().last { $0.group?.text == "one" }).id
      try shared.owner.removeSlot(slot)

      #expect(try vault.text("password", in: "two") == "s3cret")
      #expect(refusal { try vault.text("password", in: "one") } == .groupNotGranted)
      #expect(try vault.groupNames() == ["two"])
      try vault.set("still", forKey: "password", in: "two")
      #expect(try shared.owner.text("password", in: "two") == "still")

      try shared.owner.removeSlot(try #require(try shared.owner.slots().last { $0.group?.text == "two" }).id)
      #expect(refusal { try vault.text("password", in: "two") } == .credentialRejected)
    }
  }

  @Test func `row G15: a slot of an earlier epoch besides a present one is passed over, and alone it is stale`() throws
  {
    try Self.with { shared, _ in
      let old = try shared.parts
      let credential = try Self.credential("raw key")
      try shared.owner.removeSlot(try #require(try shared.owner.slots().last { $0.group?.text == "one" }).id)
      var parts = try shared.parts
      parts.slots.append(old.slots[4])
      try VaultBytes.write(parts.file, to: shared.path)
      #expect(try Vault.open(in: stored(shared.path), credential: credential).groupNames() == ["two"])

      parts.slots.removeAll { $0[8..<24] == old.slots[5][8..<24] }
      try VaultBytes.write(parts.file, to: shared.path)
      #expect(Vault.refusal(at: shared.path, credential) == .staleCredential)
    }
  }

  @Test func `row G15: a group that does not verify hides no other one`() throws {
    try Self.with { shared, _ in
      var parts = try shared.parts
      let one = try shared.position(of: "one")
      parts.sections[one].sealed[100] ^= 1
      try VaultBytes.write(parts.file, to: shared.path)

      let vault = try Vault.open(in: stored(shared.path), credential: Self.credential("raw key"))
      #expect(try vault.text("password", in: "two") == "s3cret")
      #expect(refusal { try vault.group(named: "one") } == .tampered)
      #expect(refusal { try vault.status() } == .tampered)
    }
  }

  @Test func `of two slots of one group the first is used`() throws {
    try Self.with { shared, _ in
      try shared.owner.addSlot(
        NewSlot(Self.credential("raw key"), label: "second"), granting: shared.owner.group(named: "one"))
      let vault = try Vault.open(in: stored(shared.path), credential: Self.credential("raw key"))
      let first = try #require(try shared.owner.slots().first { $0.label.isEmpty && $0.group?.text == "one" }).id
      #expect(try vault.slotKey().slots.map(\.id).contains(first))
      #expect(try vault.slotKey().slots.count == 2)
    }
  }

  @Test func `a locked vault keeps what stays readable of all groups`() throws {
    try Self.with { shared, vault in
      for group in ["one", "two"] {
        try vault.transaction(service: Vault.Name("db"), in: vault.group(named: group)) { (batch) throws(VaultError) in
          let bytes = Array("stays".utf8)
          try batch.set(bytes.span.bytes, kind: .string, forKey: "kept", accessibility: .afterFirstUnlock)
        }
      }
      let groups = try ["one", "two"].map { try vault.group(named: $0) }
      vault.lock()
      for group in groups {
        #expect(
          try vault.withValue(service: Vault.Name("db"), key: "kept", in: group) { _, bytes in String(bytes) }
            == "stays")
      }
    }
  }

  @Test func `an event names the slot of its group`() throws {
    try AuditedVault.with(groups: ["default", "one", "two"]) { shared in
      var slots: [String: Vault.Identifier] = [:]
      for group in ["one", "two"] {
        slots[group] = try shared.owner.addSlot(
          NewSlot(Self.credential("raw key")), granting: shared.owner.group(named: group))
      }
      let vault = try Vault.open(in: stored(shared.path), credential: Self.credential("raw key"))
      for group in ["one", "two"] {
        _ = try vault.text("password", in: group)
        var last: Vault.Identifier?
        _ = try shared.owner.readAuditLog(of: shared.owner.group(named: group)) { last = $0.slot }
        #expect(last == slots[group])
      }
    }
  }

  @Test(.filesOnly("salvage reads files")) func `a salvage by a holder of two groups saves both`() throws {
    try Self.with { shared, _ in
      let credential = try Self.credential("raw key")
      let report = try Vault.salvage(at: shared.path, credential: credential, to: shared.path + ".saved")
      #expect(report.groups.map(\.name.text).sorted() == ["one", "two"])
      let saved = try Vault.open(at: shared.path + ".saved", credential: credential)
      #expect(try saved.isOwner)
      #expect(try saved.groupNames() == ["one", "two"])
    }
  }

  @Test(arguments: ["raw key", "passphrase"])
  func `a salvage by a holder of two groups names the one whose section is lost, and none of others`(
    kind: String
  ) throws {
    try Self.with(kind) { shared, _ in
      let sections = try Snapshot(FileImage(shared.bytes)).sections
      for name in shared.groups {
        let section = sections[try shared.position(of: name)]
        // The id and the epoch.
        for offset in [0, 16] {
          let file = try shared.bytes.flipping(bit: 7, at: section.range.lowerBound + offset)
          let (draft, _, report) = try Salvager(
            FileImage(file), Self.credential(kind), .sample(seed: "salvage")
          ).run()
          #expect(report.lostGroups == (name == "default" ? [] : [section.id.description]))
          #expect(report.groups.map(\.name.text).sorted() == ["one", "two"].filter { $0 != name })
          #expect(draft.slots.count == 1)
        }
      }
    }
  }

  @Test func `a salvage by a kept key of two groups names the one whose section is lost`() throws {
    try Self.with { shared, vault in
      let section = try Snapshot(FileImage(shared.bytes)).sections[try shared.position(of: "one")]
      let file = try shared.bytes.flipping(bit: 7, at: section.range.lowerBound)
      let (_, _, report) = try Salvager(
        FileImage(file), .slot(vault.slotKey()), .sample(seed: "salvage")
      ).run()
      #expect(report.lostGroups == [section.id.description])
      #expect(report.groups.map(\.name.text) == ["two"])
    }
  }

  @Test func `what looks like a section of a different epoch closes no group to a salvage by its holder`() throws {
    try Self.with { shared, _ in
      let first = try #require(Snapshot(FileImage(shared.bytes)).sections.first)
      var head = ByteWriter()
      for name in ["one", "two"] {
        head.raw(try shared.owner.group(named: name).id.bytes)
        head.integer(UInt32(77))
        head.integer(UInt32(0))
        head.integer(UInt64(1096))
        head.raw([UInt8](repeating: 0xA5, count: 1096))
      }
      var file = try shared.bytes
      file.insert(contentsOf: head.bytes, at: first.range.lowerBound)
      let (_, _, report) = try Salvager(
        FileImage(file), Self.credential("raw key"), .sample(seed: "salvage")
      ).run()
      #expect(report.groups.map(\.name.text).sorted() == ["one", "two"])
    }
  }
}
