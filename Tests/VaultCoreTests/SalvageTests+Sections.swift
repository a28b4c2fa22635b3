import Foundation
import Glibc
import Testing
import VaultSealing

@testable import VaultCore

/// Sections that are damaged, older, hidden or cut.
extension SalvageTests {
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

  @Test func `a damaged nonce of a section loses the section's records, and not those of entries`() throws {
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

  @Test func `without a manifest an older section put back is neither current nor verified`() throws {
    try SharedVault.with { shared in
      try shared.owner.set("older", forKey: "user", in: "one")
      try shared.owner.compact()
      let (older, one) = try (shared.parts, shared.position(of: "one"))
      try shared.owner.set("newer", forKey: "user", in: "one")
      try shared.owner.compact()
      var parts = try shared.parts
      parts.sections[one] = older.sections[one]
      parts.manifest[parts.manifest.count - 1] ^= 1
      try FileBytes.write(parts.file, to: shared.path + ".old")
      #expect(refusal { try Vault.opened(at: shared.path + ".old") } == .tampered)

      let report = try Vault.salvage(
        at: shared.path + ".old", credential: .key(.sample()), to: shared.path + ".new")

      #expect(report.groups.allSatisfy { !$0.isCurrent && !$0.isVerified })
      let vault = try Vault.opened(at: shared.path + ".new")
      #expect(try vault.text("user", in: "one") == "older")
      let marks = try vault.records(in: vault.group(named: "one")).flatMap(\.attributes).map(\.data)
      #expect(Set(marks) == [Array("unverified, perhaps old".utf8)])
    }
  }

  @Test func `a group that an owner removed is not verified when its section is put back`() throws {
    try SharedVault.with { shared in
      let (before, one) = try (shared.parts, shared.position(of: "one"))
      try shared.owner.removeGroup(shared.owner.group(named: "one"))
      var parts = try shared.parts
      parts.sections.insert(before.sections[one], at: one)
      try FileBytes.write(parts.file, to: shared.path + ".old")

      let report = try Vault.salvage(
        at: shared.path + ".old", credential: .key(.sample()), to: shared.path + ".new")

      #expect(report.groups.first { $0.name.text == "one" }?.isVerified != true)
    }
  }

  @Test func `without the manifest a forged name does not take a verified group's place`() throws {
    try SalvageSample.with { sample in
      var file = sample.file.flipping(bit: 0, at: sample.manifest.upperBound - 1)
      // Behind generation, base and the name's length.
      let name = try sample.section(of: "one").sealed.lowerBound + 72 + 50
      for (index, byte) in zip("one".utf8, "two".utf8).map({ $0 ^ $1 }).enumerated() { file[name + index] ^= byte }

      let salvaged = try sample.salvage(file)

      #expect(!salvaged.report.hasManifest)
      let id = try sample.original.group(named: "one").id
      #expect(salvaged.report.groups.map(\.name.text).sorted() == ["default", "salvaged \(id)", "two"])
      sample.expectWhole(["default", "two"], in: salvaged)
    }
  }

  @Test func `a holder that took another group's name does not keep other groups from being saved`() throws {
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
  func `a holder that used up the generations spoils only its own group`(verifies: Bool) throws {
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

  /// Salvages the sample with one more entry, in which `change` gives the record "user" a kept value that does not
  /// open.
  private func salvage(
    _ sample: SalvageSample, _ change: (_ record: inout RecordDraft, _ kept: [UInt8]) -> Void
  ) throws -> SalvageSample.Salvaged {
    let holder = try KeyHolder(sample.file, group: sample.position(of: "one"))
    let next = holder.content.generation + 1
    var record = RecordDraft("user", revision: next)
    // Sealed as a value, which is not what a kept one is sealed as.
    let sealed = try holder.value([1], service: record.service, key: record.key, kind: 1, class: 0)
    change(&record, extensionItem(5, PreviousValue.item(revision: 1, modified: 0, kind: 1, sealed: sealed)))
    var draft = EntryDraft(generation: next)
    draft.changes = [.put(record)]
    var parts = try Parts(sample.file)
    parts.entries.append(try holder.entry(draft))
    return try sample.salvage(parts.file)
  }

  @Test func `only a kept value that does not open is dropped, and it is counted`() throws {
    try SalvageSample.with { sample in
      let salvaged = try salvage(sample) { $0.extensionField = $1 + extensionItem(6, [2, 0]) }

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

  @Test func `a removed record whose values are all lost is dropped, and they are counted`() throws {
    try SalvageSample.with { sample in
      let salvaged = try salvage(sample) { record, kept in
        record.kind = ValueKind.data.rawValue
        record.value = []
        record.extensionField = kept + extensionItem(7, Removal(removed: 0, keptUntil: .max).item.data)
      }

      let group = try #require(salvaged.report.groups.first { $0.name.text == "one" })
      #expect(group.lostValueCount == 1)
      let removed = try salvaged.vault.removedRecords(in: salvaged.vault.group(named: "one"))
      #expect(!removed.contains { $0.key.text == "user" })
      #expect(try salvaged.vault.text("user", in: "one") == nil)
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
}
