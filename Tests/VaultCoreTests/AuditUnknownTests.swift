import Foundation
import Glibc
import Synchronization
import SyncFaulting
import Testing
import VaultSealing

@testable import VaultCore

/// Acts on a log alone that fail after their first change.
struct AuditUnknownTests {
  /// A vault of whose log a holder has something to acknowledge.
  private func withFinding(_ body: (SharedVault, AccessGroup) throws -> Void) throws {
    try AuditedVault.with(groups: ["default"]) { shared in
      try FileManager.default.removeItem(atPath: shared.log())
      try shared.read(1)
      #expect(try shared.found() == ["continued 1 possible"])
      try body(shared, try shared.owner.group())
    }
  }

  @Test func `an acknowledgement that cannot be synced has unknown durability`() throws {
    try withFinding { shared, group in
      let code = SyncFault.with {
        SyncFault.isDirectory($0) ? nil : EIO
      } during: {
        refusal { try shared.owner.acknowledgeAuditLog(of: group) }
      }

      #expect(code == .durabilityUnknown)
      let found = try shared.found()
      #expect(found == ["continued 1 acknowledged"])
      #expect(try shared.owner.acknowledgeAuditLog(of: group).isEmpty)
    }
  }

  @Test func `an acknowledgement after which the log cannot be verified has unknown durability`() throws {
    try withFinding { shared, group in
      let vault = try shared.secondOwner()
      let code = SyncFault.with { _ in
        vault.lock()
        return nil
      } during: {
        refusal { try vault.acknowledgeAuditLog(of: group) }
      }

      #expect(code == .durabilityUnknown)
      #expect(try shared.found() == ["continued 1 acknowledged"])
    }
  }

  @Test func `an acknowledgement that is not written leaves the log as it is`() throws {
    try withFinding { shared, group in
      let vault = try shared.secondOwner()
      try FileManager.default.linkItem(atPath: shared.log(), toPath: shared.log() + ".name")
      #expect(try vault.acknowledgeAuditLog(of: group).isEmpty)  // unreadable, which cannot be acknowledged
      try FileManager.default.removeItem(atPath: shared.log() + ".name")
      var log = try shared.logBytes()
      log.header[100] ^= 1
      try shared.write(log)
      let before = try FileBytes.read(shared.log())

      #expect(refusal { try vault.acknowledgeAuditLog(of: group) } == .tampered)
      #expect(try FileBytes.read(shared.log()) == before)
    }
  }

  @Test(arguments: [false, true]) func `a handing over that cannot be synced has unknown durability`(
    isDirectory: Bool
  ) throws {
    try AuditedVault.with(groups: ["default"]) { shared in
      let group = try shared.owner.group()
      let code = SyncFault.with {
        SyncFault.isDirectory($0) == isDirectory ? EIO : nil
      } during: {
        refusal { try shared.owner.handOverAuditLog(of: group) }
      }

      #expect(code == .durabilityUnknown)
      try shared.read(1)
      #expect(try shared.owner.auditedActions().contains("hand over"))
    }
  }

  @Test func `a handing over whose second name cannot be made leaves the log as it is`() throws {
    try AuditedVault.with(groups: ["default"]) { shared in
      let group = try shared.owner.group()
      let path = try shared.log(1)
      try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
      #expect(refusal { try shared.owner.handOverAuditLog(of: group) } == .io)

      try FileManager.default.removeItem(atPath: path)
      #expect(try shared.owner.auditedActions() == ["start"])
    }
  }

  @Test(arguments: [false, true])
  func `a setting that some groups have, or may have, is not said to be unchanged`(isLocked: Bool) throws {
    try AuditedVault.with(groups: ["default", "one"]) { shared in
      let vault = try shared.secondOwner()
      let file = try FileBytes.status(shared.path).st_ino
      let logs = try shared.groups.map { try FileBytes.status(shared.log(of: $0)).st_ino }
      let syncs = Tally()
      let code = SyncFault.with { descriptor in
        var status = stat()
        fstat(descriptor, &status)
        if SyncFault.isDirectory(descriptor) || logs.contains(status.st_ino) { return nil }
        // A full write fails, so that the setting is appended for each group.
        guard status.st_ino == file else { return EIO }
        guard syncs.count.add(1, ordering: .relaxed).oldValue == 0 else { return EIO }
        if isLocked { vault.lock() }
        return nil
      } during: {
        refusal { try vault.setAuditing(nil) }
      }

      #expect(code == .durabilityUnknown)
      let state = try shared.loaded
      let policies = try state.groups.map { try state.content($0.id).auditItem?.policy }
      #expect(policies.filter { $0 == nil }.count == 1)
      try shared.secondOwner(seed: "fresh").setAuditing(nil)
      #expect(try shared.owner.auditing() == nil)
    }
  }

  @Test func `an error after a log was set aside names its new path`() throws {
    try AuditedVault.with(groups: ["default", "one"]) { shared in
      var log = try shared.logBytes()
      log.header[100] ^= 1
      try shared.write(log)
      try FileManager.default.removeItem(atPath: shared.log(of: "one"))
      try FileManager.default.createDirectory(atPath: shared.log(of: "one"), withIntermediateDirectories: false)

      let error = #expect(throws: VaultError.self) { try shared.owner.setAuditing(.failClosed) }
      #expect(error?.code == .io)
      let aside = try shared.log() + ".aside-1"
      #expect(error?.message.contains(aside) == true)
      #expect(try shared.owner.auditing() == .failClosed)
    }
  }
}
