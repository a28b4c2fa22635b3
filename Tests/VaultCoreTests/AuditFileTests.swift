import Foundation
import Glibc
import Synchronization
import Testing
import VaultSealing

@testable import VaultCore

/// The files of a log: handing over, removing, setting aside, acknowledging, and races with rotations.
struct AuditFileTests {
  private static let small = AuditLimits(fileKibibytes: 16)

  @Test func `many reads with a tiny limit, by several handles and threads, leave one whole chain of files`() throws {
    try AuditedVault.with(limits: Self.small, groups: ["default"]) { shared in
      let handles = [shared.owner, try shared.secondOwner(), try shared.holder(of: "default")]
      try onThreads(6) { number in
        for _ in 0..<100 {
          let value = try handles[number % 3].text("password")
          #expect(value == "s3cret")
        }
      }

      let events = try shared.owner.auditEvents()
      #expect(events.count(where: { $0.action == .read }) == 600)
      let handedOver = events.count { $0.action == .handOver }
      #expect(handedOver > 5)
      for number in 1...handedOver { #expect(try FileBytes.status(shared.log(number)).st_nlink == 1) }
      #expect(try FileBytes.status(shared.log()).st_size <= 16 << 10 + AuditAppend.reserveBytes)
    }
  }

  @Test func `a holder hands over without an owner, and what was logged before stays readable`() throws {
    try AuditedVault.with { shared in
      let holder = try shared.holder(of: "one")
      _ = try holder.text("password", in: "one")
      try holder.handOverAuditLog(of: holder.group(named: "one"))
      _ = try holder.text("password", in: "one")

      #expect(try holder.auditedActions(of: "one") == ["start", "read password", "hand over", "read password"])
    }
  }

  @Test func `what others append while a log is verified is no finding`() throws {
    try AuditedVault.with { shared in
      try shared.read(2)
      let other = try shared.secondOwner()
      var isFirst = true
      let report = try shared.owner.readAuditLog(of: shared.owner.group()) { _ in
        guard isFirst else { return }
        isFirst = false
        #expect(throws: Never.self) { try shared.read(3, by: other) }
      }

      #expect(report.findings.map(\.short) == [])
      #expect(try shared.found() == [])
    }
  }

  @Test(arguments: [false, true]) func `a log that was removed does not begin as if it had never been there`(
    isOff: Bool
  ) throws {
    try AuditedVault.with(groups: ["default"]) { shared in
      try shared.read(1)
      if isOff { _ = try shared.owner.setAuditing(nil) }
      unlink(try shared.log())
      _ = try shared.owner.setAuditing(.failOpen)

      #expect(try shared.found() == ["continued 1 possible"])
    }
  }

  @Test func `a frame of a later key behind the last event of a file that was handed over hides nothing`() throws {
    try AuditedVault.with(groups: ["default"]) { shared in
      try shared.read(1)
      try shared.owner.handOverAuditLog(of: shared.owner.group())
      try shared.read(1)
      var log = try LogBytes(FileBytes.read(shared.log(1)))
      var frame = log.events[log.events.count - 1]
      frame[4] += 7
      frame[8] += 1
      log.events.append(frame)
      log.reserve = Array(log.reserve.dropFirst(frame.count))
      try FileBytes.write(log.file, to: shared.log(1))

      var last: UInt64 = 0
      let report = try shared.owner.readAuditLog(of: shared.owner.group()) { last = $0.number }
      #expect(report.findings.map(\.short) == ["debris 4 certain"])
      #expect(last == 4)
    }
  }

  @Test(arguments: ["linked", "event", "header", "both"]) func `a handing over that was interrupted is finished`(
    _ step: String
  ) throws {
    try AuditedVault.with { shared in
      try shared.read(1)
      let before = try FileBytes.read(shared.log())
      try shared.owner.handOverAuditLog(of: shared.owner.group())
      let handedOver = try LogBytes(FileBytes.read(shared.log(1)))
      // The states that a kill leaves: with the second name, with the event behind the header, and with both.
      var log = try LogBytes(before)
      if step == "event" || step == "both" { (log.events, log.reserve) = (handedOver.events, handedOver.reserve) }
      if step == "header" { log = handedOver }
      unlink(try shared.log())
      unlink(try shared.log(1))
      try shared.write(log)
      if step != "event" {
        let (path, second) = (try shared.log(), try shared.log(1))
        try #require(link(path, second) == 0)
      }
      #expect(try shared.findings().isEmpty)
      try shared.read(1, by: shared.secondOwner())

      let expected = ["start", "read password"] + (step == "linked" ? [] : ["hand over"]) + ["read password"]
      #expect(try shared.owner.auditedActions() == expected)
      try shared.owner.handOverAuditLog(of: shared.owner.group())
      try shared.read(1)
      #expect(try shared.findings().isEmpty)
    }
  }

  @Test func `a file that was not handed over after all keeps one name`() async {
    await #expect(processExitsWith: .exitCode(42)) {
      try AuditedVault.with(groups: ["default"]) { shared in
        try shared.read(1)
        let (path, second) = (try shared.log(), try shared.log(1))
        signal(SIGXFSZ, SIG_IGN)
        var limit = rlimit(rlim_cur: 0, rlim_max: rlim_t.max)
        try #require(setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit) == 0)
        let refused = refusal { try shared.owner.handOverAuditLog(of: shared.owner.group()) }
        limit.rlim_cur = rlim_t.max
        try #require(setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit) == 0)
        let isTakenBack = refused != nil && !FileManager.default.fileExists(atPath: second)

        // What a kill leaves is taken back by the next append.
        try #require(link(path, second) == 0)
        try shared.read(1, by: shared.secondOwner())
        let isAlone = !FileManager.default.fileExists(atPath: second)
        try shared.read(1)
        exit(try isTakenBack && isAlone && shared.findings().isEmpty ? 42 : 1)
      }
    }
  }

