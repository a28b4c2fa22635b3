import Glibc
import Testing
import VaultSealing

@testable import VaultCore

extension EveryStorage {
  /// Groups that do not verify: what still works, and how an owner repairs the vault (`Docs/Format.md` 5.6, row 50b).
  struct RepairTests {}
}

extension EveryStorage.RepairTests {
  /// How a group came not to verify.
  enum Break: String, CaseIterable, Sendable {
    /// Its holder appended an entry that breaks the rules.
    case entry
    /// Its holder sealed a section that breaks the rules.
    case section
    /// An attacker without a key changed its section, and made the checksum right.
    case flippedSection
    /// The same with its newest entry.
    case flippedEntry

    var code: VaultError.Code { self == .entry || self == .section ? .malformed : .tampered }
  }

  @Test(arguments: Break.allCases)
  func `row 50b: the other groups are usable, and owner full writes are blocked`(how: Break) throws {
    try SharedVault.broken(how, ["one"]) { shared in
      for vault in [shared.owner, try shared.secondOwner()] {
        #expect(refusal { try vault.text("password", in: "one") } == how.code)
        #expect(try vault.text("password", in: "two") == "s3cret")
        try vault.set("new", forKey: "user")
        #expect(try vault.text("user") == "new")
        try expectRefused(how.code, at: shared.path) { try vault.compact() }
        try expectRefused(how.code, at: shared.path) { try vault.createGroup("new") }
        try expectRefused(how.code, at: shared.path) { try vault.rotateVault() }
      }
      #expect(refusal { try shared.holder(of: "one").text("password", in: "one") } == how.code)
      try shared.holder(of: "two").set("new", forKey: "user", in: "two")
      try shared.holder(of: "two").compact()
      #expect(try shared.secondOwner().text("user", in: "two") == "new")
    }
  }

