import Foundation
import Glibc
import Testing
import VaultSealing

@testable import VaultCore

/// What can be saved from a vault that does not open (`Docs/Format.md` section 4): never a wrong value, and of what is
/// not damaged everything.
@Suite struct SalvageTests {
  // MARK: Undamaged

  @Test func `an undamaged vault is salvaged whole, one owner write later`() throws {
    try SalvageSample.with { sample in
      let salvaged = try sample.salvage(sample.file)

      #expect(salvaged.report.hasManifest)
      #expect(salvaged.report.lostGroups.isEmpty)
      #expect(salvaged.report.slotCount == 4)
      sample.expectWhole(sample.names, in: salvaged)
      let status = try salvaged.vault.status()
      let before = try sample.original.status()
      #expect(status.vaultID == before.vaultID)
      #expect(status.generation == before.generation + 1)
      #expect(status.entryCount == 0)
      #expect(status.groups.map(\.epoch) == before.groups.map(\.epoch))
      #expect(status.groups.map(\.generation) == before.groups.map { $0.generation + 1 })
      #expect(try salvaged.vault.slots().map(\.label) == ["owner", "default", "one", "two"])
      #expect(try salvaged.vault.slots().map(\.created) == sample.original.slots().map(\.created))
    }
  }

  @Test func `slots of groups go on, and what an owner keeps of them`() throws {
    try SalvageSample.with { sample in
      let salvaged = try sample.salvage(sample.file)
      for name in sample.names {
        #expect(try sample.holder(of: name, at: salvaged.path).contents() == [name: sample.contents[name]])
      }

      try salvaged.vault.rotateVault()

      for name in sample.names { try sample.holder(of: name, at: salvaged.path).set("v", forKey: "user", in: name) }
      #expect(try salvaged.vault.text("user", in: "two") == "v")
    }
  }

  @Test func `the new vault is a file of its own, and the old one is not changed`() throws {
    try SalvageSample.with { sample in
      let (old, new) = (sample.directory + "/old.spv", sample.directory + "/new/new.spv")
      try FileBytes.write(sample.file.flipping(bit: 0, at: 700), to: old)
      let before = try FileBytes.read(old)

      let report = try Vault.salvage(at: old, credential: .key(.sample()), to: new, options: sample.options)

      #expect(report.groups.map(\.recordCount).reduce(0, +) > 0)
      #expect(try FileBytes.read(old) == before)
      #expect(try mode(of: new) == 0o600)
      #expect(access(new + ".tmp", F_OK) != 0)
      let vault = try Vault.open(at: new, credential: .key(.sample()), options: sample.options)
      try vault.set("new", forKey: "user")
      #expect(try vault.verify().status.isOwner)
    }
  }

  @Test func `something at the destination already exists, and both files stay`() throws {
    try SalvageSample.with { sample in
      let (old, new) = (sample.directory + "/old.spv", sample.directory + "/new.spv")
      try FileBytes.write(sample.file, to: old)
      for bytes in [[], [1, 2, 3], sample.file] as [[UInt8]] {
        try FileBytes.write(bytes, to: new)
        for path in [new, old] {
          try expectRefused(.alreadyExists, at: path) {
            try Vault.salvage(at: old, credential: .key(.sample()), to: path, options: sample.options)
          }
        }
        #expect(try FileBytes.read(old) == sample.file)
      }
    }
  }

  @Test func `a wrong credential, a missing file and one that is too short leave no file behind`() throws {
    try SalvageSample.with { sample in
      let (old, new) = (sample.directory + "/old.spv", sample.directory + "/new.spv")
      func salvage(_ credential: Credential) -> VaultError.Code? {
        refusal { try Vault.salvage(at: old, credential: credential, to: new, options: sample.options) }
      }
      #expect(try salvage(.key(.sample())) == .notFound)
      try FileBytes.write(sample.file, to: old)
      #expect(try salvage(.key(.sample(from: 1))) == .credentialRejected)
      #expect(try salvage(.passphrase("no slot is opened by one")) == .credentialRejected)
      for length in [0, 8, 56, 223] {
        try FileBytes.write(Array(sample.file[..<length]), to: old)
        #expect(try salvage(.key(.sample())) == .damaged)
      }
      let files = try FileManager.default.contentsOfDirectory(atPath: sample.directory)
      #expect(files.sorted() == ["old.spv", "vault.spv"])
    }
  }

  // MARK: The head

  @Test func `a wrong checksum alone costs nothing`() throws {
    try SalvageSample.with { sample in
      let salvaged = try sample.salvage(sample.file.flipping(bit: 0, at: sample.snapshotCount - 1))

      #expect(salvaged.report.hasManifest)
      sample.expectWhole(sample.names, in: salvaged)
    }
  }

  /// A field of the header, and what may have become of it.
  struct Field: Sendable, CustomTestStringConvertible {
    let name: String
    let offset: Int
    let count: Int
    let values: [UInt64]
    var testDescription: String { name }
  }

  static let fields = [
    Field(name: "magic", offset: 0, count: 8, values: [0, .max]),
    Field(name: "version", offset: 8, count: 2, values: [0, 2, 0xFFFF]),
    Field(name: "flags", offset: 10, count: 2, values: [1, 0xFFFF]),
    Field(name: "n_slots", offset: 12, count: 2, values: [0, 1, 3, 5, 6, 64, 65, 0xFFFF]),
    Field(name: "n_groups", offset: 14, count: 2, values: [0, 1, 2, 4, 1024, 1025, 0xFFFF]),
    Field(name: "vault_generation", offset: 32, count: 8, values: [0, 1, 1 << 40, 1 << 63, .max]),
    Field(name: "manifest_len", offset: 40, count: 8, values: [0, 8, 1096, 1097, 2120, 1 << 20, 1 << 63, .max]),
    Field(name: "snapshot_len", offset: 48, count: 8, values: [0, 88, 2000, 1 << 20, 1 << 63, .max]),
  ]

  @Test(arguments: fields)
  func `a damaged field of the header costs no record, no entry and no slot`(field: Field) throws {
    try SalvageSample.with { sample in
      for value in field.values {
        var file = sample.file
        for index in 0..<field.count { file[field.offset + index] = UInt8(truncatingIfNeeded: value >> (8 * index)) }
        guard file != sample.file else { continue }

        let salvaged = try sample.salvage(file)

        sample.expectWhole(sample.names, in: salvaged, "\(field.name) = \(value)")
        #expect(salvaged.report.lostGroups.isEmpty)
        #expect(salvaged.report.slotCount == 4)
        #expect(salvaged.report.hasManifest == (field.name == "snapshot_len"))
        #expect(try sample.holder(of: "one", at: salvaged.path).contents()["one"] == sample.contents["one"])
      }
    }
  }

