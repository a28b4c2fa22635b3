import Foundation
import Glibc
import Testing
import VaultSealing

@testable import VaultCore

/// Files made to cause harm.
extension SalvageTests {
  @Test func `a journal full of plausible headers is salvaged in linear time`() throws {
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

  @Test func `a section full of plausible records is salvaged in linear time`() throws {
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

  @Test func `a salvage past many false sections succeeds or is damaged`() throws {
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

  /// A vector file, and the credential that opens it.
  struct Vector: Sendable, CustomTestStringConvertible {
    let file: String
    let attempt: VectorManifest.Attempt
    let number: Int
    var testDescription: String { "\(file), credential \(number)" }
    /// A holder's vault is of the next epoch, and there is none.
    var hasLastEpoch: Bool { file == "faults/vault-epoch-last.spv" && attempt.expect.owner == false }
    /// The errors of a salvage.
    var refusals: [VaultError.Code] {
      var codes: [VaultError.Code] = [.damaged, .credentialRejected, .staleCredential, .kdfRefused]
      if hasLastEpoch { codes.append(.limitExceeded) }
      if file.hasPrefix("faults/holder-pin-") { codes.append(.tampered) }
      return codes
    }
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
      let credential = try vector.attempt.credential.credential()
      var options = Vault.Options.sample(seed: "vector")
      options.deviceKey = try .sample(from: 0x20)
      let new = path + ".new"
      let report: SalvageReport
      do throws(VaultError) {
        report = try Vault.salvage(at: path, credential: credential, to: new, options: options)
      } catch {
        #expect(vector.refusals.contains(error.code), "\(error)")
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
