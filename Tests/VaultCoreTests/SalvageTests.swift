import Foundation
import Glibc
import Testing
import VaultSealing

@testable import VaultCore

/// What can be saved from a vault that does not open (`Docs/Format.md` section 4): never a wrong value, and of what is
/// not damaged everything.
struct SalvageTests {
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

  @Test func `slots of groups still open, and what an owner keeps of them`() throws {
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
      #expect(leavesNothing(beside: new))
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
      func salvage(_ credential: Vault.Credential) -> VaultError.Code? {
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
        let found = try sample.holder(of: "one", at: salvaged.path).contents()["one"]
        #expect(found?.map(\.unmarked) == sample.contents["one"])
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

  @Test func `without the manifest groups' holders keep access until their group is rotated`() throws {
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
      let found = try sample.holder(of: "two", at: salvaged.path).contents()["two"]
      #expect(found?.map(\.unmarked) == sample.contents["two"])
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

      let found = try Vault.open(at: new, credential: .passphrase("second")).contents()
      #expect(try found.mapValues { $0.map(\.unmarked) } == vault.contents())
    }
  }

  @Test func `a slot of a later kind is kept where the manifest vouches for it`() throws {
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
}
