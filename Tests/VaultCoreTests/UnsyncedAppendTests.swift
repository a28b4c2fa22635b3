import Glibc
import Synchronization
import SyncFaulting
import Testing

@testable import VaultCore

/// Appends whose sync fails (`Docs/Format.md` 5.1).
struct UnsyncedAppendTests {
  @Test func `an append is refused while the name of the file cannot be made durable, and the next one does it`() async
  {
    await #expect(processExitsWith: .exitCode(42)) {
      try TemporaryDirectory.with { directory in
        _ = try Vault.sample(at: directory + "/vault.spv")
        let vault = try Vault.opened(at: directory + "/vault.spv")
        // Opens the file for writing, and appends nothing.
        try vault.transaction(service: Vault.Name("db"), in: vault.group()) { batch throws(VaultError) in
          try batch.remove("missing")
        }
        let before = try FileBytes.read(vault.path)
        var limit = rlimit()
        let files = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
        try #require(getrlimit(files, &limit) == 0)
        let usual = limit.rlim_cur
        limit.rlim_cur = 0
        try #require(setrlimit(files, &limit) == 0)
        let refused = (0..<2).map { _ in refusal { try vault.set("new", forKey: "a") } }
        limit.rlim_cur = usual
        try #require(setrlimit(files, &limit) == 0)
        let isUnchanged = try FileBytes.read(vault.path) == before
        let synced = Tally()
        try SyncFault.with { descriptor in
          if SyncFault.isDirectory(descriptor) { synced.count.add(1, ordering: .relaxed) }
          return nil
        } during: {
          try vault.set("new", forKey: "a")
        }
        let isRight =
          try refused == [.io, .io] && isUnchanged && synced.count.load(ordering: .relaxed) == 1
          && vault.text("a") == "new"
        if !isRight { print(refused, isUnchanged, synced.count.load(ordering: .relaxed)) }
        exit(isRight ? 42 : 1)
      }
    }
  }

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