  @Test(arguments: Break.allCases)
  func `a group is left out with its slots, and the others stay as they were`(how: Break) throws {
    try SharedVault.broken(how, ["one"]) { shared in
      let (before, sound) = try (shared.parts, shared.sound())
      let (one, generation) = try (shared.owner.group(named: "one"), shared.generation)

      try shared.owner.repair([one], .leaveOut)

      let fresh = try Vault.opened(at: shared.path)
      #expect(try fresh.contents() == sound)
      #expect(try shared.owner.contents() == sound)
      #expect(try shared.generation == generation + 1)
      #expect(try shared.owner.slots().map(\.label) == ["owner", "default", "two"])
      #expect(Vault.refusal(at: shared.path, try shared.credential(of: "one")) == .credentialRejected)
      try #require(try shared.parts.sections.count == 2)
      // The group without entries needs no new section.
      let two = try shared.owner.group(named: "two").id.bytes
      #expect(
        try shared.parts.sections.first { $0.id == two }?.sealed == before.sections.first { $0.id == two }?.sealed)
      try fresh.createGroup("one")
      try shared.holder(of: "two").set("new", forKey: "user", in: "two")
    }
  }

  @Test(arguments: Break.allCases)
  func `a group is emptied: its name stays, its epoch is the next, its holders keep access`(how: Break) throws {
    try SharedVault.broken(how, ["one"]) { shared in
      let live = try shared.holder(of: "two")
      let (sound, generation) = try (shared.sound(), shared.generation)
      let (one, slots) = try (shared.owner.group(named: "one"), shared.owner.slots().map(\.label))

      try shared.owner.repair([one], .empty)

      var expected = sound
      expected["one"] = []
      #expect(try shared.owner.contents() == expected)
      #expect(try Vault.opened(at: shared.path).contents() == expected)
      #expect(try shared.generation == generation + 1)
      #expect(try shared.epoch(of: "one") == 2)
      #expect(try shared.epoch(of: "two") == 1)
      #expect(try shared.owner.slots().map(\.label) == slots)

      let holder = try shared.holder(of: "one")
      #expect(try holder.records(in: holder.group(named: "one")).isEmpty)
      try holder.set("new", forKey: "user", in: "one")
      try holder.compact()
      try holder.set("newer", forKey: "user", in: "one")
      #expect(try shared.owner.text("user", in: "one") == "newer")
      try live.set("new", forKey: "user", in: "two")
      try shared.owner.rotateVault()
      #expect(try shared.holder(of: "one").text("user", in: "one") == "newer")
    }
  }

  @Test func `a holder's open handle works with the emptied group`() throws {
    try SharedVault.with { shared in
      let holder = try shared.holder(of: "one")
      try holder.set("old", forKey: "user", in: "one")
      try shared.breakGroups(["one"], .entry)
      #expect(refusal { try holder.text("user", in: "one") } == .malformed)

      try shared.owner.repair([shared.owner.group(named: "one")], .empty)

      #expect(try holder.text("user", in: "one") == nil)
      try holder.set("new", forKey: "user", in: "one")
      #expect(try shared.owner.text("user", in: "one") == "new")
    }
  }

  @Test func `the section of before is refused in the repaired vault`() throws {
    try SharedVault.broken(.entry, ["one"]) { shared in
      let (before, group) = try (shared.parts, shared.owner.group(named: "one"))
      try shared.owner.repair([group], .empty)
      let one = try shared.position(of: "one")

      var whole = try shared.parts
      whole.sections[one] = before.sections[one]
      var sealed = try shared.parts
      sealed.sections[one].sealed = before.sections[one].sealed

      #expect(try SampleFiles.refusal(opening: whole.file) == .tampered)
      #expect(try SampleFiles.refusal(opening: sealed.file) == .tampered)
    }
  }

  @Test func `the entries of before are refused in the repaired vault`() throws {
    try SharedVault.broken(.entry, ["one"]) { shared in
      let before = try shared.parts
      let one = try shared.owner.group(named: "one")
      try shared.owner.repair([one], .empty)

      for entry in before.entries where Array(entry[8..<24]) == one.id.bytes {
        var parts = try shared.parts
        parts.entries = [entry]
        #expect(try SampleFiles.refusal(opening: parts.file) == .tampered)
      }
    }
  }

  @Test func `the slot of before is refused in the repaired vault`() throws {
    try SharedVault.broken(.entry, ["one"]) { shared in
      let before = try shared.parts
      let slot = try #require(try shared.owner.slots().firstIndex { $0.label == "one" })
      try shared.owner.repair([shared.owner.group(named: "one")], .empty)
      var parts = try shared.parts
      parts.slots[slot] = before.slots[slot]

      try VaultBytes.write(parts.file, to: shared.path)

      #expect(Vault.refusal(at: shared.path, try shared.credential(of: "one")) == .staleCredential)
      #expect(Vault.refusal(at: shared.path, .key(try .sample())) == .tampered)
    }
  }

  @Test(arguments: [GroupRepair.leaveOut, .empty])
  func `repairing a group that verifies is a conflict and changes nothing`(how: GroupRepair) throws {
    try SharedVault.broken(.section, ["one"]) { shared in
      let (one, two) = try (shared.owner.group(named: "one"), shared.owner.group(named: "two"))

      try expectRefused(.conflict, at: shared.path) { try shared.owner.repair([one, two], how) }
      try shared.owner.repair([one], how)
      if how == .empty {
        try expectRefused(.conflict, at: shared.path) { try shared.owner.repair([one], how) }
      }
    }
  }

  @Test(arguments: [GroupRepair.leaveOut, .empty])
  func `repairing a group that the vault does not have is groupNotGranted`(how: GroupRepair) throws {
    try SharedVault.with { shared in
      let gone = try shared.owner.group(named: "one")
      try shared.owner.removeGroup(gone)

      try expectRefused(.groupNotGranted, at: shared.path) { try shared.owner.repair([gone], how) }
    }
  }

  @Test(arguments: [GroupRepair.leaveOut, .empty])
  func `a holder cannot repair, not even its own group`(how: GroupRepair) throws {
    try SharedVault.broken(.entry, ["one"]) { shared in
      let (one, two) = try (shared.holder(of: "one"), shared.holder(of: "two"))
      let (bad, good) = try (shared.owner.group(named: "one"), shared.owner.group(named: "two"))

      try expectRefused(.ownerRequired, at: shared.path) { try one.repair([bad], how) }
      try expectRefused(.ownerRequired, at: shared.path) { try two.repair([bad], how) }
      try expectRefused(.ownerRequired, at: shared.path) { try two.repair([good], how) }
    }
  }

  @Test(arguments: [GroupRepair.leaveOut, .empty])
  func `two bad groups are repaired at once, and not one without the other`(how: GroupRepair) throws {
    try SharedVault.broken(.section, ["one", "two"]) { shared in
      let (one, two) = try (shared.owner.group(named: "one"), shared.owner.group(named: "two"))
      let sound = try shared.sound(without: ["one", "two"])

      try expectRefused(.malformed, at: shared.path) { try shared.owner.repair([one], how) }
      try shared.owner.repair([two, one], how)

      let fresh = try Vault.opened(at: shared.path)
      #expect(try fresh.contents()["default"] == sound["default"])
      #expect(try fresh.groupNames() == (how == .empty ? ["default", "one", "two"] : ["default"]))
      if how == .empty {
        for name in ["one", "two"] { try shared.holder(of: name).set("new", forKey: "user", in: name) }
        #expect(try fresh.text("user", in: "two") == "new")
      }
    }
  }

  @Test func `the only group is left out, and another can be made`() throws {
    try SharedVault.with(groups: ["default"]) { shared in
      try shared.breakGroups(["default"], .section)
      try shared.owner.repair([shared.owner.group()], .leaveOut)

      #expect(try shared.owner.groups().isEmpty)
      try shared.owner.createGroup("default")
      try shared.owner.set("new", forKey: "user")
      #expect(try Vault.opened(at: shared.path).text("user") == "new")
    }
  }

  @Test func `history, metadata and unknown items of the other groups survive a repair`() throws {
    try VectorFile.with("history-extensions.spv") { path in
      let owner = try VectorFile.open(path)
      let bad = try owner.createGroup("bad")
      let sound = try owner.contents()
      var parts = try Parts(VaultBytes.read(path))
      let position = try #require(parts.sections.firstIndex { $0.id == bad.id.bytes })
      parts.sections[position].sealed[80] ^= 1
      try VaultBytes.write(parts.file, to: path)
      try expectRefused(.tampered, at: path) { try owner.compact() }

      try owner.repair([bad], .leaveOut)

      var expected = sound
      expected["bad"] = nil
      #expect(try VectorFile.open(path).contents() == expected)
    }
  }
}