  @Test func `a wrong length of the snapshot hides no entry`() throws {
    try SalvageSample.with { sample in
      var lengths = sample.entryRanges.flatMap { [$0.lowerBound, $0.upperBound, $0.lowerBound + 8, $0.lowerBound + 1] }
      lengths += [sample.file.count, sample.snapshotCount + 1, sample.snapshotCount - 8, sample.snapshotCount + 8]
      for length in lengths {
        var file = sample.file
        file.store(UInt64(length), at: 48)

        sample.expectWhole(sample.names, in: try sample.salvage(file), "snapshot_len = \(length)")
      }
    }
  }

  @Test func `a damaged vault id opens nothing`() throws {
    try SalvageSample.with { sample in
      for offset in 16..<32 {
        #expect(refusal { try sample.salvage(sample.file.flipping(bit: 5, at: offset)) } == .credentialRejected)
      }
    }
  }

  // MARK: Slots and manifest

  @Test func `a damaged manifest costs labels and kept keys, and names come from the sections`() throws {
    try SalvageSample.with { sample in
      for offset in stride(from: sample.manifest.lowerBound, to: sample.manifest.upperBound, by: 97) {
        // The entries are bound to the manifest's tag.
        guard !(sample.manifest.lowerBound + 24..<sample.manifest.lowerBound + 56).contains(offset) else { continue }

        let salvaged = try sample.salvage(sample.file.flipping(bit: 2, at: offset))

        #expect(!salvaged.report.hasManifest)
        #expect(salvaged.report.slotCount == 4)
        sample.expectWhole(sample.names, in: salvaged, "offset \(offset)")
        #expect(try salvaged.vault.slots().map(\.label) == ["", "", "", ""])
      }
    }
  }

  @Test func `without the manifest groups' holders go on until their group is rotated`() throws {
    try SalvageSample.with { sample in
      let salvaged = try sample.salvage(sample.file.flipping(bit: 2, at: sample.manifest.upperBound - 1))
      try sample.holder(of: "one", at: salvaged.path).set("v", forKey: "user", in: "one")

      let report = try salvaged.vault.rotate(salvaged.vault.group(named: "one"))

      #expect(report.droppedSlots.count == 1)
      #expect(refusal { try sample.holder(of: "one", at: salvaged.path) } == .credentialRejected)
      #expect(try salvaged.vault.text("user", in: "one") == "v")
    }
  }

  @Test func `a damaged tag of the manifest costs the entries, and says so`() throws {
    try SalvageSample.with { sample in
      let salvaged = try sample.salvage(sample.file.flipping(bit: 2, at: sample.manifest.lowerBound + 30))

      for group in salvaged.report.groups {
        #expect(group.lostEntryCount == 3)
        #expect(!group.isVerified)
        sample.expectPart(of: group.name.text, in: salvaged, losing: 1)
      }
    }
  }

  @Test(arguments: [0, 1, 4, 8, 20, 30, 45, 60, 64, 90, 100, 167])
  func `a damaged slot costs that slot, and the others open`(offset: Int) throws {
    try SalvageSample.with { sample in
      // The third slot is the holder's of `one`.
      let file = sample.file.flipping(bit: 6, at: 56 + 2 * 168 + offset)

      let salvaged = try sample.salvage(file)

      sample.expectWhole(sample.names, in: salvaged)
      #expect(!salvaged.report.hasManifest)
      #expect(try sample.holder(of: "two", at: salvaged.path).contents()["two"] == sample.contents["two"])
      #expect(refusal { try sample.holder(of: "one", at: salvaged.path) } == .credentialRejected)
      #expect(refusal { try sample.salvage(file, as: "one") } == .credentialRejected)
      #expect(try sample.salvage(file, as: "two").contents == ["two": sample.contents["two"]])
    }
  }

  @Test func `another owner's slot opens where one is damaged`() throws {
    try TemporaryDirectory.with { directory in
      let path = directory + "/vault.spv"
      let vault = try Vault.sample(at: path)
      try vault.addSlot(NewSlot(.passphrase("second"), cost: .throwaway))
      try FileBytes.write(FileBytes.read(path).flipping(bit: 0, at: 56 + 80), to: path)
      let new = directory + "/new.spv"

      #expect(refusal { try Vault.salvage(at: path, credential: .key(.sample()), to: new) } == .credentialRejected)
      _ = try Vault.salvage(at: path, credential: .passphrase("second"), to: new)

      #expect(try Vault.open(at: new, credential: .passphrase("second")).contents() == vault.contents())
    }
  }

  @Test func `a slot of a later kind goes on where the manifest vouches for it`() throws {
    try SalvageSample.with { sample in
      var unknown = [UInt8](repeating: 0x5A, count: 168)
      (unknown[0], unknown[1], unknown[2], unknown[3]) = (9, 0, 0, 0)
      let file = try KeyHolder.adding(unknown, to: SampleFiles.snapshot())
      try FileBytes.write(file.flipping(bit: 1, at: file.count - 65), to: sample.directory + "/old.spv")
      let new = sample.directory + "/new.spv"

      let report = try Vault.salvage(at: sample.directory + "/old.spv", credential: .key(.sample()), to: new)

      #expect(report.slotCount == 2)
      #expect(try Parts(FileBytes.read(new)).slots[1] == unknown)
      #expect(try Vault.opened(at: new).slots()[1].label == "unknown")
    }
  }

  // MARK: Sections

  @Test(arguments: ["default", "one", "two"])
  func `a byte of a section costs at most the record it is in, and of other groups nothing`(name: String) throws {
    try SalvageSample.with { sample in
      let sealed = try sample.section(of: name).sealed
      // Nonce and tag have tests of their own.
      for offset in stride(from: sealed.lowerBound + 56, to: sealed.upperBound, by: 11) {
        let salvaged = try sample.salvage(sample.file.flipping(bit: offset % 8, at: offset))

        sample.expectWhole(sample.names.filter { $0 != name }, in: salvaged, "offset \(offset)")
        sample.expectPart(of: name, in: salvaged, losing: 1, "offset \(offset)")
        #expect(salvaged.report.hasManifest)
        #expect(salvaged.report.lostGroups.isEmpty)
        #expect(try salvaged.vault.verify().deviceValues == 0)
      }
    }
  }

  @Test func `a damaged tag of a section costs no record`() throws {
    try SalvageSample.with { sample in
      let sealed = try sample.section(of: "one").sealed
      for offset in stride(from: sealed.lowerBound + 24, to: sealed.lowerBound + 56, by: 5) {
        let salvaged = try sample.salvage(sample.file.flipping(bit: 1, at: offset))

        sample.expectWhole(["default", "two"], in: salvaged)
        // The manifest knows the tag that the entries are chained to.
        sample.expectPart(of: "one", in: salvaged, losing: 0)
      }
    }
  }

