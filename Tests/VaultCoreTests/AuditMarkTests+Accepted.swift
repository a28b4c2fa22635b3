import Foundation
import Synchronization
import Testing
import VaultSealing

@testable import VaultCore

/// Marks that are accepted, and what a log that does not fit them is said to be.
extension EveryStorage.AuditMarkTests {
  @Test(arguments: ["nothing", "a read", "another group"])
  func `a write raises no line of a log that it did not sync, so that an accepted mark stays`(_ logged: String) throws {
    try AuditedVault.with(groups: ["default", "one"]) { shared in
      try shared.owner.createMark(at: shared.mark)
      let vault = try shared.markedOwner()
      let before = try FileBytes.read(shared.log())
      for _ in 0..<3 { try vault.set("x", forKey: "a") }
      try FileBytes.write(before, to: shared.log())
      try shared.secondOwner().acceptMark(at: shared.mark)
      let accepted = try RollbackMark(at: shared.mark).logs[vault.group().id]
      #expect(accepted?.count == 1)

      if logged == "a read" { try shared.read(1, by: vault) }
      if logged == "another group" { try vault.set("x", forKey: "a", in: "one") } else { try vault.compact() }
      #expect(try RollbackMark(at: shared.mark).logs[vault.group().id] == accepted)
      try shared.read(1, by: vault)
      try shared.read(1, by: shared.markedOwner())
    }
  }

  @Test func `what a process has synced is not said of a log that was put in its place`() throws {
    try withMarked { shared, vault in
      let before = try FileBytes.read(shared.log())
      for _ in 0..<3 { try vault.set("x", forKey: "a") }
      try FileBytes.write(before, to: shared.log())
      try shared.read(3)
      try shared.secondOwner().acceptMark(at: shared.mark)
      try shared.read(1, by: vault)

      let log = try shared.logBytes()
      let header = try AuditHeader.open(log.header.span.bytes, shared.keys(), Sealer()).get()
      #expect(header.count == 8 && header.synced <= 4)
    }
  }

  @Test(arguments: [false, true]) func `a mark that is accepted names an event that verifies`(_ isFirst: Bool) throws {
    try withMarked { shared, vault in
      if isFirst { try shared.owner.handOverAuditLog(of: shared.owner.group()) }
      try shared.read(1, by: vault)
      let marked = try #require(RollbackMark(at: shared.mark).logs[vault.group().id]?.count)
      var log = try shared.logBytes()
      log.events[log.events.count - 1][9] ^= 4  // its number, which becomes greater by 1024
      try shared.write(log)
      #expect(refusal { try shared.markedOwner().text("password") } == .rolledBack)

      try shared.secondOwner().acceptMark(at: shared.mark)
      #expect(try RollbackMark(at: shared.mark).logs[vault.group().id]?.count == marked - 1)
      try shared.read(2, by: shared.markedOwner())
    }
  }

  @Test(arguments: [false, true])
  func `a log that was cut off before the mark's event is behind the mark, also after a restart`(
    _ isRestarted: Bool
  ) throws {
    try withMarked { shared, vault in
      try shared.read(1, by: vault)
      var log = try shared.logBytes()
      log.events.removeLast(2)
      log.reserve = []
      let boot = [UInt8](repeating: 1, count: 32)
      if isRestarted { try log.reseal(shared.keys()) { $0.boot = Vault.Tag(boot.span.bytes) } }
      try shared.write(log)
      let marked = try shared.markedOwner()
      let found = try marked.readAuditLog(of: marked.group()).findings
      #expect(found.map(\.short) == ["missing 4-5 certain", "behindMark 5 possible"])

      try shared.secondOwner().acceptMark(at: shared.mark)
      #expect(try marked.acknowledgeAuditLog(of: marked.group()).map(\.short) == ["missing 4-5 acknowledged"])
      #expect(try marked.readAuditLog(of: marked.group()).open.isEmpty)
    }
  }

  @Test(arguments: [(500, 8), (1, 12)])
  func `a handed-over file that nobody can read does not hide that the log is behind the mark`(
    _ number: Int, _ place: Int
  ) throws {
    try withMarked { shared, vault in
      let before = try FileBytes.read(shared.log())
      try shared.read(1, by: vault)
      try FileBytes.write(before, to: shared.log())
      // A later version or a later epoch, and a state that does not open.
      var header = try shared.logBytes().header
      header[place] = 2
      header[100] ^= 1
      try FileBytes.write(header, to: shared.log(number))

      let marked = try shared.markedOwner()
      let found = try marked.readAuditLog(of: marked.group()).findings
      #expect(found.map(\.short) == ["badHeader 1 certain", "behindMark 5 possible"])
    }
  }

  @Test(arguments: [nil, 0, 1, 255] as [Int?]) func `a log that was removed or cut off in its header is not healthy`(
    _ count: Int?
  ) throws {
    try withMarked { shared, vault in
      try shared.read(1, by: vault)
      if let count {
        try FileBytes.write(Array(FileBytes.read(shared.log()).prefix(count)), to: shared.log())
      } else {
        try FileManager.default.removeItem(atPath: shared.log())
      }
      let marked = try shared.markedOwner()
      let health = "\(marked.health())"
      #expect(health == "failing: rolledBack")
      #expect(try marked.auditProblems().map(\.isRefusal) == [true])
      #expect(try FileManager.default.fileExists(atPath: shared.log()) == (count != nil))

      try shared.secondOwner().acceptMark(at: shared.mark)
      let accepted = "\(marked.health())"
      #expect(accepted == "ready")
      try shared.read(1, by: marked)
    }
  }
}
