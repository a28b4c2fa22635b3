import Foundation
import Glibc
import Testing
import VaultSealing

@testable import VaultCore

extension EveryStorage {
  struct AuditTests {}
}

extension EveryStorage.AuditTests {
  @Test(.filesOnly("an exit test, whose process has files alone"), .enabled(if: isRoot))
  func `the user of an event is the one that the process has then`() async {
    await #expect(processExitsWith: .exitCode(42)) {
      try TemporaryDirectory.with { directory in
        let vault = try Vault.sample(at: directory + "/vault.spv")
        try setMode(0o755, of: directory)
        chown(directory + "/vault.spv", 65534, 65534)
        try vault.setAuditing(.failClosed)
        setuid(65534)
        _ = try vault.text("password")

        exit(try vault.auditEvents().map(\.userID) == [0, 65534] ? 42 : 1)
      }
    }
  }

  @Test func `a set behind a removal in one batch is logged as both`() throws {
    try AuditedVault.with { shared in
      let (group, service) = (try shared.owner.group(), try Vault.Name("db"))
      try shared.owner.transaction(service: service, in: group) { batch throws(VaultError) in
        try batch.remove("password")
        try batch.set("new", forKey: "password")
      }

      #expect(try shared.owner.auditedActions() == ["start", "remove password", "write password"])
    }
  }

  @Test(.filesOnly("counts the files of the folder")) func `a vault without auditing has no log`() throws {
    try SharedVault.with { shared in
      try shared.owner.set("new", forKey: "password")
      #expect(try shared.owner.text("password") == "new")

      #expect(try shared.owner.auditing() == nil)
      let directory = URL(filePath: shared.path).deletingLastPathComponent().path
      #expect(try FileManager.default.contentsOfDirectory(atPath: directory) == ["vault.spv"])
      #expect(try shared.owner.auditEvents().isEmpty)
    }
  }

  @Test func `an event has who, when and which key`() throws {
    try AuditedVault.with { shared in
      let holder = try shared.holder(of: "default")
      try shared.read(1, by: holder)

      let entry = try #require(try shared.owner.auditEvents().last)
      #expect(entry.action == .read && entry.service?.text == "db" && entry.key?.text == "password")
      #expect(entry.time == 1_700_000_000_000 && entry.userID == getuid() && entry.processID == getpid())
      #expect(!entry.program.isEmpty && entry.lost == 0)
      #expect(try entry.slot == shared.slot("default"))
    }
  }

  @Test func `each kind of read and write has its event`() throws {
    try AuditedVault.with { shared in
      let (vault, group) = (shared.owner, try shared.owner.group())
      try vault.transaction(service: Vault.Name("db"), in: group) { batch throws(VaultError) in
        var edit = RecordEdit()
        edit.historyDepth = .set(2)
        try batch.edit("password", edit)
        try batch.set("x", forKey: "user")
      }
      try vault.set("new", forKey: "password")
      let record = try #require(try vault.records(in: group).first)
      _ = try vault.withValue(of: record, previous: record.previous[0].revision, in: group) { _, _ in }
      try vault.transaction(service: Vault.Name("db"), in: group) { batch throws(VaultError) in
        try batch.restore("password", revision: record.previous[0].revision)
      }
      try vault.copy(
        "user", of: Vault.Name("db"), to: "name", of: Vault.Name("db"), in: group, isMove: true)
      try vault.remove("name")

      #expect(
        try vault.auditedActions() == [
          "start", "edit password", "write user", "write password", "read password", "restore password", "copy user",
          "write name", "remove user", "remove name",
        ])
    }
  }

  @Test func `what lends no value to a caller is not logged`() throws {
    try AuditedVault.with { shared in
      _ = try shared.owner.verify()
      try shared.owner.compact()
      let group = try shared.owner.group()
      _ = try shared.owner.records(in: group)
      #expect(try shared.owner.text("missing") == nil)
      let refused = refusal {
        try shared.owner.transaction(service: Vault.Name("db"), in: group) { batch throws(VaultError) in
          try batch.remove("password", ifRevision: 99)
        }
      }
      #expect(refused == .conflict)
      try shared.owner.remove("missing")

      #expect(try shared.owner.auditedActions() == ["start"])
    }
  }

  @Test func `a value that stays readable after a lock, and one of a snapshot, are logged`() throws {
    try AuditedVault.with { shared in
      let group = try shared.owner.group()
      try shared.owner.transaction(service: Vault.Name("db"), in: group) { batch throws(VaultError) in
        let value: [UInt8] = [1]
        try batch.set(value.span.bytes, kind: .data, forKey: "kept", accessibility: .afterFirstUnlock)
      }
      let records = try shared.owner.takeRecords(service: Vault.Name("db"), in: group)
      try shared.owner.readValue("password", in: records) { _, _ in }
      shared.owner.lock()
      _ = try shared.owner.withValue(service: Vault.Name("db"), key: "kept", in: group) { _, _ in }

      let other = try shared.secondOwner()
      #expect(try other.auditedActions() == ["start", "write kept", "read password", "read kept"])
    }
  }

  @Test func `a value of a snapshot from before a rotation is read, and logged under the new key`() throws {
    try AuditedVault.with { shared in
      let group = try shared.owner.group()
      let records = try shared.owner.takeRecords(service: Vault.Name("db"), in: group)
      try shared.secondOwner().rotate(group)
      var value: String?

      try shared.owner.readValue("password", in: records) { value = String($1) }

      #expect(value == "s3cret")
      #expect(try shared.owner.auditedActions() == ["start", "rotate", "new key", "read password"])
    }
  }

  @Test func `a group holder logs and reads the log of its own group`() throws {
    try AuditedVault.with { shared in
      let holder = try shared.holder(of: "one")
      #expect(try holder.auditing() == .failClosed)
      #expect(try holder.text("password", in: "one") == "s3cret")
      try shared.read(1)

      #expect(try holder.auditedActions(of: "one") == ["start", "read password"])
      #expect(try shared.owner.auditedActions() == ["start", "read password"])
      #expect(refusal { try holder.readAuditLog(of: shared.owner.group()) } == .groupNotGranted)
      #expect(refusal { try holder.setAuditing(nil) } == .ownerRequired)
      // Its key does not open the log of another group.
      try FileManager.default.removeItem(atPath: shared.log(of: "one"))
      try FileManager.default.copyItem(atPath: shared.log(), toPath: shared.log(of: "one"))
      #expect(refusal { try holder.text("password", in: "one") } == .tampered)
    }
  }

  @Test func `a group that is made later is logged`() throws {
    try AuditedVault.with { shared in
      try shared.owner.createGroup("later")
      try shared.owner.set("x", forKey: "a", in: "later")

      #expect(try shared.owner.auditedActions(of: "later") == ["start", "write a"])
    }
  }

  @Test func `other handles log as soon as it is switched on, and stop when it is switched off`() throws {
    try SharedVault.with { shared in
      let other = try shared.secondOwner()
      try shared.read(1, by: other)
      try shared.owner.setAuditing(.failOpen)
      try shared.read(1, by: other)
      try other.set("x", forKey: "a")
      #expect(try other.auditing() == .failOpen)
      try shared.owner.setAuditing(nil)
      try shared.read(1, by: other)
      try other.set("x", forKey: "a")

      #expect(try other.auditing() == nil)
      #expect(try other.auditedActions() == ["start", "read password", "write a", "stop"])
      try shared.owner.setAuditing(.failClosed)
      #expect(try other.auditEvents().count == 5)
    }
  }

  @Test func `a handle that only writes logs its first write after the switch`() throws {
    try SharedVault.with { shared in
      let other = try shared.secondOwner()
      try shared.owner.setAuditing(.failClosed)
      try other.set("x", forKey: "a")

      #expect(try shared.owner.auditedActions() == ["start", "write a"])
    }
  }

  @Test(arguments: ["group", "vault", "off"]) func `what was logged before a rotation stays readable`(
    _ what: String
  ) throws {
    try AuditedVault.with { shared in
      let holder = try shared.holder(of: "default")
      try shared.read(1, by: holder)
      if what == "off" { try shared.owner.setAuditing(nil) }
      for _ in 0..<2 {
        if what == "vault" { try shared.owner.rotateVault() } else { try shared.owner.rotate(shared.owner.group()) }
      }
      try shared.read(1, by: holder)

      let actions = try holder.auditedActions()
      let expected = ["start", "read password"]
      let rotations = ["rotate", "new key", "rotate", "new key", "read password"]
      #expect(actions == expected + (what == "off" ? ["stop"] : rotations))
      // The old key of each rotation announces it.
      #expect(try shared.logBytes().events.map { $0[4] } == (what == "off" ? [1, 1, 1] : [1, 1, 1, 2, 2, 3, 3]))
    }
  }

  @Test func `handles and threads write one chain`() throws {
    try AuditedVault.with(groups: ["default"]) { shared in
      let handles = [shared.owner, try shared.secondOwner(), try shared.holder(of: "default")]
      try onThreads(6) { number in
        let vault = handles[number % 3]
        for index in 0..<40 {
          #expect(try vault.text("password") == "s3cret")
          if index % 10 == 0 { try vault.set("x", forKey: "key-\(number)") }
        }
      }

      #expect(try shared.owner.auditEvents().count == 1 + 6 * 44)
    }
  }

  @Test func `the log has no name and no value in clear`() throws {
    try AuditedVault.with { shared in
      try shared.owner.set("SECRETVALUE", forKey: "SECRETNAME", service: "SECRETSERVICE")
      #expect(try shared.owner.text("SECRETNAME", service: "SECRETSERVICE") == "SECRETVALUE")

      let bytes = try FileBytes.read(shared.log())
      #expect(Data(bytes).range(of: Data("SECRET".utf8)) == nil)
      #expect(try mode(of: shared.log()) == 0o600)
    }
  }

  @Test func `a bundle is logged as the reads and writes that it is`() throws {
    try AuditedVault.with { shared in
      let group = try shared.owner.group()
      let slot = NewSlot(.key(try .sample(from: 7)))
      try shared.owner.exportBundle(
        shared.owner.records(in: group), of: group, to: shared.path + ".bundle", slot: slot)
      let bundle = try Vault.open(at: shared.path + ".bundle", credential: .key(try .sample(from: 7)))
      try shared.owner.importBundle(bundle, into: group, replacing: true)

      #expect(try shared.owner.auditedActions() == ["start", "read password", "write password"])
      #expect(try bundle.auditing() == nil)
    }
  }

  @Test(.filesOnly("salvage reads files")) func `a salvaged vault goes on with its log`() throws {
    try AuditedVault.with(groups: ["default"]) { shared in
      try shared.read(1)
      for holder in [false, true] {
        let saved = shared.path + "-\(holder)"
        let credential: Vault.Credential = holder ? try shared.credential(of: "default") : .key(try .sample())
        _ = try Vault.salvage(at: shared.path, credential: credential, to: saved)
        let log = try shared.log().replacingOccurrences(of: shared.path, with: saved)
        try FileManager.default.copyItem(atPath: shared.log(), toPath: log)
        let vault = try Vault.open(at: saved, credential: credential)
        #expect(try vault.text("password") == "s3cret")

        #expect(try vault.auditedActions() == ["start", "read password", "read password"])
      }
    }
  }
}