  @Test func `a damaged nonce of a section costs what stands in it, and not what stands in entries`() throws {
    try SalvageSample.with { sample in
      let sealed = try sample.section(of: "one").sealed
      for offset in [0, 11, 23] {
        let salvaged = try sample.salvage(sample.file.flipping(bit: 1, at: sealed.lowerBound + offset))

        sample.expectWhole(["default", "two"], in: salvaged)
        #expect(salvaged.contents["one"]?.map(\.key.text) == ["entry", "history"])
        sample.expectPart(of: "one", in: salvaged, losing: 99)
      }
    }
  }

  @Test func `a section of which nothing is left is reported as lost, and the others are saved`() throws {
    try SalvageSample.with { sample in
      let sealed = try sample.section(of: "one").sealed
      var file = sample.file
      for range in [sealed] + sample.entryRanges {
        for offset in range.lowerBound..<range.upperBound { file[offset] = 0xA5 }
      }

      let salvaged = try sample.salvage(file)

      #expect(salvaged.report.lostGroups == ["one"])
      #expect(salvaged.report.groups.map(\.name.text).sorted() == ["default", "two"])
      #expect(salvaged.report.slotCount == 3)
      #expect(refusal { try sample.holder(of: "one", at: salvaged.path) } == .credentialRejected)
      try salvaged.vault.createGroup("one")
    }
  }

  // Of id, epoch, zero and length.
  @Test(arguments: ["default", "one", "two"], [0, 5, 15, 16, 17, 19, 20, 23, 24, 29, 31])
  func `the head of a section that is not right costs that group alone, and it is reported`(
    name: String, offset: Int
  ) throws {
    try SalvageSample.with { sample in
      let head = try sample.section(of: name).range.lowerBound

      let salvaged = try sample.salvage(sample.file.flipping(bit: 7, at: head + offset))

      sample.expectWhole(sample.names.filter { $0 != name }, in: salvaged)
      sample.expectWholeOrPart(of: name, in: salvaged)
      let isSaved = salvaged.report.groups.contains { $0.name.text == name }
      #expect(salvaged.report.lostGroups == (isSaved ? [] : [name]))
    }
  }

  @Test func `a wrong length of a section takes no other along`() throws {
    try SalvageSample.with { sample in
      for name in sample.names {
        let section = try sample.section(of: name)
        let right = section.sealed.count
        for count in [1096, right - 8, right + 8, right + 1024, right + 4096, right + 8192, 1 << 20, 1 << 30, 1 << 40] {
          var file = sample.file
          file.store(UInt64(count), at: section.range.lowerBound + 24)

          let salvaged = try sample.salvage(file)

          sample.expectWhole(sample.names.filter { $0 != name }, in: salvaged, "\(name): \(count)")
          sample.expectWholeOrPart(of: name, in: salvaged, "\(name): \(count)")
        }
      }
    }
  }

  @Test func `what looks like a section behind the entries hides none of them`() throws {
    try SalvageSample.with { sample in
      var head = ByteWriter()
      head.raw([UInt8](repeating: 0x77, count: 16))
      head.integer(UInt32(1))
      head.integer(UInt32(0))
      head.integer(UInt64(1096))
      for gap in [0, 8, 400] {
        let file =
          Array(sample.file[..<sample.journalEnd]) + [UInt8](repeating: 0, count: gap) + head.bytes
          + [UInt8](repeating: 0xA5, count: 1096)

        let salvaged = try sample.salvage(file)

        #expect(salvaged.report.hasManifest)
        sample.expectWhole(sample.names, in: salvaged)
      }
    }
  }

  @Test func `kept values, labels and revisions of records that were not touched are as they were`() throws {
    try SalvageSample.with { sample in
      // In the padding at the end: no record is touched.
      let file = sample.file.flipping(bit: 0, at: try sample.section(of: "one").sealed.upperBound - 1)
      for manifest in [false, true] {
        let file = manifest ? file : file.flipping(bit: 0, at: sample.manifest.upperBound - 1)

        let salvaged = try sample.salvage(file)

        #expect(salvaged.report.hasManifest == manifest)
        let expected = try #require(sample.contents["one"])
        let found = try #require(salvaged.contents["one"])
        #expect(found.map(\.previous) == expected.map(\.previous))
        #expect(found.map(\.revision) == expected.map(\.revision))
        #expect(found.map(\.created) == expected.map(\.created))
        #expect(found.map(\.extensionItemsWithoutMark) == expected.map(\.extensionItems))
      }
    }
  }

  @Test func `an older section put back is not called verified where the manifest knows better`() throws {
    try SharedVault.with { shared in
      try shared.owner.set("older", forKey: "user", in: "one")
      try shared.owner.compact()
      let (older, one) = try (shared.parts, shared.position(of: "one"))
      for rotates in [false, true] {
        try shared.owner.set("newer", forKey: "user", in: "one")
        try shared.owner.compact()
        if rotates { try shared.owner.rotate(shared.owner.group(named: "one")) }
        let epoch = try shared.epoch(of: "one")
        var parts = try shared.parts
        parts.sections[one] = older.sections[one]
        try FileBytes.write(parts.file, to: shared.path + ".old")
        let new = shared.path + ".new\(rotates)"

        let report = try Vault.salvage(at: shared.path + ".old", credential: .key(.sample()), to: new)

        #expect(report.hasManifest)
        #expect(report.groups.first { $0.name.text == "one" }?.isVerified == false)
        #expect(report.groups.filter(\.isVerified).count == 2)
        let vault = try Vault.opened(at: new)
        #expect(try vault.records(in: vault.group(named: "one")).allSatisfy(\.isMarked))
        // A key that was rotated away does not come back.
        let found = try #require(try vault.status().groups.first { $0.name.text == "one" })
        #expect(rotates ? found.epoch > epoch : found.epoch == epoch)
      }
    }
  }

  @Test func `a name that nobody vouches for does not take a verified group's place`() throws {
    try SalvageSample.with { sample in
      var file = sample.file.flipping(bit: 0, at: sample.manifest.upperBound - 1)
      // Behind generation, base and the name's length.
      let name = try sample.section(of: "one").sealed.lowerBound + 72 + 50
      for (index, byte) in zip("one".utf8, "two".utf8).map({ $0 ^ $1 }).enumerated() { file[name + index] ^= byte }

      let salvaged = try sample.salvage(file)

      #expect(!salvaged.report.hasManifest)
      #expect(salvaged.contents["two"] == sample.contents["two"])
      let id = try sample.original.group(named: "one").id
      #expect(salvaged.report.groups.map(\.name.text).sorted() == ["default", "salvaged \(id)", "two"])
      sample.expectWhole(["default", "two"], in: salvaged)
    }
  }

