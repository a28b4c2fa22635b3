import Foundation
import Glibc
import Testing
import VaultSealing

@testable import VaultCore

/// What importing replaces, and what it refuses.
extension EveryStorage.BundleTests {
  @Test(.filesOnly("compares files"))
  func `a bundle replaces nothing`() throws {
    try with { sample in
      try FileBytes.write([1, 2, 3], to: sample.bundle)

      try expectRefused(.alreadyExists, at: sample.bundle) { try sample.export() }
      #expect(
        refusal {
          try sample.source.exportBundle(
            [], of: sample.source.group(), to: sample.targetPath, slot: NewSlot(sample.credential))
        } == .alreadyExists)
    }
  }

  @Test func `no records make an empty bundle, and importing it writes nothing`() throws {
    try with { sample in
      try sample.export([])
      let before = try VaultBytes.read(sample.targetPath)

      #expect(try sample.opened().records(in: sample.opened().group()).isEmpty)
      #expect(try sample.importAll() == 0)
      #expect(try VaultBytes.read(sample.targetPath) == before)
    }
  }

  @Test func `importing is refused as a whole when one record exists already`() throws {
    try with { sample in
      try fill(sample.source)
      try sample.export()
      try sample.target.set("mine", forKey: "flag", service: "web")

      try expectRefused(.alreadyExists, at: sample.targetPath) { try sample.importAll() }

      #expect(try sample.target.text("flag", service: "web") == "mine")
      #expect(try sample.target.records(in: sample.target.group()).count == 1)
    }
  }

  @Test func `importing replaces existing records on request, and leaves the rest`() throws {
    try with { sample in
      try fill(sample.source)
      let expected = try carried(sample.source)
      try sample.export()
      try sample.target.set("mine", forKey: "flag", service: "web")
      try sample.target.set("mine", forKey: "own", service: "web")

      #expect(try sample.importAll(replacing: true) == 8)

      #expect(try carried(sample.target).filter { $0.key.text != "own" } == expected)
      #expect(try sample.target.text("own", service: "web") == "mine")
      #expect(try sample.importAll(replacing: true) == 8)
      try expectRefused(.alreadyExists, at: sample.targetPath) { try sample.importAll() }
    }
  }

  @Test func `nothing of what was written down about a replaced record stays`() throws {
    try with { sample in
      try sample.export()
      try sample.target.transaction(service: Vault.Name("db"), in: sample.target.group()) { batch throws(VaultError) in
        var edit = RecordEdit()
        edit.label = .set("mine")
        edit.comment = .set("mine")
        edit.attributes = .set([try .init("mine", [])])
        edit.expiry = .set(1)
        try batch.set("mine", forKey: "password", edit: edit)
      }

      try sample.importAll(replacing: true)

      #expect(try carried(sample.target) == carried(sample.source))
    }
  }

  @Test func `five thousand records are imported in one transaction`() throws {
    try with { sample in
      try sample.source.transaction(service: Vault.Name("many"), in: sample.source.group()) {
        batch throws(VaultError) in
        for number in 0..<5_000 { try batch.set("value \(number)", forKey: "key-\(number)") }
      }
      try sample.export()
      let before = try sample.target.status()

      #expect(try sample.importAll() == 5_001)

      let after = try sample.target.status()
      #expect(after.generation + UInt64(after.entryCount) == before.generation + UInt64(before.entryCount) + 1)
      #expect(after.groups[0].generation == before.groups[0].generation + 1)
      #expect(after.groups[0].recordCount == 5_001)
      #expect(Set(try sample.target.records(in: sample.target.group()).map(\.revision)) == [2])
      #expect(try sample.target.text("key-4321", service: "many") == "value 4321")
    }
  }
}
