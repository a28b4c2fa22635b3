import Foundation
import Glibc
import Testing
import VaultSealing

@testable import VaultCore

/// Edits of a log by somebody without its key, and what crashes leave, compared with the table of `Docs/Format.md` F.6.
struct AuditTamperingTests {
  /// What is done to a log of ten events in its current file.
  enum Damage: String, CaseIterable {
    case changedEvent, removedEvent, removedEvents, exchangedEvents, repeatedEvent, foreignEvent, cutEvents
    case bytesBetween, bytesInReserve, bytesBehindLast, cutInHeader, emptyFile, changedHeader, earlierHeader
    case headerOfOtherGroup, laterVersion, raisedVersion, removedFile, cutReserve, removedHeaderAndStart

    func put(in shared: SharedVault, earlier: LogBytes) throws {
      var log = try shared.logBytes()
      switch self {
      case .changedEvent: log.events[4][100] ^= 1
      case .removedEvent: log.events.remove(at: 4)
      case .removedEvents: log.events.removeSubrange(4...6)
      case .exchangedEvents: log.events.swapAt(4, 5)
      case .repeatedEvent: log.events.insert(log.events[4], at: 5)
      case .foreignEvent:
        for _ in 0..<9 { _ = try shared.owner.text("password", in: "one") }
        log.events[4] = try shared.logBytes(of: "one").events[4]
      case .cutEvents: (log.events, log.reserve) = (Array(log.events.dropLast(3)), [])
      case .bytesBetween: log.events.insert([UInt8](repeating: 7, count: 64), at: 4)
      case .bytesInReserve: log.reserve[5_000] = 1
      case .bytesBehindLast: log.reserve.replaceSubrange(0..<100, with: repeatElement(7, count: 100))
      case .cutInHeader:
        return try FileBytes.write(Array(log.file.prefix(199)), to: shared.log())
      case .emptyFile: return try FileBytes.write([], to: shared.log())
      case .changedHeader: log.header[100] ^= 1
      case .earlierHeader: log.header = earlier.header
      case .headerOfOtherGroup: log.header = try shared.logBytes(of: "one").header
      case .laterVersion: (log.header[8], log.header[100]) = (2, log.header[100] ^ 1)
      case .raisedVersion: log.header[8] = 2
      case .removedFile: return try FileManager.default.removeItem(atPath: shared.log())
      case .cutReserve: log.reserve = []
      case .removedHeaderAndStart: log.events.removeFirst(2)
      }
      try shared.write(log)
    }

    /// What a verification finds.
    var findings: [String] {
      switch self {
      case .changedEvent, .foreignEvent: ["missing 5 certain"]
      // The last event is not where the header says.
      case .removedEvent: ["missing 5 certain", "fork 10 certain"]
      case .removedEvents: ["missing 5-7 certain", "fork 10 certain"]
      case .exchangedEvents: ["missing 5 certain", "outOfOrder 5 certain"]
      case .repeatedEvent: ["outOfOrder 5 certain", "fork 10 certain"]
      case .cutEvents: ["missing 8-10 certain"]
      case .bytesBetween: ["debris 5 certain", "fork 10 certain"]
      case .bytesInReserve, .bytesBehindLast: ["debris 11 possible"]
      case .cutInHeader, .emptyFile: ["noHeader 1 certain"]
      case .changedHeader, .headerOfOtherGroup, .raisedVersion: ["badHeader 1 certain"]
      case .earlierHeader: ["oldState 11 possible"]
      case .laterVersion: ["laterVersion 1 possible"]
      case .removedFile: ["noLog 1 possible"]
      case .cutReserve: []
      case .removedHeaderAndStart: ["missing 1-2 certain", "fork 10 certain"]
      }
    }

