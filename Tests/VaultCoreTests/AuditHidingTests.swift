import Foundation
import Glibc
import Synchronization
import Testing
import VaultSealing

@testable import VaultCore

/// What a person can try who may write to the directory and wants to hide what was read: claims of later keys, files of
/// other kinds under the names of the log, a switched-off log.
struct AuditHidingTests {
  // MARK: Later keys

  /// Puts a later epoch into a header.
  private static func raise(_ path: String, by count: UInt8 = 1) throws {
    var file = try FileBytes.read(path)
    file[12] += count
    try FileBytes.write(file, to: path)
  }

  /// A frame that looks like the next event of a later epoch.
  private static func laterFrame(_ number: UInt64, epoch: UInt32 = 2) -> [UInt8] {
    var frame = [UInt8](repeating: 7, count: 216)
    frame.store(UInt32(216), at: 0)
    frame.store(epoch, at: 4)
    frame.store(number, at: 8)
    return frame
  }

  @Test(arguments: [1, 200] as [UInt8]) func `a raised epoch in a header is a damaged header, and hides no event`(
    _ count: UInt8
  ) throws {
    try AuditedVault.with { shared in
      try shared.read(2)
      try shared.owner.handOverAuditLog(of: shared.owner.group())
      try shared.read(2)
      for path in [try shared.log(1), try shared.log()] { try Self.raise(path, by: count) }

      var last: UInt64 = 0
      let report = try shared.owner.readAuditLog(of: shared.owner.group()) { last = $0.number }
      #expect(report.findings.map(\.short) == ["badHeader 1 certain", "badHeader 5 certain"])
      #expect(last == 6)
      #expect(refusal { try shared.secondOwner().text("password") } == .tampered)
    }
  }

  @Test func `a header with a raised epoch and a broken state is damaged while known events are the last`() throws {
    try AuditedVault.with { shared in
      try shared.read(3)
      var log = try shared.logBytes()
      log.header[12] += 1
      log.header[200] ^= 1
      try shared.write(log)
      #expect(try shared.found() == ["badHeader 1 certain"])
      log.events.insert(Self.laterFrame(2), at: 1)
      try shared.write(log)
      #expect(try shared.found() == ["badHeader 1 certain", "debris 2 certain"])
    }
  }

  @Test func `a file behind whose events the next goes on is of no later key, and is not set aside`() throws {
    try AuditedVault.with { shared in
      try shared.read(1)
      try shared.owner.handOverAuditLog(of: shared.owner.group())
      try shared.read(1)
      var log = try LogBytes(FileBytes.read(shared.log(1)))
      log.header[12] += 1
      log.header[200] ^= 1
      log.reserve.replaceSubrange(0..<216, with: Self.laterFrame(4))
      try FileBytes.write(log.file, to: shared.log(1))
      #expect(try shared.found() == ["badHeader 1 certain"])

      try Self.raise(shared.log())
      #expect(try shared.owner.setAuditing(.failClosed).setAside == [shared.log() + ".aside-1"])
      #expect(try FileManager.default.fileExists(atPath: shared.log(1)))
    }
  }

  @Test func `a frame of a later key behind the last event is an interrupted append, and refuses nothing`() throws {
    try AuditedVault.with { shared in
      try shared.read(2)
      var log = try shared.logBytes()
      log.reserve.replaceSubrange(0..<216, with: Self.laterFrame(4))
      try shared.write(log)
      #expect(try shared.found() == ["debris 4 possible"])
      try shared.read(1, by: shared.secondOwner())
      #expect(try shared.found() == ["interrupted 4 possible"])
    }
  }

  @Test func `an event of a later key whose writer was killed is taken over by a handle that was stale`() throws {
    try AuditedVault.with(groups: ["default"]) { shared in
      let stale = try shared.holder(of: "default")
      try shared.read(1, by: stale)
      let group = try shared.owner.group()
      try shared.owner.rotate(group)
      // The header of before the event under the new key.
      let whole = try shared.logBytes()
      let keys = try shared.keys()
      var log = whole
      try log.reseal(keys) { header in
        header.count -= 1
        header.end -= whole.events[3].count
        header.last = Vault.Tag.sealed(Array(whole.events[2].dropFirst(16)))
      }
      try shared.write(log)
      #expect(try stale.readAuditLog(of: group).findings.isEmpty)
      try stale.unlock(with: shared.credential(of: "default"))
      try shared.read(1, by: stale)
      #expect(try shared.owner.auditedActions() == ["start", "read password", "rotate", "new key", "read password"])
    }
  }

