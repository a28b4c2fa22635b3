import Glibc
import Testing
import VaultSealing

@testable import VaultCore

extension EveryStorage {
  /// Full writes of a vault that several hold: a holder's own section, an owner's everything.
  struct SharedFoldTests {}
}

extension EveryStorage.SharedFoldTests {
  enum Fold: String, CaseIterable, Sendable {
    case compact, change

    /// Folds by compaction, or by a change that is too long for the journal.
    func run(_ vault: Vault, in group: String) throws {
      switch self {
      case .compact: try vault.compact()
      case .change:
        try vault.transaction(service: Vault.Name("db"), in: vault.group(named: group)) { batch throws(VaultError) in
          try batch.set([UInt8](repeating: 0x61, count: 70_000), forKey: "long")
        }
      }
    }
  }

  /// Entries of `one` with entries of the others before, between and behind.
  private static func interleave(_ shared: SharedVault) throws {
    for (number, group) in ["two", "default", "one", "default", "one", "two", "one", "default"].enumerated() {
      try shared.owner.set("entry \(number)", forKey: "key-\(number)", in: group)
    }
  }

  private static func entries(_ parts: Parts, without id: [UInt8]) -> [[UInt8]] {
    parts.entries.filter { $0[8..<24] != id[...] }
  }

  @Test(arguments: Fold.allCases)
  func `row J14: a holder's fold leaves everything of others byte for byte`(fold: Fold) throws {
    try SharedVault.with { shared in
      try Self.interleave(shared)
      let (before, one) = try (shared.parts, shared.position(of: "one"))

      try fold.run(shared.holder(of: "one"), in: "one")

      let after = try shared.parts
      #expect(after.head == before.head)
      #expect(after.slots == before.slots)
      #expect(after.manifest == before.manifest)
      for index in 0..<3 {
        #expect((after.sections[index].sealed == before.sections[index].sealed) == (index != one))
      }
      #expect(after.entries == Self.entries(before, without: before.sections[one].id))
      #expect(after.entries.count == 5)
      #expect(try shared.hasReserve(64))
    }
  }

  @Test func `a holder appends although the entries of others fill the journal`() throws {
    try SharedVault.with { shared in
      let (one, two) = try (shared.holder(of: "one"), shared.holder(of: "two"))
      for number in 0..<2 {
        try one.set(String(repeating: "a", count: 28_000), forKey: "long \(number)", in: "one")
      }
      let generation = try shared.generation

      for number in 0..<8 { try two.set(String(repeating: "b", count: 4_000), forKey: "short \(number)", in: "two") }

      #expect(try shared.generation == generation)
      #expect(try shared.owner.contents()["two"]?.count == 9)
      try shared.owner.set("x", forKey: "key", in: "default")
      #expect(try shared.generation > generation)
    }
  }

  @Test(arguments: Fold.allCases)
  func `row J14: the owner and the other holders accept a holder's fold`(fold: Fold) throws {
    try SharedVault.with { shared in
      try Self.interleave(shared)
      let contents = try shared.owner.contents()
      let live = try shared.groups.map { try shared.holder(of: $0) }

      try fold.run(shared.holder(of: "one", seed: "folder"), in: "one")

      for owner in [shared.owner, try Vault.opened(at: shared.path)] {
        var found = try owner.contents()
        if fold == .change {
          #expect(found["one"]?.map(\.key.text) == ["key-2", "key-4", "key-6", "long", "password"])
          #expect(found["one"]?[3].revision == 5)
          found["one"]?.remove(at: 3)
        }
        #expect(found == contents)
        #expect(try owner.status().entryCount == 5)
      }
      for (group, holder) in zip(shared.groups, live) {
        #expect(try holder.text("password", in: group) == "s3cret")
        try holder.set("after", forKey: "password", in: group)
        #expect(try shared.owner.text("password", in: group) == "after")
      }
    }
  }