  @Test func `a holder who took another group's name keeps nobody from being saved`() throws {
    try SalvageSample.with { sample in
      let position = try sample.position(of: "one")
      var parts = try Parts(sample.file)
      let holder = try KeyHolder(sample.file, group: position)
      parts.entries.removeAll { Array($0[8..<24]) == holder.group.bytes }
      parts.sections[position].sealed = try holder.section(SectionDraft(name: Array("two".utf8)))
      for hasManifest in [true, false] {
        let damaged = hasManifest ? parts.snapshotCount : sample.manifest.upperBound
        let salvaged = try sample.salvage(parts.file.flipping(bit: 0, at: damaged - 1))

        #expect(salvaged.report.hasManifest == hasManifest)
        sample.expectWhole(["default"], in: salvaged)
        let others = salvaged.contents.filter { $0.key != "default" }.map { $0.value.map(\.key.text) }
        let two = try #require(sample.contents["two"]).map(\.key.text)
        #expect(others.sorted { $0.count < $1.count } == [["password"], two])
        if hasManifest { sample.expectWhole(["two"], in: salvaged) }
      }
    }
  }

  @Test(arguments: [true, false])
  func `a holder who used up the generations spoils its own group alone`(verifies: Bool) throws {
    try SalvageSample.with { sample in
      var parts = try Parts(sample.file)
      let position = try sample.position(of: "one")
      let holder = try KeyHolder(sample.file, group: position)
      parts.entries.removeAll { Array($0[8..<24]) == holder.group.bytes }
      var draft = SectionDraft(generation: UInt64(Int64.max), name: Array("one".utf8))
      draft.records = [RecordDraft("user", revision: UInt64(Int64.max))]
      parts.sections[position].sealed = try holder.section(draft)
      if !verifies {
        var entry = EntryDraft(generation: UInt64(Int64.max))
        entry.changes = [.put(RecordDraft("late", revision: UInt64(Int64.max)))]
        parts.entries.append(try holder.entry(entry, behind: parts.sections[position].tag))
        parts.sections[position].sealed[60] ^= 1
      }

      let salvaged = try sample.salvage(parts.file)

      sample.expectWhole(["default", "two"], in: salvaged)
      #expect(salvaged.report.groups.first { $0.name.text == "one" }?.isVerified != true)
      try salvaged.vault.createGroup("new")
    }
  }

  @Test func `a value that alone does not open is left out and counted`() throws {
    try SalvageSample.with { sample in
      let holder = try KeyHolder(sample.file, group: sample.position(of: "one"))
      let next = holder.content.generation + 1
      var bad = RecordDraft("bad", revision: next)
      bad.sealed = try holder.value([1], service: Array("db".utf8), key: Array("other".utf8), kind: 1, class: 0)
      var draft = EntryDraft(generation: next)
      draft.changes = [.put(bad), .put(RecordDraft("good", revision: next))]
      var parts = try Parts(sample.file)
      parts.entries.append(try holder.entry(draft))

      let salvaged = try sample.salvage(parts.file)

      let group = try #require(salvaged.report.groups.first { $0.name.text == "one" })
      #expect(group.lostValueCount == 1)
      #expect(group.lostEntryCount == 0)
      #expect(!group.isVerified)
      #expect(try salvaged.vault.text("good", in: "one") == "s3cret")
      #expect(try salvaged.vault.text("bad", in: "one") == nil)
      sample.expectPart(of: "one", in: salvaged, losing: 0, besides: ["good"])
      sample.expectWhole(["default", "two"], in: salvaged)
      #expect(try salvaged.vault.verify().values == group.recordCount + salvaged.recordCount(besides: "one"))
    }
  }

  @Test func `a kept value that does not open goes alone, and is counted`() throws {
    try SalvageSample.with { sample in
      let holder = try KeyHolder(sample.file, group: sample.position(of: "one"))
      let next = holder.content.generation + 1
      var record = RecordDraft("user", revision: next)
      // Sealed as a value, which is not what a kept one is sealed as.
      let sealed = try holder.value([1], service: record.service, key: record.key, kind: 1, class: 0)
      record.extensionField =
        extensionItem(5, PreviousValue.item(revision: 1, modified: 0, kind: 1, sealed: sealed))
        + extensionItem(6, [2, 0])
      var draft = EntryDraft(generation: next)
      draft.changes = [.put(record)]
      var parts = try Parts(sample.file)
      parts.entries.append(try holder.entry(draft))

      let salvaged = try sample.salvage(parts.file)

      let group = try #require(salvaged.report.groups.first { $0.name.text == "one" })
      #expect(group.lostValueCount == 1)
      #expect(!group.isVerified)
      #expect(try salvaged.vault.text("user", in: "one") == "s3cret")
      let user = try #require(salvaged.contents["one"]?.first { $0.key.text == "user" })
      #expect(user.previous.isEmpty)
      #expect(user.extensionItems.contains { $0.tag == 6 })
      sample.expectPart(of: "one", in: salvaged, losing: 0, besides: ["user"])
      sample.expectWhole(["default", "two"], in: salvaged)
    }
  }

  @Test func `what was salvaged twice is marked once`() throws {
    try SalvageSample.with { sample in
      let offset = try sample.section(of: "one").sealed.upperBound - 1
      let once = try sample.salvage(sample.file.flipping(bit: 0, at: offset))
      let file = try FileBytes.read(once.path)
      let position = try #require(try once.vault.groups().firstIndex { $0.name.text == "one" })
      let again = try Snapshot(FileImage(file)).sections[position].sealed.upperBound - 1

      let twice = try sample.salvage(file.flipping(bit: 0, at: again))

      let group = try twice.vault.group(named: "one")
      for record in try twice.vault.records(in: group) {
        #expect(record.attributes.filter { $0.name.text == SalvageReport.attribute }.count == 1)
      }
      sample.expectPart(of: "one", in: twice, losing: 0)
    }
  }

  // MARK: Entries

  @Test func `an entry in the middle that is damaged stops its group there, and the others go on`() throws {
    try SalvageSample.with { sample in
      let entries = sample.entryRanges
      for (number, range) in entries.enumerated().dropLast() {
        let name = try sample.group(ofEntry: number)
        let behind = try entries.indices.dropFirst(number).count { try sample.group(ofEntry: $0) == name }
        for offset in [24, 60, 90, 200, range.count - 40] {
          let salvaged = try sample.salvage(sample.file.flipping(bit: 4, at: range.lowerBound + offset))

          sample.expectWhole(sample.names.filter { $0 != name }, in: salvaged, "entry \(number), offset \(offset)")
          let group = try #require(salvaged.report.groups.first { $0.name.text == name })
          #expect(group.lostEntryCount == behind, "entry \(number), offset \(offset)")
          #expect(!group.isVerified)
          #expect(try salvaged.vault.records(in: salvaged.vault.group(named: name)).allSatisfy(\.isMarked))
        }
      }
    }
  }

