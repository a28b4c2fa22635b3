import Foundation
import Glibc
import Synchronization
import Testing
import VaultSealing

@testable import VaultCore

/// Logs of a vault that is locked, or whose file another process holds.
struct AuditLockTests {
  @Test func `a log that another process holds delays no call of other groups`() throws {
    try AuditedVault.with { shared in
      try shared.owner.createMark(at: shared.mark)
      let vault = try shared.markedOwner()
      let (one, service) = (try vault.group(named: "one"), try Vault.Name("db"))
      try shared.read(1, by: vault)
      let held = try ForeignLock(on: shared.log())
      let isEnded = Atomic(false)
      Thread.detachNewThread {
        _ = try? vault.text("password")
        isEnded.store(true, ordering: .releasing)
      }
      usleep(300_000)  // until it waits

      try vault.transaction(service: service, in: one) { batch throws(VaultError) in
        try batch.set("v".utf8Span.span.bytes, kind: .string, forKey: "k")
      }
      let length = try vault.withValue(service: service, key: "k", in: one) { $1.byteCount }
      let isLocked = vault.isLocked
      let wasEnded = isEnded.load(ordering: .acquiring)
      held.release()

      #expect(length == 1 && !isLocked)
      #expect(!wasEnded)
      for _ in 0..<2_000 where !isEnded.load(ordering: .acquiring) { usleep(5_000) }
      let hasEnded = isEnded.load(ordering: .acquiring)
      #expect(hasEnded)
    }
  }

  @Test func `a vault that is locked has no keys of its logs`() throws {
    try AuditedVault.with { shared in
      let vault = try shared.secondOwner()
      try shared.read(2, by: vault)
      weak var keys: AuditKeys?
      let group = try vault.group().id
      try vault.handle.withCurrent { (_, state) throws(VaultError) in
        keys = try state.content(group).audit(state.sealer)
      }
      #expect(keys != nil)

      vault.lock()

      #expect(keys == nil)
    }
  }
}