  @Test func `fail-open reads go on beside a log that states a later key, and are counted`() throws {
    try AuditedVault.with(.failOpen, groups: ["default"]) { shared in
      try shared.owner.backUp(to: shared.path + ".backup")
      try shared.owner.rotateVault()
      _ = try Vault.restore(
        shared.path + ".backup", to: shared.path, credential: .key(try .sample()), replacing: true)
      let failures = Mutex<[VaultError.Code]>([])
      var options = Vault.Options.sample(seed: "open")
      options.auditFailure = { error in failures.withLock { $0.append(error.code) } }
      let vault = try Vault.opened(at: shared.path, options: options)
      try shared.read(2, by: vault)
      try vault.set("x", forKey: "a")
      #expect(failures.withLock(\.self) == [.rolledBack])
      let problems = try vault.auditProblems()
      #expect(problems.map(\.isRefusal) == [false])
    }
  }

  // MARK: Files of other kinds

  /// What stands at a name of the log in place of a file that writers leave.
  enum Stranger: String, CaseIterable {
    case directory, fifo, link, danglingLink, socket, openMode, secondLink

    func put(at path: String, from source: String) throws {
      let manager = FileManager.default
      switch self {
      case .directory: try manager.createDirectory(atPath: path, withIntermediateDirectories: false)
      case .fifo: try #require(mkfifo(path, 0o600) == 0)
      case .link: try manager.createSymbolicLink(atPath: path, withDestinationPath: source)
      case .danglingLink: try manager.createSymbolicLink(atPath: path, withDestinationPath: "nowhere")
      case .socket: try #require(mknod(path, S_IFSOCK | 0o600, 0) == 0)
      case .openMode:
        try manager.copyItem(atPath: source, toPath: path)
        try setMode(0o644, of: path)
      case .secondLink:
        try manager.copyItem(atPath: source, toPath: path)
        try manager.linkItem(atPath: path, toPath: path + "-name")
      }
    }
  }

