import Testing
import VaultSealing

@testable import VaultCore

extension EveryStorage {
  /// Access groups made, renamed and removed by an owner.
  struct AccessGroupTests {}
}

extension EveryStorage.AccessGroupTests {
  @Test func `a new group is empty, usable at once and there after opening anew`() throws {
    try SharedVault.with { shared in
      let before = try shared.owner.contents()
      let group = try shared.owner.createGroup("new")

      #expect(try shared.owner.records(in: group).isEmpty)
      try shared.owner.set("value", forKey: "a", in: "new")
      let fresh = try Vault.opened(at: shared.path)
      #expect(try fresh.groupNames() == ["default", "new", "one", "two"])
      #expect(try fresh.text("a", in: "new") == "value")
      for name in shared.groups { #expect(try fresh.contents()[name] == before[name]) }
      #expect(try shared.epoch(of: "new") == 1)
    }
  }

  @Test func `a new group leaves slots and other sections byte for byte`() throws {
    try SharedVault.with { shared in
      let (before, generation) = try (shared.parts, shared.loaded.snapshot.generation)
      try shared.owner.createGroup("new")

      let after = try shared.parts
      #expect(after.slots == before.slots)
      #expect(after.sections.count == 4)
      for section in before.sections {
        #expect(after.sections.contains { $0.id == section.id && $0.sealed == section.sealed })
      }
      #expect(try shared.loaded.snapshot.generation == generation + 1)
    }
  }

  @Test func `a holder of a new group is added, and handles of others still work`() throws {
    try SharedVault.with { shared in
      let holder = try shared.holder(of: "one")
      let group = try shared.owner.createGroup("new")
      try shared.owner.addSlot(NewSlot(.key(.sample(from: 200))), granting: group)

      let new = try Vault.open(in: stored(shared.path), credential: .key(.sample(from: 200)))
      #expect(try new.groupNames() == ["new"])
      try holder.set("new", forKey: "password", in: "one")
      #expect(refusal { try holder.group(named: "new") } == .groupNotGranted)
    }
  }

  @Test(arguments: ["one", "e\u{301}", "\u{E9}"])
  func `a name that is taken already exists, however it is spelled`(name: String) throws {
    try SharedVault.with(groups: ["default", "one", "\u{E9}"]) { shared in
      let group = try shared.owner.group()

      try expectRefused(.alreadyExists, at: shared.path) { try shared.owner.createGroup(name) }
      try expectRefused(.alreadyExists, at: shared.path) { try shared.owner.renameGroup(group, to: name) }
      try shared.owner.set("still", forKey: "password")
    }
  }

  @Test func `row 36: a group's name is taken in normal form C`() throws {
    try SharedVault.with { shared in
      let group = try shared.owner.createGroup("e\u{301}")
      #expect(group.name.utf8 == [0xC3, 0xA9])
      try shared.owner.renameGroup(shared.owner.group(named: "one"), to: "o\u{308}")

      let names = try Vault.opened(at: shared.path).groups().map(\.name.utf8)
      #expect(names.contains([0xC3, 0xA9]) && names.contains([0xC3, 0xB6]))
      #expect(try shared.owner.text("password", in: "\u{F6}") == "s3cret")
      #expect(try shared.owner.text("password", in: "o\u{308}") == "s3cret")
    }
  }

  @Test(arguments: ["", "a\tb", "\u{85}", String(repeating: "a", count: 1025)])
  func `row 35: an invalid group name is refused`(name: String) throws {
    try SharedVault.with { shared in
      let group = try shared.owner.group()

      try expectRefused(.invalidName, at: shared.path) { try shared.owner.createGroup(name) }
      try expectRefused(.invalidName, at: shared.path) { try shared.owner.renameGroup(group, to: name) }
    }
  }

  @Test func `row 35: a group name of 1024 bytes is kept`() throws {
    try SharedVault.with { shared in
      let name = String(repeating: "a", count: 1024)
      try shared.owner.renameGroup(shared.owner.group(named: "one"), to: name)

      #expect(try shared.holder(of: "one").text("password", in: name) == "s3cret")
    }
  }

  @Test(arguments: [0, 3])
  func `a renamed group keeps its records, slots and key`(entries: Int) throws {
    try SharedVault.with { shared in
      for number in 0..<entries { try shared.owner.set("\(number)", forKey: "key-\(number)", in: "one") }
      let (before, contents) = try (shared.loaded, shared.owner.contents())
      let (slots, one) = try (shared.parts.slots, shared.position(of: "one"))

      try shared.owner.renameGroup(shared.owner.group(named: "one"), to: "uno")

      let after = try shared.loaded
      #expect(try shared.owner.contents()["uno"] == contents["one"])
      #expect(try Vault.opened(at: shared.path).contents()["uno"] == contents["one"])
      #expect(try shared.owner.groupNames() == ["default", "two", "uno"])
      #expect(refusal { try shared.owner.group(named: "one") } == .groupNotGranted)
      #expect(try shared.parts.slots == slots)
      #expect(after.groups[one].section.epoch == 1)
      let id = before.groups[one].id
      #expect(try after.content(id).generation == before.content(id).generation + 1)
      #expect(try after.content(id).key.isEqual(to: before.content(id).key))
    }
  }

  @Test func `a rename leaves the other sections byte for byte`() throws {
    try SharedVault.with { shared in
      let (before, one) = try (shared.parts, shared.position(of: "one"))
      try shared.owner.renameGroup(shared.owner.group(named: "one"), to: "uno")

      for index in 0..<3 {
        let isSame = try shared.parts.sections[index].sealed == before.sections[index].sealed
        #expect(isSame == (index != one))
      }
    }
  }

  @Test func `a holder's handle works after a rename, and finds its group by the new name`() throws {
    try SharedVault.with { shared in
      let holder = try shared.holder(of: "one")
      let group = try holder.group(named: "one")
      try holder.set("entry", forKey: "user", in: "one")
      try shared.owner.renameGroup(shared.owner.group(named: "one"), to: "uno")

      #expect(try holder.keys(service: Vault.Name("db"), in: group) == ["password", "user"])
      try holder.transaction(service: Vault.Name("db"), in: group) { batch throws(VaultError) in
        try batch.set("after", forKey: "user")
      }
      #expect(try holder.groupNames() == ["uno"])
      #expect(refusal { try holder.group(named: "one") } == .groupNotGranted)
      #expect(try shared.owner.text("user", in: "uno") == "after")
    }
  }

  @Test func `two groups exchange their names by way of a third`() throws {
    try SharedVault.with { shared in
      try shared.owner.set("of one", forKey: "mark", in: "one")
      let (one, two) = try (shared.owner.group(named: "one"), shared.owner.group(named: "two"))
      try shared.owner.renameGroup(one, to: "aside")
      try shared.owner.renameGroup(two, to: "one")
      try shared.owner.renameGroup(one, to: "two")

      #expect(try Vault.opened(at: shared.path).text("mark", in: "two") == "of one")
      #expect(try shared.holder(of: "one").text("mark", in: "two") == "of one")
    }
  }

  @Test(arguments: ["two", "unused"])
  func `row 29: a holder that renames its own section is tampered for the owner`(name: String) throws {
    try SharedVault.with { shared in
      let one = try shared.position(of: "one")
      let forger = try KeyHolder(shared.bytes, group: one)
      var parts = try shared.parts
      var draft = SectionDraft(baseGeneration: try shared.loaded.snapshot.generation, name: Array(name.utf8))
      draft.records = []
      parts.sections[one].sealed = try forger.section(draft)
      try VaultBytes.write(parts.file, to: shared.path)

      #expect(try SampleFiles.refusal(opening: parts.file) == .tampered)
      #expect(try shared.holder(of: "one").groupNames() == [name])
      let owner = try Vault.opened(at: shared.path)
      #expect(refusal { try owner.text("password", in: "one") } == .tampered)
      #expect(try owner.text("password", in: "default") == "s3cret")
      // A group that does not verify blocks owner full writes (5.6).
      try expectRefused(.tampered, at: shared.path) { try owner.createGroup("new") }
      try expectRefused(.tampered, at: shared.path) { try owner.compact() }
      try expectRefused(.tampered, at: shared.path) { try owner.rotateVault() }
    }
  }

  @Test func `a removed group is removed together with its records and its slots`() throws {
    try SharedVault.with { shared in
      let holder = try shared.holder(of: "one")
      let (group, own) = try (shared.owner.group(named: "one"), holder.group(named: "one"))
      for name in shared.groups { try shared.owner.set("entry", forKey: "user", in: name) }
      let contents = try shared.owner.contents()

      try shared.owner.removeGroup(group)

      let fresh = try Vault.opened(at: shared.path)
      #expect(try fresh.contents() == contents.filter { $0.key != "one" })
      #expect(try fresh.slots().map(\.label) == ["owner", "default", "two"])
      #expect(refusal { try shared.owner.records(in: group) } == .groupNotGranted)
      #expect(try Vault.refusal(at: shared.path, shared.credential(of: "one")) == .credentialRejected)
      #expect(refusal { try holder.records(in: own) } == .credentialRejected)
      #expect(try shared.holder(of: "two").text("user", in: "two") == "entry")
    }
  }

  @Test func `what a removed group held occurs nowhere in the file`() throws {
    try SharedVault.with { shared in
      try shared.owner.set("entry", forKey: "user", in: "one")
      let (before, one) = try (shared.parts, shared.position(of: "one"))
      try shared.owner.removeGroup(shared.owner.group(named: "one"))

      let file = try shared.bytes
      #expect(!file.contains(bytes: before.sections[one].id))
      #expect(!file.contains(bytes: Array(before.sections[one].sealed[..<72])))
      #expect(!file.contains(bytes: Array(before.entries[0][24..<96])))
    }
  }

  @Test func `writes to a removed group are refused and nothing changes`() throws {
    try SharedVault.with { shared in
      let group = try shared.owner.group(named: "one")
      let second = try shared.secondOwner()
      _ = try second.records(in: group)
      try shared.owner.removeGroup(group)

      for vault in [shared.owner, second] {
        try expectRefused(.groupNotGranted, at: shared.path) {
          try vault.transaction(service: Vault.Name("db"), in: group) { batch throws(VaultError) in
            try batch.set("lost", forKey: "password")
          }
        }
        try expectRefused(.groupNotGranted, at: shared.path) { try vault.removeGroup(group) }
        try expectRefused(.groupNotGranted, at: shared.path) { try vault.renameGroup(group, to: "new") }
        try expectRefused(.groupNotGranted, at: shared.path) { try vault.rotate(group) }
      }
    }
  }

  @Test func `the name of a removed group may be used again, for an empty group of other holders`() throws {
    try SharedVault.with { shared in
      try shared.owner.removeGroup(shared.owner.group(named: "one"))
      let group = try shared.owner.createGroup("one")

      #expect(try shared.owner.records(in: group).isEmpty)
      #expect(try Vault.refusal(at: shared.path, shared.credential(of: "one")) == .credentialRejected)
    }
  }

  @Test func `a vault may be left without any group`() throws {
    try SharedVault.with { shared in
      for group in try shared.owner.groups() { try shared.owner.removeGroup(group) }

      let fresh = try Vault.opened(at: shared.path)
      #expect(try fresh.groups().isEmpty)
      #expect(try fresh.slots().map(\.label) == ["owner"])
      try fresh.rotateVault()
      try shared.owner.createGroup("default")
      try fresh.set("value", forKey: "a")
      #expect(try shared.owner.text("a") == "value")
    }
  }

  @Test func `the 1025th group exceeds the limit`() throws {
    try TemporaryDirectory.with { directory in
      let path = directory + "/vault.spv"
      let vault = try Vault.sample(at: path, groups: (0..<1024).map { NewGroup("\($0)") })

      try expectRefused(.limitExceeded, at: path) { try vault.createGroup("one more") }
      try vault.removeGroup(vault.group(named: "7"))
      try vault.createGroup("one more")
      #expect(try Vault.opened(at: path).status().groups.count == 1024)
    }
  }
}
