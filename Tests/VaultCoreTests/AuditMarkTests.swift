import Foundation
import Synchronization
import Testing
import VaultSealing

@testable import VaultCore

extension EveryStorage {
  /// The log's line in a mark.
  struct AuditMarkTests {}
}

extension EveryStorage.AuditMarkTests {
  /// An audited vault with a mark, after some reads by a handle that raises it.
  func withMarked(_ body: (SharedVault, Vault) throws -> Void) throws {
    try AuditedVault.with(groups: ["default"]) { shared in
      try shared.read(3)
      try shared.owner.createMark(at: shared.mark)
      try body(shared, try shared.markedOwner())
    }
  }

  @Test func `a mark has a line for each log, and none without one`() throws {
    try withMarked { shared, vault in
      let id = try vault.group().id
      let lines = try shared.markText.split(separator: "\n")
      #expect(lines.last?.hasPrefix("log \(id) 4 ") == true)
      #expect(try RollbackMark(parsing: Array(shared.markText.utf8)).text == shared.markText)
    }
    try SharedVault.withMark { shared in
      let text = try shared.markText
      #expect(!text.contains("log "))
    }
  }

  @Test(arguments: ["earlier file", "cut", "removed", "earlier header"])
  func `with a mark the next read sees that the log was put back, cut off or removed`(_ what: String) throws {
    try withMarked { shared, vault in
      let before = try FileBytes.read(shared.log())
      try shared.read(1, by: vault)
      var log = try shared.logBytes()
      switch what {
      case "earlier file": try FileBytes.write(before, to: shared.log())
      case "removed": try FileManager.default.removeItem(atPath: shared.log())
      default:
        // A kept header makes what is cut off unseen.
        log.header = Array(before.prefix(AuditHeader.byteCount))
        if what == "cut" { log.events.removeLast() }
        try shared.write(log)
      }
      if what == "earlier header" {
        // Nothing is missing: the events are taken over.
        #expect(try shared.markedOwner().text("password") == "s3cret")
        return
      }
      #expect(refusal { try shared.markedOwner().text("password") } == .rolledBack)
      #expect(refusal { try shared.markedOwner().set("x", forKey: "a") } == .rolledBack)
      let found = try shared.markedOwner().readAuditLog(of: vault.group()).findings
      #expect(found.contains { $0.code == .behindMark && !$0.isCertain })

      let unmarked = try shared.secondOwner()
      try unmarked.acceptMark(at: shared.mark)
      #expect(try shared.markedOwner().text("password") == "s3cret")
    }
  }

  @Test func `another chain of the same length is behind the mark`() throws {
    try withMarked { shared, vault in
      let before = try FileBytes.read(shared.log())
      try shared.read(1, by: vault)
      try FileBytes.write(before, to: shared.log())
      try shared.read(2)

      let found = try shared.markedOwner().readAuditLog(of: vault.group()).findings
      #expect(found.map(\.short) == ["behindMark 5 possible"])
    }
  }

  @Test(arguments: ["current", "handed over", "current removed", "current too short"])
  func `a longer log with a different event at the mark's number is refused`(_ place: String) throws {
    try withMarked { shared, vault in
      let before = try FileBytes.read(shared.log())
      try shared.read(1, by: vault)
      try FileBytes.write(before, to: shared.log())
      try shared.read(3)
      if place != "current" {
        try shared.owner.handOverAuditLog(of: shared.owner.group())
        try shared.read(1)
      }
      if place == "current removed" { try FileManager.default.removeItem(atPath: shared.log()) }
      if place == "current too short" { try FileBytes.write([1], to: shared.log()) }
      let mark = try shared.markText

      let marked = try shared.markedOwner()
      #expect(refusal { try marked.text("password") } == .rolledBack)
      #expect(refusal { try marked.text("password") } == .rolledBack)
      #expect(refusal { try shared.markedOwner().set("x", forKey: "a") } == .rolledBack)
      #expect(try shared.markText == mark)
    }
  }

  @Test func `a different log whose current file is set aside is refused as well`() throws {
    try withMarked { shared, vault in
      let before = try FileBytes.read(shared.log())
      try shared.read(1, by: vault)
      try FileBytes.write(before, to: shared.log())
      try shared.read(3)
      try shared.owner.handOverAuditLog(of: shared.owner.group())
      var log = try shared.logBytes()
      log.header[100] ^= 1
      try shared.write(log)
      let mark = try shared.markText

      let marked = try shared.markedOwner()
      #expect(refusal { try marked.setAuditing(.failClosed) } == .rolledBack)
      #expect(refusal { try marked.text("password") } == .rolledBack)
      #expect(try shared.markText == mark)
    }
  }