  @Test(arguments: Stranger.allCases)
  func `what is no file of the log is a finding that names it, and the rest is read`(
    _ stranger: Stranger
  ) throws {
    try AuditedVault.with { shared in
      try shared.read(1)
      for _ in 0..<2 {
        try shared.owner.handOverAuditLog(of: shared.owner.group())
        try shared.read(1)
      }
      let kept = shared.path + ".kept"
      try FileManager.default.moveItem(atPath: shared.log(2), toPath: kept)
      try stranger.put(at: shared.log(2), from: kept)
      // And one that no log has.
      try stranger.put(at: shared.log(9), from: kept)

      let found = try shared.findings()
      #expect(
        found.map(\.short) == ["unreadable 4 possible", "unreadable 4 possible", "fileMissing 4-5 possible"])
      #expect(try found.compactMap(\.file) == [shared.log(2), shared.log(9)])
      #expect(try found[0].description.contains(shared.log(2)))
      // Reads and handing over go on.
      try shared.read(1, by: shared.secondOwner())
      try shared.owner.handOverAuditLog(of: shared.owner.group())
    }
  }

  @Test(arguments: Stranger.allCases)
  func `in place of the current file it is a finding, and the earlier files are read`(
    _ stranger: Stranger
  ) throws {
    try AuditedVault.with { shared in
      try shared.read(1)
      try shared.owner.handOverAuditLog(of: shared.owner.group())
      let kept = shared.path + ".kept"
      try FileManager.default.moveItem(atPath: shared.log(), toPath: kept)
      try stranger.put(at: shared.log(), from: kept)

      let report = try shared.owner.readAuditLog(of: shared.owner.group())
      #expect(report.findings.map(\.short) == ["unreadable 4 possible"])
      #expect(try report.findings.map(\.file) == [shared.log()])
      #expect(report.eventCount == 3)
    }
  }

  @Test(arguments: [2_147_483_647, 2_147_483_646, 1_073_741_825], ["copy", "text", "directory"])
  func `a file under a high number leaves numbers for new files`(_ number: Int, _ what: String) throws {
    try AuditedVault.with { shared in
      try shared.read(1)
      try shared.owner.handOverAuditLog(of: shared.owner.group())
      let high = try shared.log() + ".\(number)"
      switch what {
      case "copy": try FileManager.default.copyItem(atPath: shared.log(1), toPath: high)
      case "text": try FileBytes.write(Array("x".utf8), to: high)
      default: try FileManager.default.createDirectory(atPath: high, withIntermediateDirectories: false)
      }
      unlink(try shared.log())
      let vault = try shared.secondOwner()
      try shared.read(1, by: vault)
      try vault.handOverAuditLog(of: vault.group())
      try shared.read(1, by: vault)
      #expect(try FileManager.default.fileExists(atPath: shared.log(2)))
      try FileManager.default.removeItem(atPath: high)
      #expect(try shared.found() == ["continued 4 possible"])
    }
  }

  @Test func `a current file with the last number stays in use`() throws {
    try AuditedVault.with(limits: AuditLimits(fileKibibytes: 16)) { shared in
      var log = try shared.logBytes()
      try log.reseal(shared.keys()) { $0.file = AuditHeader.files.upperBound - 1 }
      try shared.write(log)
      let vault = try shared.secondOwner()
      #expect(refusal { try vault.handOverAuditLog(of: vault.group()) } == .limitExceeded)
      try shared.read(100, by: vault)
      #expect(try shared.found() == [])
    }
  }

  // MARK: Switched off

  @Test func `a log that was switched off is missed, and must end with stop`() throws {
    try AuditedVault.with(groups: ["default"]) { shared in
      try shared.read(1)
      let before = try FileBytes.read(shared.log())
      try shared.owner.setAuditing(nil)
      #expect(try shared.found() == [])
      let whole = try FileBytes.read(shared.log())
      try FileBytes.write(before, to: shared.log())
      #expect(try shared.found() == ["noStop 1 possible"])
      #expect(try shared.owner.acknowledgeAuditLog(of: shared.owner.group()).map(\.short) == ["noStop 1 acknowledged"])
      #expect(try shared.found() == ["noStop 1 acknowledged"])
      unlink(try shared.log())
      #expect(try shared.found() == ["noLog 1 possible"])
      try FileBytes.write(whole, to: shared.log())
      #expect(try shared.found() == [])
    }
  }

  @Test func `a group that was never logged has no log to miss`() throws {
    try AuditedVault.with(groups: ["default"]) { shared in
      try shared.owner.setAuditing(nil)
      try shared.owner.createGroup("later")
      #expect(try shared.found(of: "later") == [])
      try shared.owner.setAuditing(nil)
      #expect(try shared.found(of: "later") == [])
      try shared.owner.setAuditing(.failClosed)
      #expect(try shared.owner.auditedActions(of: "later") == ["start"])
    }
  }

  // MARK: Files that no verification reads

  @Test func `the log of a removed group and one that was set aside are named`() throws {
    try AuditedVault.with { shared in
      let (log, group) = (try shared.log(of: "one"), try shared.owner.group(named: "one"))
      #expect(try shared.owner.unreadAuditLogs() == [])
      try shared.owner.handOverAuditLog(of: group)
      try shared.owner.removeGroup(group)
      try shared.owner.createGroup("one")
      var broken = try shared.logBytes()
      broken.header[100] ^= 1
      try shared.write(broken)
      try shared.owner.setAuditing(.failClosed)

      let expected = [
        UnreadAuditLog(path: log, isSetAside: false), UnreadAuditLog(path: log + ".000001", isSetAside: false),
        UnreadAuditLog(path: try shared.log() + ".aside-1", isSetAside: true),
      ]
      #expect(Set(try shared.owner.unreadAuditLogs()) == Set(expected))
      #expect(Set(try shared.holder(of: "default").unreadAuditLogs()) == Set(expected))
    }
  }

  // MARK: Large files

  @Test(arguments: [0, 1 << 20, (1 << 30) - 8]) func `a sparse file of a gibibyte delays no read, and is cut short`(
    _ place: Int
  ) throws {
    try AuditedVault.with { shared in
      try shared.read(1)
      let path = try shared.log()
      try #require(truncate(path, 1 << 30) == 0)
      if place > 0 {
        let file = open(path, O_WRONLY)
        try #require(pwrite(file, [7], 1, off_t(place)) == 1)
        close(file)
      }
      let start = ContinuousClock.now
      #expect(try shared.found() == (place > 0 ? ["debris 3 possible"] : []))
      try shared.read(1, by: shared.secondOwner())
      #expect(ContinuousClock.now - start < .seconds(20))
      #expect(try shared.found() == (place > 0 ? ["interrupted 3 possible"] : []))
      #expect(try place == 0 || FileBytes.status(path).st_size < 1 << 20)
      #expect(try FileBytes.status(path).st_blocks < 1 << 12)
    }
  }
}