extension SharedVault {
  /// A shared vault, an entry in `default` and in `one`, where some groups do not verify.
  fileprivate static func broken(
    _ how: EveryStorage.RepairTests.Break, _ groups: [String], _ body: (SharedVault) throws -> Void
  ) throws {
    try with { shared in
      try shared.owner.set("entry", forKey: "user")
      try shared.owner.set("entry", forKey: "user", in: "one")
      try shared.breakGroups(groups, how)
      try body(shared)
    }
  }

  fileprivate func breakGroups(_ names: [String], _ how: EveryStorage.RepairTests.Break) throws {
    let file = try bytes
    var parts = try Parts(file)
    for (name, position) in zip(names, try names.map { try self.position(of: $0) }) {
      let holder = try KeyHolder(file, group: position)
      switch how {
      case .entry:
        var draft = EntryDraft()
        draft.generation = holder.content.generation + 7
        parts.entries.append(try holder.entry(draft))
      case .section:
        var draft = SectionDraft(name: Array(name.utf8), count: 9)
        draft.generation = 1
        parts.sections[position].sealed = try holder.section(draft)
      case .flippedSection: parts.sections[position].sealed[100] ^= 1
      case .flippedEntry:
        let entry = try #require(parts.entries.lastIndex { Array($0[8..<24]) == holder.group.bytes })
        parts.entries[entry] = parts.entries[entry].flipping(bit: 3, at: 120).rechecked()
      }
    }
    // A new inode, so that open handles load it anew.
    try putInPlace(parts.file)
  }

  /// What the groups hold that verify.
  fileprivate func sound(without broken: Set<String> = ["one"]) throws -> [String: [RecordImage]] {
    var contents: [String: [RecordImage]] = [:]
    for group in try owner.groups() where !broken.contains(group.name.text) {
      contents[group.name.text] = try owner.records(in: group).map { try RecordImage($0, group, owner) }
    }
    return contents
  }
}