  @Test func `what entries in front of a damaged one did is kept`() throws {
    try TemporaryDirectory.with { directory in
      let file = try SampleFiles.journal(5)
      let entries = try Parts(file).entries.map(\.count)
      let start = try Parts(file).snapshotCount
      for damaged in 0..<4 {
        let position = start + entries[..<damaged].reduce(0, +) + 100
        try FileBytes.write(file.flipping(bit: 0, at: position), to: directory + "/old.spv")
        let new = directory + "/new\(damaged).spv"

        let report = try Vault.salvage(at: directory + "/old.spv", credential: .key(.sample()), to: new)

        #expect(report.groups[0].lostEntryCount == 5 - damaged)
        #expect(try Vault.opened(at: new).allKeys() == (0..<damaged).map { "key-\($0)" } + ["password"])
      }
    }
  }

  @Test func `a wrong check of an entry costs nothing`() throws {
    try SalvageSample.with { sample in
      for range in sample.entryRanges {
        let salvaged = try sample.salvage(sample.file.flipping(bit: 4, at: range.upperBound - 1))
        sample.expectWhole(sample.names, in: salvaged)
      }
    }
  }

  @Test func `the head of an entry that is not right stops its group there`() throws {
    try SalvageSample.with { sample in
      let name = try sample.group(ofEntry: 0)
      for offset in [0, 3, 4, 8, 23] {
        let file = sample.file.flipping(bit: 4, at: sample.entryRanges[0].lowerBound + offset)
        let salvaged = try sample.salvage(file)

        sample.expectWhole(sample.names.filter { $0 != name }, in: salvaged, "offset \(offset)")
        let group = try #require(salvaged.report.groups.first { $0.name.text == name })
        #expect(group.lostEntryCount >= 2)
        #expect(!group.isVerified)
      }
    }
  }

  @Test func `a torn tail is no loss`() throws {
    try SalvageSample.with { sample in
      let last = try #require(sample.entryRanges.last)
      let name = try sample.group(ofEntry: sample.entryRanges.count - 1)
      for kept in [24, 100, 200] {
        let torn = Array(sample.file[..<(last.lowerBound + kept)])
        for file in [torn, torn + [UInt8](repeating: 0, count: last.count + 64 - kept)] {
          let salvaged = try sample.salvage(file)

          #expect(salvaged.report.groups.allSatisfy { $0.isVerified && $0.lostEntryCount == 0 })
          sample.expectWhole(sample.names.filter { $0 != name }, in: salvaged)
          try FileBytes.write(file, to: sample.directory + "/torn.spv")
          let before = try Vault.open(
            at: sample.directory + "/torn.spv", credential: .key(.sample()), options: sample.options)
          #expect(try salvaged.contents == before.contents())
        }
      }
    }
  }

  // MARK: Cut

  @Test func `a file that is cut gives what is in front of the cut`() throws {
    try SalvageSample.with { sample in
      let order = try sample.original.groups().map(\.name.text)
      for length in stride(from: sample.file.count, through: 224, by: -173) {
        let file = Array(sample.file[..<length])
        let salvaged: SalvageSample.Salvaged
        do { salvaged = try sample.salvage(file) } catch let error as VaultError {
          #expect(error.code == .damaged, "length \(length)")
          #expect(length < sample.sections[0].sealed.lowerBound + 400)
          continue
        }
        for (name, section) in zip(order, sample.sections) where length >= section.range.upperBound {
          sample.expectPart(of: name, in: salvaged, losing: 1, mayBeVerified: true, "length \(length)")
        }
        for (group, _) in salvaged.contents {
          sample.expectPart(of: group, in: salvaged, losing: 99, mayBeVerified: true, "length \(length)")
        }
      }
    }
  }

  @Test func `a section that is cut gives the records in front of the cut`() throws {
    try SalvageSample.with { sample in
      let last = try #require(sample.sections.last)
      let name = try #require(try sample.original.groups().last).name.text

      let salvaged = try sample.salvage(Array(sample.file[..<(last.range.upperBound - 900)]))

      #expect(salvaged.report.lostGroups.isEmpty)
      let found = try #require(salvaged.contents[name])
      #expect(found.count >= 3)
      sample.expectPart(of: name, in: salvaged, losing: 99)
    }
  }