    /// What a later verification finds, once the log has gone on; `nil` if it does not.
    var laterFindings: [String]? {
      switch self {
      case .changedEvent, .foreignEvent, .exchangedEvents: findings
      // The writer continues where the header says, which now is in the middle of something else.
      case .removedEvent, .removedEvents, .bytesBetween, .repeatedEvent, .removedHeaderAndStart: nil
      case .cutEvents: ["missing 8-10 certain"]
      case .bytesInReserve, .bytesBehindLast: ["interrupted 11 possible"]
      case .cutInHeader, .emptyFile, .removedFile: ["continued 1 possible"]
      case .changedHeader, .headerOfOtherGroup, .laterVersion, .raisedVersion: nil
      case .earlierHeader: ["oldState 11 possible"]
      case .cutReserve: []
      }
    }
  }

  @Test(arguments: Damage.allCases) func `each damage has the finding and the verdict of the table`(
    _ damage: Damage
  ) throws {
    try AuditedVault.with { shared in
      try shared.read(5)
      let earlier = try shared.logBytes()
      try shared.read(4)
      try damage.put(in: shared, earlier: earlier)
      #expect(try shared.found() == damage.findings)

      guard let later = damage.laterFindings else { return }
      let vault = try shared.secondOwner()
      try shared.read(2, by: vault)
      #expect(try shared.found() == later)
    }
  }

  @Test func `a flipped bit of any byte of the header and the events is found`() throws {
    try AuditedVault.with { shared in
      try shared.read(2)
      let log = try shared.logBytes()
      let whole = log.file
      for offset in 0..<(whole.count - log.reserve.count) {
        try FileBytes.write(whole.flipping(bit: offset % 8, at: offset), to: shared.log())
        #expect(try !shared.findings().isEmpty, "\(offset)")
      }
      try FileBytes.write(whole, to: shared.log())
      #expect(try shared.findings().isEmpty)
    }
  }

  // MARK: Several files

  /// What is done to a log of three files with three events each: start or two reads, and a hand-over.
  enum FileDamage: String, CaseIterable {
    case removedFirst, removedMiddle, removedLast, exchanged, cutMiddle, renamedCurrent, changedMiddle

    func put(in shared: SharedVault) throws {
      let manager = FileManager.default
      let (first, middle, last) = (try shared.log(1), try shared.log(2), try shared.log())
      switch self {
      case .removedFirst: try manager.removeItem(atPath: first)
      case .removedMiddle: try manager.removeItem(atPath: middle)
      case .removedLast: try manager.removeItem(atPath: last)
      case .exchanged:
        let (a, b) = (try FileBytes.read(first), try FileBytes.read(middle))
        try FileBytes.write(b, to: first)
        try FileBytes.write(a, to: middle)
      case .cutMiddle:
        var log = try LogBytes(FileBytes.read(middle))
        log.events.removeLast()
        try FileBytes.write(log.file, to: middle)
      case .renamedCurrent: try manager.moveItem(atPath: last, toPath: shared.log(3))
      case .changedMiddle:
        var log = try LogBytes(FileBytes.read(middle))
        log.events[1][100] ^= 1
        try FileBytes.write(log.file, to: middle)
      }
    }

    var findings: [String] {
      switch self {
      case .removedFirst: ["earlierFiles 1-3 possible"]
      case .removedMiddle: ["fileMissing 4-6 possible"]
      case .removedLast: ["noLog 7 possible"]
      case .exchanged:
        ["fileMissing 7 possible", "fileMissing 4-6 possible", "earlierFiles 1-3 possible"]
      case .cutMiddle: ["missing 6 certain", "notHandedOver 6 possible"]
      case .renamedCurrent: ["notHandedOver 9 possible", "noLog 10 possible"]
      case .changedMiddle: ["missing 5 certain"]
      }
    }
  }

  @Test(arguments: FileDamage.allCases) func `damage of handed-over files has the verdict of the table`(
    _ damage: FileDamage
  ) throws {
    try AuditedVault.with { shared in
      let group = try shared.owner.group()
      try shared.read(1)
      try shared.owner.handOverAuditLog(of: group)
      try shared.read(2)
      try shared.owner.handOverAuditLog(of: group)
      try shared.read(3)
      #expect(try shared.found() == [])
      try damage.put(in: shared)

      #expect(try shared.found() == damage.findings)
    }
  }

  // MARK: Holders

