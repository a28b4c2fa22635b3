import Foundation
import Glibc
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