  @Test func `a vault of which nothing is left is damaged and makes no file`() throws {
    try SalvageSample.with { sample in
      let slots = Array(sample.file[..<(56 + 4 * 168)])
      for rest in [[], [UInt8](repeating: 0, count: 4096), [UInt8](repeating: 0xA5, count: 4096)] {
        #expect(refusal { try sample.salvage(slots + rest) } == .damaged)
        try FileBytes.write(slots + rest, to: sample.directory + "/old.spv")
        let new = sample.directory + "/new.spv"
        #expect(
          refusal { try Vault.salvage(at: sample.directory + "/old.spv", credential: .key(.sample()), to: new) }
            == .damaged)
        #expect(access(new, F_OK) != 0 && access(new + ".tmp", F_OK) != 0)
      }
    }
  }

  // MARK: Holders and devices

  @Test func `a group's holder salvages its group into a vault it owns`() throws {
    try SalvageSample.with { sample in
      let salvaged = try sample.salvage(sample.file.flipping(bit: 0, at: sample.snapshotCount - 1), as: "one")

      #expect(salvaged.contents == ["one": sample.contents["one"]])
      #expect(salvaged.report.groups.map(\.isVerified) == [true])
      #expect(!salvaged.report.hasManifest)
      #expect(salvaged.report.slotCount == 1)
      #expect(try salvaged.vault.status().isOwner)
      #expect(try salvaged.vault.status().groups[0].epoch == 2)
      #expect(Vault.refusal(at: salvaged.path, .key(try .sample())) == .credentialRejected)
      try salvaged.vault.createGroup("new")
      try salvaged.vault.rotateVault()
      try salvaged.vault.addSlot(NewSlot(.key(.sample(from: 240))), granting: salvaged.vault.group(named: "one"))
      let holder = try Vault.open(at: salvaged.path, credential: .key(.sample(from: 240)), options: sample.options)
      #expect(try holder.contents() == ["one": sample.contents["one"]])
    }
  }

  @Test func `a group's holder saves what is left of its damaged section`() throws {
    try SalvageSample.with { sample in
      let sealed = try sample.section(of: "two").sealed
      for offset in stride(from: sealed.lowerBound + 56, to: sealed.upperBound, by: 151) {
        let salvaged = try sample.salvage(sample.file.flipping(bit: 0, at: offset), as: "two")

        sample.expectPart(of: "two", in: salvaged, losing: 1)
        #expect(salvaged.contents.count == 1)
      }
    }
  }

  @Test func `values of this device only open with the device's key afterwards, and with no other`() throws {
    try SalvageSample.with { sample in
      for credential in [nil, "one"] {
        let salvaged = try sample.salvage(sample.file.flipping(bit: 0, at: sample.snapshotCount - 1), as: credential)
        let opening = try credential.map { try sample.credential(of: $0) } ?? .key(.sample())
        func text(_ key: SealingKey?) throws -> String? {
          var options = Vault.Options.sample()
          options.deviceKey = key
          let vault = try Vault.open(at: salvaged.path, credential: opening, options: options)
          return try vault.text("device", in: "one")
        }

        #expect(try text(.sample(from: 0x20)) == "bound")
        #expect(refusal { try text(nil) } == .deviceKeyMissing)
        #expect(refusal { try text(.sample(from: 0x21)) } == .wrongDevice)
      }
    }
  }

  @Test func `a passphrase goes on opening what it salvaged`() throws {
    try TemporaryDirectory.with { directory in
      let vault = try Vault.create(
        at: directory + "/vault.spv", slots: [NewSlot(.passphrase("owner"), cost: .throwaway)], groups: [.sample()],
        options: .sample())
      try vault.addSlot(NewSlot(.passphrase("holder"), cost: .throwaway), granting: vault.group())
      let file = try FileBytes.read(directory + "/vault.spv")
      try FileBytes.write(file.flipping(bit: 0, at: file.count - 70), to: directory + "/vault.spv")

      for passphrase in ["owner", "holder"] {
        let new = directory + "/\(passphrase).spv"
        _ = try Vault.salvage(at: directory + "/vault.spv", credential: .passphrase(passphrase), to: new)

        let opened = try Vault.open(at: new, credential: .passphrase(passphrase))
        #expect(try opened.text("password") == "s3cret")
        #expect(try opened.status().isOwner)
      }
    }
  }

  // MARK: Hostile files

  @Test func `a journal full of plausible heads is answered`() throws {
    try SalvageSample.with { sample in
      let group = try sample.original.group(named: "one").id
      // Each head's length reaches to the end: to hash all of them would take hours.
      var writer = ByteWriter()
      let total = 8 << 20
      while writer.count + 24 <= total {
        writer.integer(UInt32((total - writer.count) & ~7))
        writer.integer(UInt32(0))
        writer.raw(group)
      }
      writer.zeros(total - writer.count)
      for front in [sample.snapshotCount, sample.journalEnd] {
        let salvaged = try sample.salvage(Array(sample.file[..<front]) + writer.bytes)

        #expect(salvaged.report.groups.count == 3)
        sample.expectPart(of: "one", in: salvaged, losing: 99, mayBeVerified: true)
      }
    }
  }

  @Test func `a section full of plausible records is answered`() throws {
    try SalvageSample.with { sample in
      let position = try sample.position(of: "one")
      let holder = try KeyHolder(sample.file, group: position)
      // Each value's length reaches to the end: to try all of them would take hours.
      let total = 4 << 20
      var body = try SectionDraft(name: Array("one".utf8)).body(holder)
      while body.count + 42 <= total {
        var writer = ByteWriter()
        writer.lp16([0x61])
        writer.lp16([0x62])
        writer.raw([2, 0, 0, 0])
        writer.integer(UInt64(1))
        writer.integer(UInt64(1))
        writer.integer(UInt64(1))
        writer.integer(UInt32(total - body.count - 38))
        body += writer.bytes
      }
      var parts = try Parts(sample.file)
      parts.sections[position].sealed = holder.section(
        padded: KeyHolder.padded(body, step: GroupContent.sectionStep))
      parts.sections[position].sealed[60] ^= 1
      parts.entries.removeAll { Array($0[8..<24]) == holder.group.bytes }

      let salvaged = try sample.salvage(parts.file)

      sample.expectWhole(["default", "two"], in: salvaged)
      #expect(try salvaged.vault.text("password", in: "one") == "s3cret")
    }
  }

  @Test func `many sections that are none are answered`() throws {
    try SalvageSample.with { sample in
      var writer = ByteWriter()
      for number in 1...1500 {
        writer.raw([UInt8](repeating: 0, count: 8))
        writer.integer(UInt64(number))
        writer.integer(UInt32(1))
        writer.integer(UInt32(0))
        writer.integer(UInt64(1096))
        writer.raw([UInt8](repeating: 0xA5, count: 1096))
      }
      let first = sample.sections[0].range.lowerBound
      let file = Array(sample.file[..<first]) + writer.bytes + sample.file[first...]

      // Behind so many heads nothing need be found; but nothing wrong is.
      switch refusal(of: { try sample.salvage(file) }) {
      case nil, .damaged: break
      case let code: Issue.record("\(code!)")
      }
    }
  }

  /// A vector file, and who opens it.
  struct Vector: Sendable, CustomTestStringConvertible {
    let file: String
    let attempt: VectorManifest.Attempt
    let number: Int
    var testDescription: String { "\(file), credential \(number)" }
    /// A holder's vault is of the next epoch, and there is none.
    var hasLastEpoch: Bool { file == "faults/vault-epoch-last.spv" && attempt.expect.owner == false }
  }

  static func vectors() throws -> [Vector] {
    let resources = URL(filePath: try #require(Bundle.module.resourcePath))
    return try ["", "faults/"].flatMap { directory in
      try VectorManifest(directory: resources.appending(path: "Vectors/" + directory)).vectors.flatMap { vector in
        vector.open.enumerated().map { Vector(file: directory + vector.file, attempt: $1, number: $0) }
      }
    }
  }

  @Test(arguments: try vectors())
  func `a vector is salvaged to what it holds, or refused`(vector: Vector) throws {
    try VectorFile.with(vector.file) { path in
      let secret = vector.attempt.credential
      let credential: Credential =
        if let passphrase = secret.passphrase { try .passphrase(passphrase) } else {
          try .key(text: Array((secret.key ?? "").utf8).span.bytes)
        }
      var options = Vault.Options.sample(seed: "vector")
      options.deviceKey = try .sample(from: 0x20)
      let new = path + ".new"
      let report: SalvageReport
      do throws(VaultError) {
        report = try Vault.salvage(at: path, credential: credential, to: new, options: options)
      } catch {
        let refusals: [VaultError.Code] = [.damaged, .credentialRejected, .staleCredential, .kdfRefused]
        #expect((refusals + (vector.hasLastEpoch ? [.limitExceeded] : [])).contains(error.code), "\(error)")
        #expect(vector.attempt.expect.error != nil || vector.hasLastEpoch)
        #expect(access(new, F_OK) != 0)
        return
      }
      let salvaged = try Vault.open(at: new, credential: credential, options: options)
      #expect(try salvaged.status().groups.map(\.recordCount) == report.groups.map(\.recordCount))
      // Of a torn tail salvage takes what has its seal, and a reader nothing.
      guard vector.attempt.expect.error == nil, vector.attempt.expect.tornTail == false else { return }
      let original = try Vault.open(at: path, credential: credential, options: options)
      let (expected, found) = try (original.contents(), salvaged.contents())
      #expect(found.count == expected.count)
      for group in report.groups {
        let all = try #require(expected[group.name.text])
        if group.isVerified {
          #expect(found[group.name.text] == all)
        } else {
          #expect(found[group.name.text]?.map(\.core) == all.map(\.core).filter { !$0.isRefused })
        }
      }
    }
  }

  @Test(arguments: 0..<8)
  func `whatever becomes of a file, no wrong value comes out of it`(seed: UInt64) throws {
    try SalvageSample.with { sample in
      var dice = Dice(seed: seed)
      for round in 0..<40 {
        let file = dice.mutated(sample.file)
        do {
          let salvaged = try sample.salvage(file, as: round % 5 == 4 ? "one" : nil)
          try sample.expectNothingWrong(in: salvaged, "seed \(seed), round \(round)")
        } catch let error as VaultError {
          #expect(
            [.damaged, .credentialRejected, .staleCredential].contains(error.code),
            "seed \(seed), round \(round): \(error)")
        }
      }
    }
  }
}

