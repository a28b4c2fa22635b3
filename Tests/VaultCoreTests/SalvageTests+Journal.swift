import Foundation
import Glibc
import Testing
import VaultSealing

@testable import VaultCore

/// Entries, files that end early, holders and devices.
extension SalvageTests {
  @Test func `a damaged entry in the middle stops its group there, and other groups are read on`() throws {
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

  @Test func `a torn tail is no loss that is known, and is reported`() throws {
    try SalvageSample.with { sample in
      let last = try #require(sample.entryRanges.last)
      let name = try sample.group(ofEntry: sample.entryRanges.count - 1)
      for kept in [24, 100, 200] {
        let torn = Array(sample.file[..<(last.lowerBound + kept)])
        for file in [torn, torn + [UInt8](repeating: 0, count: last.count + 64 - kept)] {
          let salvaged = try sample.salvage(file)

          #expect(salvaged.report.groups.allSatisfy { $0.isVerified && $0.lostEntryCount == 0 })
          #expect(salvaged.report.tornTail != nil)
          sample.expectWhole(sample.names.filter { $0 != name }, in: salvaged)
          try FileBytes.write(file, to: sample.directory + "/torn.spv")
          let before = try Vault.open(
            at: sample.directory + "/torn.spv", credential: .key(.sample()), options: sample.options)
          #expect(try salvaged.contents == before.contents())
        }
      }
    }
  }

  @Test func `row J27: zeros over the heads of entries are reported as a broken end`() throws {
    try TemporaryDirectory.with { directory in
      var file = try SampleFiles.journal(5)
      let entries = try Parts(file).entries.map(\.count)
      let start = try Parts(file).snapshotCount
      let starts = entries.indices.map { start + entries[..<$0].reduce(0, +) }
      let range = starts[3] - 8..<starts[4] + 32
      file.replaceSubrange(range, with: repeatElement(0, count: range.count))
      try FileBytes.write(file, to: directory + "/old.spv")

      let report = try Vault.salvage(
        at: directory + "/old.spv", credential: .key(.sample()), to: directory + "/new.spv")

      let torn = try #require(report.tornTail)
      #expect(torn.isSeveralEntries)
      #expect(try #require(torn.entryLimit) >= 3)
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
        #expect(access(new, F_OK) != 0 && leavesNothing(beside: new))
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

  @Test func `a passphrase opens what it salvaged`() throws {
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
}
