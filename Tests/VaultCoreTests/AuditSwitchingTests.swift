import Foundation
import Glibc
import Synchronization
import Testing
import VaultSealing

@testable import VaultCore

/// Logs that are switched on, or cannot be.
struct AuditSwitchingTests {
  @Test func `switching on is refused where the log cannot be written, with nothing changed`() throws {
    try SharedVault.with { shared in
      try FileManager.default.createDirectory(atPath: shared.log(), withIntermediateDirectories: false)
      try expectRefused(.io, at: shared.path) { try shared.owner.setAuditing(.failOpen) }
      #expect(try shared.owner.auditing() == nil)
    }
  }

  @Test func `what is not switched on for want of space leaves no log, or one that says it is off`() async {
    await #expect(processExitsWith: .exitCode(42)) {
      try TemporaryDirectory.with { directory in
        let vault = try Vault.sample(at: directory + "/vault.spv", options: .sample(reserve: 256 << 10))
        signal(SIGXFSZ, SIG_IGN)
        func refusedWithoutSpace(_ body: () throws -> Void) throws -> VaultError.Code? {
          // Enough for a log, and not for another file of the vault.
          try limitFiles(to: 128 << 10)
          let code = refusal(of: body)
          try limitFiles(to: nil)
          return code
        }

        let first = try refusedWithoutSpace { try vault.setAuditing(.failClosed) }
        let names = try FileManager.default.contentsOfDirectory(atPath: directory)
        try vault.setAuditing(.failClosed)
        try vault.setAuditing(nil)
        let limits = AuditLimits(fileKibibytes: 32)
        let second = try refusedWithoutSpace { try vault.setAuditing(.failClosed, limits: limits) }
        let actions = try vault.auditedActions()
        try vault.setAuditing(.failClosed)
        let group = try refusedWithoutSpace { _ = try vault.createGroup("new") }
        let logs = try FileManager.default.contentsOfDirectory(atPath: directory).filter { $0.contains(".audit-") }
        let isRight =
          [first, second, group] == [.io, .io, .io] && names == ["vault.spv"]
          && actions == ["start", "stop", "start", "stop"] && logs.count == 1
        if !isRight { print(first as Any, second as Any, group as Any, names, actions, logs) }
        exit(isRight ? 42 : 1)
      }
    }
  }

  @Test func `a log that others have written to is not taken back`() throws {
    try SharedVault.with { shared in
      let group = try shared.owner.group().id
      let log = try shared.owner.handle.auditLog(of: group)
      let keys = try shared.keys()
      var start = AuditLog.Event(action: .start, item: (AuditBody.Tag.policy, [keys.policy.number]))
      start.beginsLog = true
      _ = try log.append([start], keys, by: .zero, isSynced: true)
      let other = try shared.secondOwner().handle.auditLog(of: group)
      _ = try other.append([AuditLog.Event(action: .newKey)], keys, by: .zero, isSynced: true)

      try log.takeBackStart(keys, by: .zero)
      #expect(try shared.owner.auditedActions() == ["start", "new key", "stop"])
      try log.takeBackStart(keys, by: .zero)
      #expect(try shared.owner.auditedActions().count == 3)
    }
  }

  @Test func `switching on names a file that had the name of the log and is shorter than one`() throws {
    try SharedVault.with { shared in
      try FileBytes.write(Array("note".utf8), to: shared.log())
      #expect(try shared.owner.setAuditing(.failClosed).setAside == [shared.log() + ".aside-1"])
      #expect(try FileBytes.read(shared.log() + ".aside-1") == Array("note".utf8))
      #expect(try shared.owner.auditedActions() == ["start"])
      #expect(try shared.owner.setAuditing(.failOpen).setAside == [])
    }
  }

  @Test func `switching on again sets a log aside that cannot be continued`() throws {
    try AuditedVault.with { shared in
      try AuditFailureTests.Obstacle.damagedHeader.put(at: shared.log())
      let broken = try FileBytes.read(shared.log())
      #expect(try shared.owner.setAuditing(.failClosed).setAside == [shared.log() + ".aside-1"])

      try shared.read(1)
      #expect(try FileBytes.read(shared.log() + ".aside-1") == broken)
      #expect(try shared.found() == ["continued 1 possible"])
    }
  }

  @Test func `switching on again sets a log of a later version aside`() throws {
    try AuditedVault.with { shared in
      var log = try shared.logBytes()
      (log.header[8], log.header[100]) = (2, log.header[100] ^ 1)
      try shared.write(log)
      #expect(refusal { try shared.secondOwner().text("password") } == .unsupportedVersion)

      #expect(try shared.owner.setAuditing(.failClosed).setAside == [shared.log() + ".aside-1"])
      try shared.read(1)
      #expect(try shared.found() == ["continued 1 possible"])
    }
  }
}