  @Test func `bytes behind a file's maximum length are cut off, and erasing them leaves no longer file`() throws {
    try AuditedVault.with(groups: ["default"]) { shared in
      var log = try shared.logBytes()
      try log.reseal(shared.keys()) { $0.end = AuditHeader.fileBytes - (8 << 10) }
      try FileBytes.write(log.header, to: shared.log())
      try #require(truncate(shared.log(), AuditHeader.fileBytes + 1) == 0)
      // Its second name is taken, so that it is not handed over.
      try FileBytes.write([1], to: shared.log(1))
      for _ in 0..<2 {
        try shared.read(1, by: shared.secondOwner())
        #expect(try Int(FileBytes.status(shared.log()).st_size) == AuditHeader.fileBytes)
      }
    }
  }

  @Test func `files are removed after the days that the setting says, with an event about it`() throws {
    try SharedVault.with(groups: ["default"]) { shared in
      let now = Mutex<Int64>(1_700_000_000_000)
      var options = Vault.Options.sample(seed: "later")
      options.now = { now.withLock(\.self) }
      let vault = try Vault.opened(at: shared.path, options: options)
      try vault.setAuditing(.failClosed, limits: AuditLimits(keptDays: 2))
      let group = try vault.group()
      for _ in 0..<4 {
        _ = try vault.text("password")
        try vault.handOverAuditLog(of: group)
        now.withLock { $0 += 86_400_000 }
      }
      _ = try vault.text("password")

      #expect(try !FileManager.default.fileExists(atPath: shared.log(1)))
      #expect(try FileManager.default.fileExists(atPath: shared.log(2)))
      #expect(try vault.auditLimits() == AuditLimits(keptDays: 2))
      let report = try vault.readAuditLog(of: group)
      #expect(report.findings.isEmpty)
      // A file more than the event says.
      try FileManager.default.removeItem(atPath: shared.log(2))
      let more = try vault.readAuditLog(of: group).findings
      #expect(more.map(\.code) == [.earlierFiles] && more.map(\.isCertain) == [false])
    }
  }