  @Test func `row J14: the section rests on the owner write that the holder found`() throws {
    try SharedVault.with { shared in
      try Self.interleave(shared)
      try shared.holder(of: "one").compact()

      let state = try shared.loaded
      let content = try state.content(state.groups[shared.position(of: "one")].id)
      #expect(content.generation == 5)
      #expect(content.baseGeneration == state.snapshot.generation)
      #expect(content.baseTag == state.snapshot.manifestTag)
    }
  }

  @Test func `row J14: every holder folds in turn, over each other's entries`() throws {
    try SharedVault.with { shared in
      let holders = try shared.groups.map { try shared.holder(of: $0) }
      for round in 0..<5 {
        for (group, holder) in zip(shared.groups, holders) {
          try holder.set("\(round)", forKey: "key-\(round)", in: group)
          if round % 2 == 0 { try holder.compact() }
        }
      }

      let generation = try shared.loaded.snapshot.generation
      let fresh = try Vault.opened(at: shared.path)
      for group in shared.groups {
        #expect(try fresh.allKeys(in: group) == (0..<5).map { "key-\($0)" } + ["password"])
      }
      try fresh.compact()
      #expect(try shared.loaded.snapshot.generation == generation + 1)
      #expect(try fresh.status().entryCount == 0)
      for (group, holder) in zip(shared.groups, holders) { #expect(try holder.text("key-4", in: group) == "4") }
    }
  }

  @Test func `row J13: forged entries of others are copied by a holder's fold and tampered for the owner`() throws {
    try SharedVault.with { shared in
      try Self.interleave(shared)
      var parts = try shared.parts
      let (one, two) = try (shared.position(of: "one"), shared.position(of: "two"))
      let forged = try #require(parts.entries.firstIndex { $0[8..<24] == parts.sections[two].id[...] })
      parts.entries[forged] = parts.entries[forged].flipping(bit: 3, at: 100).rechecked()
      try VaultBytes.write(parts.file, to: shared.path)
      let holder = try shared.holder(of: "one")

      #expect(try holder.contents()["one"]?.count == 4)
      try holder.compact()
      try holder.set("after", forKey: "user", in: "one")

      let after = try shared.parts
      #expect(after.entries.dropLast() == Self.entries(parts, without: parts.sections[one].id)[...])
      let owner = try Vault.opened(at: shared.path)
      #expect(try owner.text("user", in: "one") == "after")
      #expect(refusal { try owner.text("password", in: "two") } == .tampered)
      #expect(refusal { try owner.status() } == .tampered)
      #expect(try Vault.refusal(at: shared.path, shared.credential(of: "two")) == .tampered)
    }
  }

  @Test func `row J13: a fold by length that a forged entry of another group prevents becomes an append`() throws {
    try SharedVault.with { shared in
      try Self.interleave(shared)
      var parts = try shared.parts
      let two = try shared.position(of: "two")
      let forged = try #require(parts.entries.firstIndex { $0[8..<24] == parts.sections[two].id[...] })
      parts.entries[forged] = parts.entries[forged].flipping(bit: 3, at: 100).rechecked()
      try VaultBytes.write(parts.file, to: shared.path)
      let (owner, generation) = (try Vault.opened(at: shared.path), try shared.generation)

      try owner.fold()

      #expect(try shared.generation == generation)
      #expect(try Vault.opened(at: shared.path).bytes("long")?.count == 70_000)
      try expectRefused(.tampered, at: shared.path) { try owner.compact() }
    }
  }

  @Test func `row J13: a vector with a forged entry of another group is folded by its holder`() throws {
    try VectorFile.with("tampered-other-group.spv") { path in
      let holder = try VectorFile.open(path, with: VectorFile.holder)
      let contents = try holder.contents()

      try holder.compact()

      #expect(try VectorFile.open(path, with: VectorFile.holder).contents() == contents)
      let owner = try VectorFile.open(path)
      #expect(refusal { try owner.status() } == .tampered)
      try expectRefused(.tampered, at: path) { try owner.compact() }
    }
  }

  @Test func `a forged section of another group is copied by a holder's fold and tampered for the owner`() throws {
    try SharedVault.with { shared in
      try Self.interleave(shared)
      var parts = try shared.parts
      let two = try shared.position(of: "two")
      parts.sections[two].sealed[100] ^= 1
      try VaultBytes.write(parts.file, to: shared.path)

      try shared.holder(of: "one").compact()

      #expect(try shared.parts.sections[two].sealed == parts.sections[two].sealed)
      #expect(try Vault.refusal(at: shared.path, .key(.sample())) == .tampered)
      #expect(try Vault.refusal(at: shared.path, shared.credential(of: "default")) == nil)
    }
  }

  @Test(arguments: Fold.allCases)
  func `row J15: an owner's full write over entries of three groups raises every floor`(fold: Fold) throws {
    try SharedVault.with(groups: ["default", "one", "two", "quiet"]) { shared in
      try Self.interleave(shared)
      let (before, quiet) = try (shared.parts, shared.position(of: "quiet"))
      let (contents, generation) = try (shared.owner.contents(), shared.loaded.snapshot.generation)

      try fold.run(shared.owner, in: "one")

      let (after, state) = try (shared.parts, shared.loaded)
      #expect(after.entries.isEmpty)
      #expect(state.snapshot.generation == generation + 1)
      for index in 0..<4 {
        #expect((after.sections[index].sealed == before.sections[index].sealed) == (index == quiet))
        let floor = try #require(state.manifest?.groups[index])
        #expect(floor.floorTag == after.sections[index].tag)
        let content = try state.content(state.groups[index].id)
        #expect(floor.floorGeneration == content.generation)
        #expect(content.baseGeneration == (index == quiet ? 1 : generation + 1))
        #expect(content.baseTag == .zero)
      }
      let generations = try shared.owner.status().groups.map { ($0.name.text, $0.generation) }
      let byName = Dictionary(uniqueKeysWithValues: generations)
      #expect(byName == ["default": 5, "one": 5, "two": 4, "quiet": 1])
      var found = try Vault.opened(at: shared.path).contents()
      if fold == .change { found["one"]?.removeAll { $0.key.text == "long" } }
      #expect(found == contents)
    }
  }

  @Test func `row J15: a holder's section without entries is taken over byte for byte, as its group's floor`() throws {
    try SharedVault.with { shared in
      let holder = try shared.holder(of: "one")
      try holder.set("entry", forKey: "user", in: "one")
      try holder.compact()
      let (before, one) = try (shared.parts, shared.position(of: "one"))

      try shared.owner.createGroup("new")

      let state = try shared.loaded
      let position = try shared.position(of: "one")
      #expect(try shared.parts.sections[position].sealed == before.sections[one].sealed)
      #expect(state.manifest?.groups[position].floorGeneration == 3)
      #expect(state.manifest?.groups[position].floorTag == before.sections[one].tag)
      try holder.set("after", forKey: "user", in: "one")
      #expect(try shared.owner.text("user", in: "one") == "after")
    }
  }

  @Test func `row 24: an older fold on the same owner write is accepted, and refused after the next one`() throws {
    try SharedVault.with { shared in
      let (holder, one) = try (shared.holder(of: "one"), shared.position(of: "one"))
      try holder.set("first", forKey: "user", in: "one")
      try holder.compact()
      let first = try shared.parts.sections[one]
      try holder.set("second", forKey: "user", in: "one")
      try holder.compact()
      #expect(try Vault.opened(at: shared.path).text("user", in: "one") == "second")

      var parts = try shared.parts
      parts.sections[one] = first
      #expect(try SampleFiles.refusal(opening: parts.file) == nil)
      try SampleFiles.with(parts.file) { vault, _ throws in #expect(try vault.text("user", in: "one") == "first") }

      try shared.owner.compact()
      parts = try shared.parts
      parts.sections[one] = first
      #expect(try SampleFiles.refusal(opening: parts.file) == .tampered)
    }
  }

  @Test func `row 24: a holder's fold of before a rotation is refused after it`() throws {
    try SharedVault.with { shared in
      let (holder, one) = try (shared.holder(of: "one"), shared.position(of: "one"))
      try holder.compact()
      let old = try shared.parts.sections[one]
      try shared.owner.rotate(shared.owner.group(named: "one"))

      var parts = try shared.parts
      parts.sections[one].sealed = old.sealed
      #expect(try SampleFiles.refusal(opening: parts.file) == .tampered)
      parts.sections[one].epoch = 1
      #expect(try SampleFiles.refusal(opening: parts.file) == .tampered)
    }
  }

  // MARK: Compaction

  @Test func `an owner's compaction changes no record, value or revision`() throws {
    try SharedVault.with { shared in
      try Self.interleave(shared)
      try shared.owner.remove("key-2", in: "one")
      let contents = try shared.owner.contents()

      try shared.owner.compact()

      #expect(try shared.owner.contents() == contents)
      #expect(try Vault.opened(at: shared.path).contents() == contents)
      #expect(try shared.owner.status().entryCount == 0)
      #expect(try shared.hasReserve(64))
    }
  }

  @Test func `removed and replaced values occur nowhere in the file after an owner's compaction`() throws {
    try SharedVault.with { shared in
      try Self.interleave(shared)
      try shared.owner.set("new", forKey: "password", in: "two")
      try shared.owner.remove("password", in: "one")
      let before = try shared.parts

      try shared.owner.compact()

      let file = try shared.bytes
      for entry in before.entries { #expect(!file.contains(bytes: Array(entry[24..<96]))) }
      for section in before.sections { #expect(!file.contains(bytes: Array(section.sealed[..<72]))) }
    }
  }

  @Test func `a holder's compaction removes its own old entries and section from the file`() throws {
    try SharedVault.with { shared in
      try Self.interleave(shared)
      let holder = try shared.holder(of: "one")
      try holder.remove("password", in: "one")
      let (before, one) = try (shared.parts, shared.position(of: "one"))
      let contents = try holder.contents()

      try holder.compact()

      let file = try shared.bytes
      for entry in before.entries {
        let isOwn = entry[8..<24] == before.sections[one].id[...]
        #expect(file.contains(bytes: Array(entry[24..<96])) != isOwn)
      }
      #expect(!file.contains(bytes: Array(before.sections[one].sealed[..<72])))
      #expect(try holder.contents() == contents)
      #expect(try shared.holder(of: "one").contents() == contents)
    }
  }

  @Test(arguments: ["owner", "holder"])
  func `a compaction without anything to fold is accepted`(who: String) throws {
    try SharedVault.with { shared in
      let vault = who == "owner" ? shared.owner : try shared.holder(of: "one")
      let contents = try vault.contents()
      for _ in 0..<3 { try vault.compact() }

      #expect(try vault.contents() == contents)
      #expect(try Vault.opened(at: shared.path).status().groups.count == 3)
    }
  }

  @Test(.filesOnly("only a file has a torn tail"), arguments: ["owner", "holder"])
  func `a compaction removes a torn tail`(who: String) throws {
    try SharedVault.with { shared in
      try Self.interleave(shared)
      var parts = try shared.parts
      // Cut within the last entry, which is of `default`.
      let last = parts.entries.removeLast()
      parts.reserve = Array(last[..<200])
      try VaultBytes.write(parts.file, to: shared.path)
      let vault = who == "owner" ? try Vault.opened(at: shared.path) : try shared.holder(of: "one")
      #expect(try vault.status().hasTornTail)

      try vault.compact()

      #expect(try !vault.status().hasTornTail)
      #expect(try !shared.bytes.contains(bytes: Array(last[24..<96])))
      #expect(try Vault.opened(at: shared.path).allKeys() == ["key-1", "key-3", "password"])
    }
  }
}