  @Test func `different events behind a header that a process wrote itself are refused`() throws {
    try withMarked { shared, vault in
      try shared.read(1, by: vault)
      let before = try shared.logBytes()
      try shared.read(1, by: shared.markedOwner())
      let mark = try shared.markText
      try shared.write(before)
      try shared.read(3)
      var log = try shared.logBytes()
      log.header = before.header
      try shared.write(log)

      #expect(refusal { try vault.text("password") } == .rolledBack)
      #expect(try shared.markText == mark)
    }
  }

  @Test func `a process that compared the log compares it again when others raise the mark or put the log back`() throws
  {
    try withMarked { shared, first in
      let second = try shared.markedOwner()
      for _ in 0..<3 {
        try shared.read(1, by: first)
        try shared.read(1, by: second)
        try first.set("x", forKey: "a")
      }
      try shared.owner.handOverAuditLog(of: shared.owner.group())
      try shared.read(1, by: second)
      let before = try FileBytes.read(shared.log())
      try first.set("y", forKey: "a")
      try shared.read(1, by: second)
      #expect(try shared.found().isEmpty)
      let mark = try shared.markText
      try FileBytes.write(before, to: shared.log())
      try shared.read(4)

      #expect(refusal { try first.text("password") } == .rolledBack)
      #expect(refusal { try second.text("password") } == .rolledBack)
      #expect(try shared.markText == mark)
    }
  }

  /// Changes the head of an event, so that no frame stands there any more.
  private func damageHead(of number: Int, in path: String) throws {
    var log = try LogBytes(VaultBytes.read(path))
    log.events[number - 1][3] = 0xFF
    try VaultBytes.write(log.file, to: path)
  }

  @Test(arguments: ["current", "handed over"], [2, 5])
  func `a damaged event before the mark's one hides neither that nor another log`(
    _ place: String, damaged: Int
  ) throws {
    try withMarked { shared, vault in
      try shared.read(2, by: vault)
      let before = try FileBytes.read(shared.log())
      try shared.read(300)  // more than one part of the file is read
      try shared.read(1, by: shared.markedOwner())
      if place != "current" { try shared.owner.handOverAuditLog(of: shared.owner.group()) }
      try shared.read(1)
      let path = try place == "current" ? shared.log() : shared.log(1)
      try damageHead(of: damaged, in: path)

      let marked = try shared.markedOwner()
      try shared.read(1, by: marked)
      #expect("\(marked.health())" == "ready")
      #expect(try shared.found() == ["missing \(damaged) certain"])

      // The log was put back, and others went on with it beyond the mark.
      if place != "current" { try FileManager.default.removeItem(atPath: path) }
      try FileBytes.write(before, to: shared.log())
      try shared.read(400)
      if place != "current" { try shared.owner.handOverAuditLog(of: shared.owner.group()) }
      try shared.read(1)
      try damageHead(of: damaged, in: path)
      #expect(refusal { try shared.markedOwner().text("password") } == .rolledBack)
    }
  }

  @Test(arguments: ["damaged", "cut off", "handed over"])
  func `a log without the mark's event is refused until the mark is accepted`(_ how: String) throws {
    try withMarked { shared, vault in
      try shared.read(1, by: vault)
      let marked = try #require(RollbackMark(at: shared.mark).logs[vault.group().id]?.count)
      if how == "handed over" {
        try shared.owner.handOverAuditLog(of: shared.owner.group())
      }
      try shared.read(2)
      if how == "cut off" {
        var log = try shared.logBytes()
        log.events.removeLast(3)
        log.reserve = []
        try shared.write(log)
      } else {
        try damageHead(of: Int(marked), in: how == "damaged" ? shared.log() : shared.log(1))
      }
      let before = try FileBytes.read(shared.log())

      #expect(refusal { try shared.markedOwner().text("password") } == .rolledBack)
      #expect(refusal { try shared.markedOwner().set("x", forKey: "a") } == .rolledBack)
      #expect(try FileBytes.read(shared.log()) == before)
      let health = try shared.markedOwner().health()
      #expect("\(health)" == "failing: rolledBack")
      #expect(try shared.findings().contains { $0.code == .missing && $0.isCertain })

      try shared.secondOwner().acceptMark(at: shared.mark)
      try shared.read(2, by: shared.markedOwner())
      try shared.read(2, by: shared.markedOwner())
    }
  }