  @Test func `a sealed header with impossible numbers is no header, and nobody extends the log for it`() throws {
    let changes: [(inout AuditHeader) -> Void] = [
      { $0.end = 257 }, { $0.end = 1 << 49 }, { $0.end = 248 }, { $0.count = 1 << 50 }, { $0.first = 0 },
      { $0.file = 0 }, { $0.synced = 99 }, { $0.first = 5 },
    ]
    try AuditedVault.with { shared in
      let keys = try shared.keys()
      let whole = try shared.logBytes()
      for (index, change) in changes.enumerated() {
        var log = whole
        try log.reseal(keys, change)
        try shared.write(log)
        #expect(try shared.found() == ["badHeader 1 certain"], "\(index)")
        #expect(refusal { try shared.secondOwner().text("password") } == .tampered, "\(index)")
        #expect(try FileBytes.read(shared.log()) == log.file)
      }
    }
  }

  @Test func `the header of a fork before the events of another is found`() throws {
    try AuditedVault.with { shared in
      let start = try FileBytes.read(shared.log())
      try shared.read(2)
      let fork = try shared.logBytes()
      try FileBytes.write(start, to: shared.log())
      let other = try shared.secondOwner()
      for _ in 0..<3 { try other.set("x", forKey: "a") }
      var log = try shared.logBytes()
      log.header = fork.header
      try shared.write(log)

      #expect(try shared.found() == ["fork 3 certain"])
    }
  }

  @Test func `the holder of an old key cannot add to the log`() throws {
    try AuditedVault.with { shared in
      try shared.read(1)
      let old = try shared.keys()
      try shared.owner.rotate(shared.owner.group())
      try shared.read(1)

      let place = AuditLogLocation(beside: try VaultPath(shared.path, policy: .strict))
      let fresh = AuditLog(of: old.groupID, in: place, .sample())
      let event = AuditLog.Event(action: .read, service: [97], key: [97])
      #expect(refusal { try fresh.append([event], old, by: old.groupID, isSynced: false) } == .rolledBack)
      // Forged in place of the last event, with a header of the old key.
      let sealer = try Sealer()
      var log = try shared.logBytes()
      let maker = AuditMaker(
        files: fresh.files, keys: old, slot: old.groupID, options: .sample(), sealer: sealer, mark: nil)
      var header = AuditHeader(epoch: 1)
      header.count = 4
      header.last = Vault.Tag.sealed(Array(log.events[3].dropFirst(16)))
      header.end = AuditHeader.byteCount + log.events.prefix(4).reduce(0) { $0 + $1.count }
      log.events[4] = try maker.write([event], behind: &header, .first, lost: 0)
      log.header = header.bytes(old, try old.presentKey(sealer), sealer)
      try shared.write(log)

      #expect(try shared.found() == ["earlierKey 5 certain"])
    }
  }

  @Test func `an unknown action is shown with its number, and a faulty event is found`() throws {
    try AuditedVault.with { shared in
      let (vault, group) = (shared.owner, try shared.owner.group())
      let keys = try shared.keys()
      let log = try vault.handle.auditLog(of: group.id)
      for action in [15, 200] as [UInt8] {
        let event = AuditLog.Event(action: AuditEvent.Action(rawValue: action))
        _ = try log.append([event], keys, by: .zero, isSynced: false)
      }
      #expect(try vault.auditedActions() == ["start", "action 15", "action 200"])

      // A read without names, an action 0, and a start without its policy.
      for action in [1, 0, 7] as [UInt8] {
        let event = AuditLog.Event(action: AuditEvent.Action(rawValue: action))
        _ = try log.append([event], keys, by: .zero, isSynced: false)
      }
      #expect(try shared.found() == ["malformed 4 certain", "malformed 5 certain", "malformed 6 certain"])
    }
  }

  // MARK: Crashes

  @Test func `an event whose writer was killed before it wrote the header is accepted`() throws {
    try AuditedVault.with { shared in
      let header = try shared.logBytes().header
      try shared.read(1)
      var log = try shared.logBytes()
      log.header = header
      try shared.write(log)
      #expect(try shared.findings().isEmpty)
      try shared.read(1, by: shared.secondOwner())

      #expect(try shared.owner.auditEvents().count == 3)
    }
  }

