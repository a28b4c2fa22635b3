import Foundation
import Testing
import VaultSealing

@testable import VaultCore

/// Edits of a log by one who has not its key, and what crashes leave (`Docs/Format.md` annex F).
struct AuditTamperingTests {
  /// Changes the log of ten entries, and returns what is reported.
  private func problems(
    reads: Int = 9, _ change: (inout LogBytes, SharedVault) throws -> Void
  ) throws -> [AuditProblem] {
    try AuditedVault.with { shared in
      try shared.read(reads)
      var log = try shared.logBytes()
      try change(&log, shared)
      try shared.write(log)
      return try shared.problems()
    }
  }

  private func expect(
    _ text: String, certain: Bool = true, sourceLocation: SourceLocation = #_sourceLocation,
    _ change: (inout LogBytes, SharedVault) throws -> Void
  ) throws {
    let found = try problems(change)
    #expect(
      found.contains { $0.description == text && $0.isCertain == certain }, "\(found)", sourceLocation: sourceLocation)
  }

  @Test func `a flipped bit of any byte is reported`() throws {
    try AuditedVault.with { shared in
      try shared.read(2)
      let whole = try shared.logBytes().file
      for offset in whole.indices {
        try FileBytes.write(whole.flipping(bit: offset % 8, at: offset), to: shared.log())
        #expect(try !shared.problems().isEmpty, "\(offset)")
      }
      try FileBytes.write(whole, to: shared.log())
      #expect(try shared.problems().isEmpty)
    }
  }

  @Test func `a changed entry is reported with its number`() throws {
    try expect("entry 5: changed") { log, _ in log.entries[4][100] ^= 1 }
  }

  @Test func `an entry that was removed from the middle is reported`() throws {
    try expect("entry 5: removed") { log, _ in log.entries.remove(at: 4) }
    try expect("entries 5 to 7: removed") { log, _ in log.entries.removeSubrange(4...6) }
  }

  @Test func `two exchanged entries are reported`() throws {
    try expect("entry 5 is behind entry 6") { log, _ in log.entries.swapAt(4, 5) }
  }

  @Test(arguments: [0, 199]) func `a log without a head may be what a stopped program left`(count: Int) throws {
    try AuditedVault.with { shared in
      let log = try shared.logBytes()
      try FileBytes.write(Array(log.head.prefix(count)), to: shared.log())

      let problems = try shared.problems()
      #expect(
        problems.map(\.description) == [
          "the log has no head: its first append was interrupted, or the log was cut off"
        ])
      #expect(problems.map(\.isCertain) == [false])
      try shared.read(1)
      #expect(try shared.problems().isEmpty)
    }
  }

  @Test func `an examination ends after many problems`() throws {
    let found = try problems(reads: 1) { log, _ in
      log.entries += [[UInt8]](repeating: log.entries[1], count: 10_100)
    }

    #expect(found.count == 10_001)
    #expect(found.last?.description == "the rest of the log was not examined: too many problems were found")
    #expect(found.last?.isCertain == true)
  }

  @Test func `a sealed head with an impossible end is reported`() throws {
    try AuditedVault.with { shared in
      let content = try shared.loaded.content(shared.owner.group().id)
      let sealer = try Sealer()
      let keys = try AuditKeys(content, .failClosed, sealer)
      let key = try #require(try keys.key(of: keys.epoch, sealer))
      var (head, log) = (AuditHead(epoch: keys.epoch), try shared.logBytes())
      (head.count, head.end) = (1, 201)
      log.head = head.bytes(keys, key, sealer)
      try shared.write(log)

      #expect(try !shared.problems().isEmpty)
      #expect(refusal { try shared.secondOwner().text("password") } == .tampered)
    }
  }

  @Test func `a repeated entry is reported`() throws {
    try expect("entry 5 is behind entry 5") { log, _ in log.entries.insert(log.entries[4], at: 5) }
  }

  @Test func `a cut is reported, also after the log has gone on`() throws {
    try expect("entries 8 to 10: cut off") { log, _ in log.entries.removeLast(3) }
    try AuditedVault.with { shared in
      try shared.read(9)
      var log = try shared.logBytes()
      log.entries.removeLast(3)
      try shared.write(log)
      try shared.read(2)

      let report = try shared.owner.readAuditLog(of: shared.owner.group())
      #expect(report.problems.map(\.description) == ["entries 8 to 10: cut off"])
      #expect(report.problems.map(\.isCertain) == [true])
      #expect(report.entryCount == 9)
    }
  }

  @Test func `a head of an earlier state is reported, also after the log has gone on`() throws {
    try AuditedVault.with { shared in
      try shared.read(2)
      let head = try shared.logBytes().head
      try shared.read(2)
      var log = try shared.logBytes()
      log.head = head
      try shared.write(log)
      #expect(try shared.problems().map(\.description) == ["the head is of an earlier state than the entries"])
      try shared.read(1)

      let found = try shared.problems()
      #expect(found.map(\.description) == ["before entry 6, the head is of an earlier state than the entries"])
      #expect(found.map(\.isCertain) == [true])
    }
  }

  @Test func `an entry of another group or vault is reported`() throws {
    try expect("entry 5: changed") { log, shared in
      for _ in 0..<9 { _ = try shared.owner.text("password", in: "one") }
      log.entries[4] = try shared.logBytes(of: "one").entries[4]
    }
    try TemporaryDirectory.with { directory in
      let other = try Vault.sample(at: directory + "/other.spv", options: .sample(seed: "other"))
      try other.setAuditing(.failClosed)
      for _ in 0..<9 { _ = try other.text("password") }
      let path = directory + "/other.spv.audit-\(try other.group().id)"
      let foreign = try LogBytes(FileBytes.read(path)).entries[4]
      try expect("entry 5: changed") { log, _ in log.entries[4] = foreign }
    }
  }

  @Test func `bytes between entries are reported`() throws {
    try expect("before entry 5 are bytes that are no entry") { log, _ in
      log.entries.insert([UInt8](repeating: 7, count: 64), at: 4)
    }
  }

  @Test func `a log without its head, and a log that was removed, are reported`() throws {
    try expect("the head does not verify: it was changed, or belongs to a different log") { log, _ in
      log.head = [UInt8](repeating: 0, count: log.head.count)
    }
    try AuditedVault.with { shared in
      try FileManager.default.removeItem(atPath: shared.log())
      let found = try shared.problems()
      #expect(found.map(\.isCertain) == [false])
    }
  }

  @Test func `a complete earlier copy is not noticed`() throws {
    try AuditedVault.with { shared in
      try shared.read(2)
      let log = try shared.logBytes()
      try shared.read(2)
      try shared.write(log)

      #expect(try shared.problems().isEmpty)
    }
  }

  @Test func `the holder of an old key cannot add to the log`() throws {
    try AuditedVault.with { shared in
      try shared.read(1)
      let old = try shared.loaded.content(shared.owner.group().id)
      let sealer = try Sealer()
      let keys = try AuditKeys(old, .failClosed, sealer)
      try shared.owner.rotate(shared.owner.group())
      try shared.read(1)

      let fresh = AuditLog(
        of: old.id, beside: try VaultPath(shared.path, policy: .strict), .sample())
      let event = AuditLog.Event(action: .read)
      for log in [fresh, shared.owner.handle.auditLog(of: old.id)] {
        #expect(refusal { try log.append([event], keys, by: old.id) } == .tampered)
        #expect(try !log.append([event], keys, by: old.id, mayBeStale: true))
      }
      // Forged behind the last entry, in place of it, and with a head of the old key.
      let key = try #require(try keys.key(of: 1, sealer))
      var bytes = ByteWriter()
      let last = try shared.logBytes().entries[2]
      let previous = Vault.Tag(last.span.bytes, at: 16 + 24)
      var body = ByteWriter()
      body.raw(previous)
      body.raw(Array(repeating: 0, count: 8) + [1, 1, 0, 0] + Array(repeating: 0, count: 42))
      let tag = AuditFrame.write(&body, number: 4, to: &bytes, keys, key, sealer)
      var forged = try shared.logBytes()
      forged.entries[3] = bytes.bytes
      var head = AuditHead(epoch: 1)
      (head.count, head.end, head.tag) = (4, forged.file.count, tag)
      forged.head = head.bytes(keys, key, sealer)
      try shared.write(forged)

      #expect(
        try shared.problems().map(\.description).contains(
          "entry 4 is sealed with an earlier key than the entry before it"))
    }
  }

  // MARK: Crashes

  @Test func `an entry whose writer was killed before it wrote the head is accepted`() throws {
    try AuditedVault.with { shared in
      let head = try shared.logBytes().head
      try shared.read(1)
      var log = try shared.logBytes()
      log.head = head
      try shared.write(log)
      #expect(try shared.problems().isEmpty)
      try shared.read(1)

      #expect(try shared.owner.auditEntries().count == 3)
    }
  }

  @Test(arguments: [1, 15, 16, 100, 215]) func `a torn entry is reported, and promises no more`(_ count: Int) throws {
    try AuditedVault.with { shared in
      let head = try shared.logBytes().head
      try shared.read(1)
      var log = try shared.logBytes()
      log.head = head
      log.entries[1].removeLast(log.entries[1].count - count)
      try shared.write(log)
      let found = try shared.problems()
      #expect(found.map(\.isCertain) == [false])
      try shared.read(1)

      let report = try shared.owner.readAuditLog(of: shared.owner.group())
      let text = "before entry 2: an append was interrupted, or an entry was changed"
      #expect(report.problems.map(\.description) == [text])
      #expect(report.problems.map(\.isCertain) == [false] && report.entryCount == 2)
    }
  }

  @Test func `entries that a power failure may have taken are not called cut`() throws {
    try AuditedVault.with { shared in
      try shared.read(4)
      let keys = try #require(
        try shared.loaded.content(shared.owner.group().id).audit(try Sealer()))
      let sealer = try Sealer()
      var log = try shared.logBytes()
      var head = try #require(try AuditHead(log.head.span.bytes, keys, sealer))
      let boot = [UInt8](repeating: 1, count: 32)
      head.boot = Vault.Tag(boot.span.bytes)
      log.head = head.bytes(keys, try #require(try keys.key(of: 1, sealer)), sealer)
      log.entries.removeLast(2)
      try shared.write(log)
      let text = "entries 4 to 5: cut off, or lost when the machine stopped"
      #expect(try shared.problems().map(\.description) == [text])
      #expect(try shared.problems().map(\.isCertain) == [false])
      try shared.read(1)

      #expect(try shared.problems().map(\.description) == [text])
      #expect(try shared.problems().map(\.isCertain) == [false])
    }
  }

  // MARK: Hostile bytes

  @Test func `a log of hostile bytes is refused, and neither read far nor written to`() throws {
    try AuditedVault.with { shared in
      try shared.read(1)
      let whole = try shared.logBytes()
      var dice = Dice(seed: 48)
      var hostile: [[UInt8]] = [[], [0], Array(repeating: 0, count: 4096), Array(repeating: 0xFF, count: 65_536)]
      for count in [1, 8, 199, 200, 201, 216, 1000] {
        hostile.append((0..<count).map { _ in UInt8.random(in: 0...255, using: &dice) })
      }
      for count in stride(from: 1, to: whole.file.count, by: 37) { hostile.append(Array(whole.file.prefix(count))) }
      // Plausible entries in every place.
      var entry = [UInt8](repeating: 0, count: 8)
      entry.store(UInt32(4096), at: 0)
      hostile.append(whole.head + Array(repeatElement(entry, count: 30_000).joined()))
      for bytes in hostile {
        try FileBytes.write(bytes, to: shared.log())
        #expect(try !shared.problems().isEmpty)
        let code = refusal { try shared.owner.text("password") }
        if bytes.count >= AuditHead.byteCount, bytes.starts(with: whole.head) { continue }
        #expect(code == (bytes.count < AuditHead.byteCount ? nil : .tampered))
        if code != nil { #expect(try FileBytes.read(shared.log()) == bytes) }
      }
    }
  }
}