  @Test(arguments: [0, 1, 4, 100])
  func `a log that is cut off right behind the mark's event is refused, wherever it is cut`(_ kept: Int) throws {
    try withMarked { shared, vault in
      try shared.owner.handOverAuditLog(of: shared.owner.group())
      try vault.set("x", forKey: "a")
      let marked = try #require(RollbackMark(at: shared.mark).logs[vault.group().id])
      let file = try shared.logBytes()
      let newest = try #require(file.events.last)
      #expect(marked.tag == Vault.Tag(newest.span.bytes, at: AuditFrame.headCount + Sealer.tag.lowerBound))
      try FileBytes.write(Array(file.file.prefix(AuditHeader.byteCount + kept)), to: shared.log())

      #expect(refusal { try vault.text("password") } == .rolledBack)
      #expect(refusal { try shared.markedOwner().text("password") } == .rolledBack)
      #expect("\(try shared.markedOwner().health())" == "failing: rolledBack")
    }
  }

  @Test(arguments: ["current", "handed over"], [1, 8, 4_001])
  func `a log that is shorter than its header says is read to its end`(_ place: String, _ missing: Int) throws {
    try withMarked { shared, vault in
      try shared.read(30, by: vault)
      if place == "handed over" { try shared.owner.handOverAuditLog(of: shared.owner.group()) }
      try shared.read(1)
      let path = try place == "current" ? shared.log() : shared.log(1)
      let log = try LogBytes(FileBytes.read(path))
      let whole = log.header + log.events.joined()
      // The mark is at event 5: only what is shorter than that is behind it.
      try FileBytes.write(Array(log.header + log.events.prefix(3).joined() + [0, 0, 0]), to: path)
      #expect(refusal { try shared.markedOwner().text("password") } == .rolledBack)

      try FileBytes.write(Array(whole.dropLast(missing)), to: path)
      try shared.read(1, by: shared.markedOwner())
    }
  }

  @Test func `a handed-over file with the mark's event may be removed`() throws {
    try withMarked { shared, vault in
      try shared.read(1, by: vault)
      try shared.owner.handOverAuditLog(of: shared.owner.group())
      try shared.read(1)
      try FileManager.default.removeItem(atPath: shared.log(1))

      try shared.read(1, by: shared.markedOwner())
      #expect(try shared.found() == ["earlierFiles 1-6 possible"])
    }
  }

  @Test func `a log that others continued from the mark's event is accepted`() throws {
    try withMarked { shared, vault in
      try shared.read(1, by: vault)
      try shared.read(2)
      try shared.owner.handOverAuditLog(of: shared.owner.group())
      try shared.read(2)

      try shared.read(1, by: try shared.markedOwner())
      #expect(try shared.found().isEmpty)
    }
  }

  @Test func `a read raises the mark at most once a second, and a write each time`() throws {
    try withMarked { shared, _ in
      let now = Mutex<Int64>(1_700_000_000_000)
      var options = shared.options("clock")
      options.now = { now.withLock(\.self) }
      let vault = try Vault.opened(at: shared.path, options: options)
      func marked() throws -> UInt64? { try RollbackMark(at: shared.mark).logs[vault.group().id]?.count }
      try shared.read(1, by: vault)
      #expect(try marked() == 5)
      try shared.read(3, by: vault)
      #expect(try marked() == 5)
      now.withLock { $0 += 1_000 }
      try shared.read(1, by: vault)
      #expect(try marked() == 9)
      try vault.set("x", forKey: "a")
      #expect(try marked() == 10)
      #expect(vault.markFailure == nil)
    }
  }

  @Test func `a read does not wait long for a locked mark, and reports that it was not raised`() throws {
    try withMarked { shared, _ in
      try shared.read(1)
      let lock = try ForeignLock(on: shared.mark)
      let failures = Mutex<[VaultError.Code]>([])
      var options = shared.options("locked")
      options.markFailure = { error in failures.withLock { $0.append(error.code) } }
      let start = ContinuousClock.now
      let vault = try Vault.opened(at: shared.path, options: options)
      try shared.read(2, by: vault)
      #expect(ContinuousClock.now - start < .seconds(20))  // of the 30 of the options
      #expect(failures.withLock(\.self) == [.lockTimeout])
      #expect(vault.markFailure?.code == .lockTimeout)

      lock.release()
      try shared.read(1, by: Vault.opened(at: shared.path, options: options))
      #expect(try RollbackMark(at: shared.mark).logs[vault.group().id]?.count == 8)
      #expect(failures.withLock(\.self) == [.lockTimeout])
    }
  }

  @Test func `a mark that is as high already is not locked`() throws {
    try SharedVault.withMark { shared in
      try shared.markedOwner().set("v", forKey: "user")
      let lock = try ForeignLock(on: shared.mark)
      let vault = try shared.markedOwner()
      #expect(try vault.text("user") == "v")
      #expect(vault.markFailure == nil)
      lock.release()
    }
  }
}