  @Test(arguments: [1, 15, 16, 100, 215]) func `a torn event is found, and promises no more`(_ count: Int) throws {
    try AuditedVault.with { shared in
      let before = try shared.logBytes()
      try shared.read(1)
      var log = try shared.logBytes()
      log.header = before.header
      let torn = log.events[1].prefix(count)
      log.events[1] = torn + [UInt8](repeating: 0, count: log.events[1].count - count)
      try shared.write(log)
      #expect(try shared.found() == ["debris 2 possible"])
      try shared.read(1)

      #expect(try shared.found() == ["interrupted 2 possible"])
      #expect(try shared.owner.readAuditLog(of: shared.owner.group()).eventCount == 2)
    }
  }

  @Test func `events that a power failure may have taken are possibly missing, synced ones certainly`() throws {
    try AuditedVault.with { shared in
      try shared.owner.set("x", forKey: "a")  // event 2, synced
      try shared.read(3)  // the header says from event 3 on that 2 is synced
      let keys = try shared.keys()
      var log = try shared.logBytes()
      try log.reseal(keys) {
        let boot = [UInt8](repeating: 1, count: 32)
        $0.boot = Vault.Tag(boot.span.bytes)
      }
      log.reserve = []
      for (left, verdict) in [(3, "missing 4-5 possible"), (1, "missing 2-5 certain")] {
        var cut = log
        cut.events = Array(cut.events.prefix(left))
        try shared.write(cut)
        #expect(try shared.found() == [verdict])
        // The next writer found the header of another start of the machine.
        try shared.read(1, by: shared.secondOwner())
        #expect(try shared.found() == [verdict])
      }
    }
  }

  // MARK: Hostile bytes

  @Test func `an examination ends after many findings`() throws {
    try AuditedVault.with { shared in
      try shared.read(1)
      var log = try shared.logBytes()
      log.events += [[UInt8]](repeating: log.events[1], count: 10_100)
      try shared.write(log)

      let found = try shared.findings()
      #expect(found.count == 10_001)
      #expect(found.last?.short == "notExamined 3 possible")
    }
  }

  @Test func `a log of hostile bytes is refused, and neither read far nor written to`() throws {
    try AuditedVault.with { shared in
      try shared.read(1)
      let whole = try shared.logBytes()
      var dice = Dice(seed: 48)
      var hostile: [[UInt8]] = [Array(repeating: 0, count: 4096), Array(repeating: 0xFF, count: 65_536)]
      for count in [256, 257, 300, 1000] {
        hostile.append((0..<count).map { _ in UInt8.random(in: 0...255, using: &dice) })
      }
      for bytes in hostile {
        try FileBytes.write(bytes, to: shared.log())
        #expect(try !shared.findings().isEmpty)
        #expect(refusal { try shared.owner.text("password") } == .tampered)
        #expect(try FileBytes.read(shared.log()) == bytes)
      }
      // Plausible events in every place of the reserve: found, erased by the next writer, and read in bounded time.
      var event = [UInt8](repeating: 0, count: 16)
      event.store(UInt32(4096), at: 0)
      event.store(UInt32(1), at: 4)
      event.store(UInt64(9), at: 8)
      var log = whole
      log.reserve = Array(repeatElement(event, count: 30_000).joined())
      try shared.write(log)
      #expect(try shared.findings().last?.short == "notExamined 3 possible")
      try shared.read(1)
      #expect(try shared.found() == ["interrupted 3 possible"])
    }
  }

  @Test func `a sparse file of a terabyte is read in bounded time`() throws {
    try AuditedVault.with { shared in
      let path = try shared.log()
      #expect(truncate(path, 1 << 40) == 0)
      #expect(try shared.found() == ["debris 2 possible"])
      try shared.read(1, by: shared.secondOwner())
      #expect(try FileBytes.status(shared.log()).st_size < 1 << 20)
    }
  }
}