  @Test func `what was acknowledged does not count, and a further change does`() throws {
    try AuditedVault.with { shared in
      try shared.read(5)
      var log = try shared.logBytes()
      log.events[2][100] ^= 1
      log.reserve[0] = 7
      try shared.write(log)
      let vault = try shared.holder(of: "default")
      let group = try vault.group()
      let acknowledged = try vault.acknowledgeAuditLog(of: group)
      // The event erases the bytes behind the last one, which then are those before itself.
      #expect(acknowledged.map(\.short) == ["missing 3 acknowledged", "interrupted 7 acknowledged"])

      let report = try vault.readAuditLog(of: group)
      #expect(report.findings.map(\.short) == ["missing 3 acknowledged", "interrupted 7 acknowledged"])
      #expect(report.open.isEmpty)
      #expect(try vault.acknowledgeAuditLog(of: group).isEmpty)
      log = try shared.logBytes()
      log.events[4][100] ^= 1
      try shared.write(log)
      #expect(try vault.readAuditLog(of: group).open.map(\.short) == ["missing 5 certain"])
    }
  }

  @Test func `what is found before the numbers begin again is acknowledged, and a file of a later key is named`() throws
  {
    try AuditedVault.with(groups: ["default"]) { shared in
      try shared.read(11)
      let (backup, log, handedOver) = (shared.path + ".backup", try shared.log(), try shared.log(1))
      try shared.owner.backUp(to: backup)
      let group = try shared.owner.group()
      try shared.owner.rotate(group)
      try shared.owner.handOverAuditLog(of: group)
      try shared.read(1)
      _ = try Vault.restore(backup, to: shared.path, credential: .key(try .sample()), replacing: true)
      try FileManager.default.removeItem(atPath: log)
      let vault = try shared.secondOwner()
      try shared.read(1, by: vault)
      let before = try vault.readAuditLog(of: group).findings
      #expect(before.map(\.short) == ["laterKey 14 possible", "fileMissing 14 possible", "continued 1 possible"])

      let acknowledged = try vault.acknowledgeAuditLog(of: group)
      #expect(acknowledged.map(\.short) == ["fileMissing 14 acknowledged", "continued 1 acknowledged"])
      let open = try vault.readAuditLog(of: group).open
      #expect(open.map(\.short) == ["laterKey 14 possible"] && open.map(\.file) == [handedOver])
    }
  }

  @Test func `a copy under the next number does not take the place of the file that is handed over`() throws {
    try AuditedVault.with(groups: ["default"]) { shared in
      try shared.read(1)
      try FileBytes.write(FileBytes.read(shared.log()), to: shared.log(1))
      try shared.owner.handOverAuditLog(of: shared.owner.group())
      try shared.read(1)

      let expected = ["start", "read password", "hand over", "read password"]
      #expect(try shared.owner.auditedActions() == expected)
    }
  }

  @Test func `a new group has its log before it is there`() throws {
    try AuditedVault.with { shared in
      let group = try shared.owner.createGroup("later")
      #expect(try shared.owner.auditedActions(of: "later") == ["start"])
      // The setting has no keys of other groups.
      #expect(try shared.loaded.content(group.id).auditItem?.earlier.isEmpty == true)
    }
  }

  @Test func `fail-closed, neither a group nor a rotation is made that cannot be logged`() throws {
    try AuditedVault.with { shared in
      let log = try shared.log()
      try FileManager.default.removeItem(atPath: log)
      try FileManager.default.createDirectory(atPath: log, withIntermediateDirectories: false)
      let before = try shared.bytes
      #expect(refusal { try shared.owner.rotate(shared.owner.group()) } == .io)
      #expect(refusal { try shared.owner.rotateVault() } == .io)
      #expect(try shared.bytes == before)

      try shared.owner.setAuditing(.failOpen)
      try shared.owner.rotate(shared.owner.group())
      #expect(try shared.loaded.content(shared.owner.group().id).epoch == 2)
    }
  }