/// Numbers that are the same each time.
private struct Dice: RandomNumberGenerator {
  private var state: UInt64

  init(seed: UInt64) { state = seed }

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var value = state
    value = (value ^ (value >> 30)) &* 0xBF58_476D_1CE4_E5B9
    value = (value ^ (value >> 27)) &* 0x94D0_49BB_1331_11EB
    return value ^ (value >> 31)
  }

  /// What a disk, a copying program or a villain may make of a file.
  mutating func mutated(_ original: [UInt8]) -> [UInt8] {
    var file = original
    for _ in 0..<Int.random(in: 1...3, using: &self) {
      let start = Int.random(in: 0..<file.count, using: &self)
      let end = min(file.count, start + Int.random(in: 1...1500, using: &self))
      switch Int.random(in: 0..<8, using: &self) {
      case 0, 1, 2: for _ in 0..<Int.random(in: 1...8, using: &self) { flip(&file) }
      case 3: for index in start..<end { file[index] = 0 }
      case 4: for index in start..<end { file[index] = UInt8.random(in: 0...255, using: &self) }
      case 5: file.removeSubrange(start..<end)
      case 6: file.insert(contentsOf: file[start..<end], at: Int.random(in: 0...file.count, using: &self))
      default: file.removeSubrange(max(300, start)...)
      }
      if file.count < 300 { file = original }
    }
    return file
  }

  private mutating func flip(_ file: inout [UInt8]) {
    file[Int.random(in: 0..<file.count, using: &self)] ^= 1 << UInt8.random(in: 0..<8, using: &self)
  }
}

/// A vault of three groups with everything that records can have, in sections and in entries, and what is to be saved
/// of it. The raw key ``SealingKey/sample(from:)`` opens it, and each group has a holder.
private struct SalvageSample {
  let directory: String
  let file: [UInt8]
  let original: Vault
  let contents: [String: [RecordImage]]
  let sections: [Snapshot.Section]
  let manifest: Range<Int>
  let snapshotCount: Int
  let entryRanges: [Range<Int>]
  private let ids: [String: Identifier]
  private let known: [Identifier: Set<RecordImage.Core>]

  let names = ["default", "one", "two"]

  /// Options with the device's key.
  var options: Vault.Options {
    get throws {
      var options = Vault.Options.sample(seed: "salvage")
      options.deviceKey = try .sample(from: 0x20)
      return options
    }
  }

  var journalEnd: Int { entryRanges.last?.upperBound ?? snapshotCount }

  private static let made = Result { try make() }

  /// Made once, for it is many writes.
  private static func make() throws -> (file: [UInt8], known: [Identifier: Set<RecordImage.Core>]) {
    try SharedVault.with { shared in
      var options = Vault.Options.sample(seed: "sample to salvage")
      options.deviceKey = try .sample(from: 0x20)
      let vault = try Vault.opened(at: shared.path, options: options)
      var known: [Identifier: Set<RecordImage.Core>] = [:]
      func note() throws {
        for group in try vault.groups() {
          known[group.id, default: []].formUnion(
            try vault.records(in: group).map { try RecordImage($0, group, vault).core })
        }
      }
      try note()
      for name in shared.groups {
        let group = try vault.group(named: name)
        try vault.update(service: Name("db"), in: group) { batch throws(VaultError) in
          var history = RecordEdit()
          history.historyDepth = .set(2)
          try batch.set(Array("oldest \(name)".utf8), forKey: "history", .whenUnlocked, history)
          var all = RecordEdit()
          all.label = .set("label \(name)")
          all.comment = .set("comment")
          all.expiry = .set(1_900_000_000_000)
          all.attributes = .set([try .init("team", [1, 2, 3])])
          try batch.set(Array("with \(name)".utf8), forKey: "labelled", .whenUnlocked, all)
          try batch.set(Array("class 1 \(name)".utf8), forKey: "unlocked", .afterFirstUnlock)
          try batch.set(Array("bound".utf8), forKey: "device", .whenUnlockedThisDeviceOnly)
        }
        try vault.update(service: Name("web"), in: group) { batch throws(VaultError) in
          try batch.set([1], kind: .bool, forKey: "flag")
          try batch.set([UInt8](repeating: 0xD0, count: 300), forKey: "blob")
        }
        try note()
        for text in ["older", "old"] {
          try vault.set("\(text) \(name)", forKey: "history", in: name)
          try note()
        }
      }
      try vault.compact()
      for text in ["entry", "newer"] {
        for name in shared.groups {
          try vault.set("\(text) \(name)", forKey: text == "entry" ? "entry" : "history", in: name)
          try note()
        }
      }
      for name in shared.groups { try vault.remove("password", in: name) }
      return (try shared.bytes, known)
    }
  }

  static func with(_ body: (SalvageSample) throws -> Void) throws {
    let (file, known) = try made.get()
    try TemporaryDirectory.with { directory in
      try FileBytes.write(file, to: directory + "/vault.spv")
      try body(SalvageSample(file, known, in: directory))
    }
  }

  private init(_ file: [UInt8], _ known: [Identifier: Set<RecordImage.Core>], in directory: String) throws {
    (self.file, self.known, self.directory) = (file, known, directory)
    var options = Vault.Options.sample(seed: "original")
    options.deviceKey = try .sample(from: 0x20)
    original = try Vault.opened(at: directory + "/vault.spv", options: options)
    contents = try original.contents()
    ids = Dictionary(uniqueKeysWithValues: try original.groups().map { ($0.name.text, $0.id) })
    let image = FileImage(file)
    let snapshot = try Snapshot(image)
    (sections, manifest, snapshotCount) = (snapshot.sections, snapshot.manifest, snapshot.count)
    entryRanges = try JournalFrame(image.bytes, from: snapshot.count, groups: Set(sections.map(\.id))).entries
      .map(\.range)
  }

