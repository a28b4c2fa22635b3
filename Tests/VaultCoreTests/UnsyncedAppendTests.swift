import Glibc
import Synchronization
import SyncFaulting
import Testing

@testable import VaultCore

/// Appends whose sync fails (`Docs/Format.md` 5.1).
struct UnsyncedAppendTests {
  @Test(arguments: ["owner", "holder"])
  func `an append that is not synced is made by a full write, although the page cache has dropped it`(
    by writer: String
  ) throws {
    try SharedVault.with { shared in
      let vault = writer == "owner" ? try shared.secondOwner() : try shared.holder(of: "one")
      try vault.set("first", forKey: "a", in: "one")
      try shared.owner.set("other", forKey: "a", in: "two")
      let before = try shared.bytes
      let failed = Tally()

      try SyncFault.with { descriptor in
        guard !SyncFault.isDirectory(descriptor), failed.count.load(ordering: .relaxed) == 0 else { return nil }
        failed.count.add(1, ordering: .relaxed)
        // The system may forget what it could not write. The file is then read as it is on the disk.
        pwrite(descriptor, before, before.count, 0)
        ftruncate(descriptor, off_t(before.count))
        return EIO
      } during: {
        try vault.set("second", forKey: "a", in: "one")
      }

      #expect(failed.count.load(ordering: .relaxed) == 1)
      let fresh = try shared.secondOwner(seed: "fresh")
      #expect(try fresh.text("a", in: "one") == "second")
      #expect(try fresh.text("a", in: "two") == "other")
      #expect(try vault.text("a", in: "one") == "second")
      try vault.set("third", forKey: "a", in: "one")
      #expect(try fresh.text("a", in: "one") == "third")
    }
  }

  @Test func `an append that is not synced is made by a full write, although the handle was locked meanwhile`() throws {
    try SharedVault.with { shared in
      let (vault, failed) = (try shared.secondOwner(), Tally())

      try SyncFault.with { descriptor in
        guard !SyncFault.isDirectory(descriptor), failed.count.load(ordering: .relaxed) == 0 else { return nil }
        failed.count.add(1, ordering: .relaxed)
        vault.lock()
        return EIO
      } during: {
        try vault.set("second", forKey: "a", in: "one")
      }

      #expect(failed.count.load(ordering: .relaxed) == 1)
      #expect(vault.isLocked)
      #expect(try shared.owner.text("a", in: "one") == "second")
    }
  }

  @Test func `an append that is not synced and cannot be made by a full write has unknown durability`() throws {
    try SharedVault.with { shared in
      let code = SyncFault.with {
        SyncFault.isDirectory($0) ? nil : EIO
      } during: {
        refusal { try shared.owner.set("new", forKey: "password") }
      }

      #expect(code == .durabilityUnknown)
      try shared.owner.set("newer", forKey: "password")
      #expect(try shared.secondOwner().text("password") == "newer")
    }
  }
}