  @Test func `reads, verifications and rotations beside each other accuse nobody, and each rotation is logged`() throws
  {
    try AuditedVault.with(groups: ["default"]) { shared in
      let owners = [shared.owner, try shared.secondOwner()]
      let holder = try shared.holder(of: "default")
      let group = try shared.owner.group()
      let faults = Mutex<[String]>([])
      try onThreads(4) { number in
        for _ in 0..<12 {
          switch number {
          case 0, 1: try owners[number].rotate(group)
          case 2: #expect(try holder.text("password") == "s3cret")
          default:
            let findings = try holder.readAuditLog(of: group).findings
            if !findings.isEmpty { faults.withLock { $0 += findings.map(\.short) } }
          }
        }
      }

      #expect(faults.withLock(\.self) == [])
      let actions = try shared.owner.auditEvents().map(\.action)
      #expect(actions.count { $0 == .rotate } == 24 && actions.count { $0 == .newKey } == 24)
    }
  }

  @Test func `without its feature flag a vault with a log item is tampered, and a tag of others is kept`() throws {
    try AuditedVault.with(groups: ["default"]) { shared in
      var parts = try shared.parts
      parts.head.store(UInt16(0), at: 10)
      try FileBytes.write(parts.file, to: shared.path + ".flag")
      let holder = try Vault.open(
        at: shared.path + ".flag", credential: shared.credential(of: "default"), options: .sample())
      #expect(refusal { try holder.text("password") } == .tampered)
    }
    try SharedVault.with { shared in
      try shared.owner.rewrite { (draft, _) throws(VaultError) in
        for tag in [1, 2] as [UInt16] {
          draft.extensionField = try Extension.replacing(tag, in: draft.extensionField, with: [9, 9, 9])
          draft.groups[0].extensionField = try Extension.replacing(
            tag, in: draft.groups[0].extensionField, with: [9, 9, 9])
        }
        draft.groups[0].sealed = nil
        return nil
      }
      #expect(try shared.owner.auditing() == nil)
      try shared.owner.setAuditing(.failClosed)
      let content = try shared.loaded.content(shared.loaded.groups[0].id)
      for tag in [1, 2] as [UInt16] {
        #expect(try Extension.sole(tag, in: content.extensionField.bytes) == [9, 9, 9])
      }
    }
  }

  @Test func `an unknown policy is fail-closed, and kept`() throws {
    try AuditedVault.with(groups: ["default"]) { shared in
      try shared.owner.rewrite { (draft, _) throws(VaultError) in
        var item = AuditItem()
        item.policyNumber = 7
        draft.groups[0].extensionField = try item.put(in: draft.groups[0].extensionField)
        draft.groups[0].sealed = nil
        return nil
      }
      let holder = try shared.holder(of: "default")
      #expect(try holder.auditing() == .failClosed)
      try holder.set("x", forKey: "a")
      try holder.compact()
      #expect(try shared.loaded.content(shared.owner.group().id).auditItem?.policyNumber == 7)
    }
  }

  @Test func `a snapshot from before the log was switched on is logged as soon as its handle knows`() throws {
    try SharedVault.with { shared in
      let group = try shared.owner.group()
      let records = try shared.owner.takeRecords(service: Vault.Name("db"), in: group)
      try shared.owner.setAuditing(.failClosed)
      try shared.owner.readValue("password", in: records) { _, _ in }

      #expect(try shared.owner.auditedActions() == ["start", "read password"])
      try shared.owner.setAuditing(nil)
      try shared.owner.readValue("password", in: records) { _, _ in }
      #expect(try shared.owner.auditedActions() == ["start", "read password", "stop"])
    }
  }
}