  func position(of name: String) throws -> Int {
    let id = try #require(ids[name])
    return try #require(sections.firstIndex { $0.id == id })
  }

  func section(of name: String) throws -> Snapshot.Section { sections[try position(of: name)] }

  func group(ofEntry number: Int) throws -> String {
    let id = Array(file[entryRanges[number].lowerBound + 8..<entryRanges[number].lowerBound + 24])
    return try #require(ids.first { $0.value.bytes == id }).key
  }

  func credential(of name: String) throws -> Credential {
    .key(try .sample(from: UInt8(40 * (try #require(names.firstIndex(of: name)) + 1))))
  }

  func holder(of name: String, at path: String) throws -> Vault {
    try Vault.open(at: path, credential: credential(of: name), options: options)
  }

  struct Salvaged {
    let report: SalvageReport
    let vault: Vault
    let path: String
    let contents: [String: [RecordImage]]

    func recordCount(besides name: String) -> Int {
      report.groups.filter { $0.name.text != name }.reduce(0) { $0 + $1.recordCount }
    }
  }

  /// Salvages bytes in memory, which spares the disk, and opens what came out of it: every group and value verifies.
  func salvage(_ bytes: [UInt8], as holder: String? = nil) throws -> Salvaged {
    let credential = try holder.map { try self.credential(of: $0) } ?? .key(.sample())
    let (draft, _, report) = try Salvager(FileImage(bytes), credential, options).run()
    let path = directory + "/" + UUID().uuidString
    try FileBytes.write(draft.file(), to: path)
    let vault = try Vault.open(at: path, credential: credential, options: options)
    let values = try vault.verify().values
    #expect(values == report.groups.map(\.recordCount).reduce(0, +))
    return Salvaged(report: report, vault: vault, path: path, contents: try vault.contents())
  }

  /// Expects groups to be as they were, in every respect.
  func expectWhole(
    _ names: [String], in salvaged: Salvaged, _ comment: Comment? = nil,
    sourceLocation: SourceLocation = #_sourceLocation
  ) {
    for name in names {
      let group = salvaged.report.groups.first { $0.name.text == name }
      #expect(group?.isVerified == true, comment, sourceLocation: sourceLocation)
      #expect(group?.lostEntryCount == 0, comment, sourceLocation: sourceLocation)
      #expect(group?.lostValueCount == 0, comment, sourceLocation: sourceLocation)
      #expect(salvaged.contents[name] == contents[name], comment, sourceLocation: sourceLocation)
    }
  }

  /// Expects the values of a group, or earlier ones, but for so many records; and that each says where it comes from.
  func expectPart(
    of name: String, in salvaged: Salvaged, losing allowed: Int, besides added: Set<String> = [],
    mayBeVerified: Bool = false, _ comment: Comment? = nil, sourceLocation: SourceLocation = #_sourceLocation
  ) {
    let found = (salvaged.contents[name] ?? []).filter { !added.contains($0.key.text) }
    let all = contents[name] ?? []
    for record in found {
      #expect(known(name).contains(record.core), comment, sourceLocation: sourceLocation)
    }
    let missing = all.filter { record in
      !found.contains { $0.key == record.key && $0.service == record.service }
    }
    #expect(missing.count <= allowed, comment, sourceLocation: sourceLocation)
    guard !mayBeVerified else { return }
    // A value that a later, lost write replaced or removed is there again.
    #expect(found.filter { !$0.isMarked }.isEmpty, comment, sourceLocation: sourceLocation)
    let isVerified = salvaged.report.groups.first { $0.name.text == name }?.isVerified
    #expect(isVerified != true, comment, sourceLocation: sourceLocation)
  }

  /// Expects a group whose section's length was lost: the next head may tell it.
  func expectWholeOrPart(
    of name: String, in salvaged: Salvaged, _ comment: Comment? = nil,
    sourceLocation: SourceLocation = #_sourceLocation
  ) {
    if salvaged.report.groups.contains(where: { $0.name.text == name && $0.isVerified }) {
      expectWhole([name], in: salvaged, comment, sourceLocation: sourceLocation)
    } else {
      expectPart(of: name, in: salvaged, losing: 99, comment, sourceLocation: sourceLocation)
    }
  }

  private func known(_ name: String) -> Set<RecordImage.Core> { ids[name].flatMap { known[$0] } ?? [] }

  /// Expects each value to be one that the record of that name had at some time, in its own group.
  func expectNothingWrong(in salvaged: Salvaged, _ comment: Comment) throws {
    for group in try salvaged.vault.groups() {
      let known = try #require(self.known[group.id], comment)
      for record in try salvaged.vault.records(in: group) {
        let image = try RecordImage(record, group, salvaged.vault)
        #expect(known.contains(image.core), comment)
        for previous in image.previous {
          #expect(known.contains { $0.key == image.key && $0.value == previous.value }, comment)
        }
      }
    }
  }
}

extension RecordImage {
  /// What a value's own seal vouches for.
  fileprivate struct Core: Hashable {
    let service, key: Name
    let kind, `class`: UInt8
    fileprivate let bytes: [UInt8]?

    var isRefused: Bool { bytes == nil }
    var value: Value { bytes.map { .bytes($0) } ?? .refused(.tampered) }
  }

  fileprivate var core: Core {
    var bytes: [UInt8]?
    if case .bytes(let value) = value { bytes = value }
    return Core(service: service, key: key, kind: kind, class: `class`, bytes: bytes)
  }

  fileprivate var extensionItemsWithoutMark: [Item] { extensionItems.filter { !$0.isMark } }
  fileprivate var isMarked: Bool { extensionItems.contains { $0.isMark } }
}

extension RecordImage.Item {
  fileprivate var isMark: Bool { tag == 4 && data.dropFirst(2).starts(with: Array(SalvageReport.attribute.utf8)) }
}

extension RecordInfo {
  fileprivate var isMarked: Bool { attributes.contains { $0.name.text == SalvageReport.attribute } }
}

extension Batch {
  fileprivate mutating func set(
    _ bytes: [UInt8], forKey key: String, _ accessibility: Accessibility, _ edit: RecordEdit = RecordEdit()
  ) throws(VaultError) {
    try bytes.span.bytes.withUnsafeBytes { (bytes) throws(VaultError) in
      try set(bytes, kind: .string, forKey: key, accessibility: accessibility, edit: edit)
    }
  }
}
