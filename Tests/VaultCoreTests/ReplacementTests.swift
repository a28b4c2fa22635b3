import Foundation
import Glibc
import Synchronization
import Testing
import VaultSealing

@testable import VaultCore

/// A vault whose file is replaced, copied over, removed or in the way while it is in use.
struct ReplacementTests {
  private func withVault(_ body: (_ vault: Vault, _ path: String) throws -> Void) throws {
    try TemporaryDirectory.with { directory in
      let path = directory + "/vault.spv"
      try body(try Vault.sample(at: path), path)
    }
  }

  @Test func `row 47: a writer that waited for the lock of a replaced file writes to the new one`() throws {
    try withVault { vault, path in
      let lock = try ForeignLock(on: path)
      let isDone = Mutex(false)
      let thread = Thread {
        do { try vault.set("waited", forKey: "a") } catch { Issue.record(error) }
        isDone.withLock { $0 = true }
      }
      thread.start()
      usleep(100_000)
      try FileBytes.write(FileBytes.read(path), to: path + ".new")
      try #require(rename(path + ".new", path) == 0)
      let inode = try FileBytes.status(path).st_ino
      #expect(!isDone.withLock { $0 })
      lock.release()
      while !isDone.withLock({ $0 }) { usleep(1000) }

      #expect(try FileBytes.status(path).st_ino == inode)
      #expect(try Vault.opened(at: path).text("a") == "waited")
      #expect(try vault.text("a") == "waited")
    }
  }

  @Test func `of eight creators one makes the vault and the others find that it exists`() throws {
    try TemporaryDirectory.with { directory in
      let path = directory + "/vault.spv"
      let codes = Mutex<[VaultError.Code?]>([])
      try onThreads(8) { number in
        let code = refusal { try Vault.sample(at: path, options: .sample(seed: "creator \(number)")) }
        codes.withLock { $0.append(code) }
      }

      #expect(codes.withLock { $0.count { $0 == nil } } == 1)
      #expect(codes.withLock { $0.count { $0 == .alreadyExists } } == 7)
      #expect(try Vault.opened(at: path).text("password") == "s3cret")
      #expect(try FileManager.default.contentsOfDirectory(atPath: directory) == ["vault.spv"])
    }
  }

  @Test func `concurrent creators never replace each other's vault`() throws {
    try TemporaryDirectory.with { directory in
      for round in 0..<400 {
        let path = directory + "/vault-\(round).spv"
        let made = Mutex<[Vault.Identifier]>([])
        let codes = Mutex<[VaultError.Code]>([])
        try onThreads(6) { _ in
          // The same random bytes would make the same vault.
          var options = Vault.Options()
          options.reserveBytes = 0
          do throws(VaultError) {
            let id = try create(at: path, options).status().vaultID
            made.withLock { $0.append(id) }
          } catch { codes.withLock { $0.append(error.code) } }
        }

        #expect(made.withLock { $0 } == [try VaultInfo(at: path).vaultID])
        #expect(codes.withLock { $0 } == [VaultError.Code](repeating: .alreadyExists, count: 5))
      }
      #expect(try FileManager.default.contentsOfDirectory(atPath: directory).count == 400)
    }

    @Sendable func create(at path: String, _ options: Vault.Options) throws(VaultError) -> Vault {
      let key = try Vault.Credential.key(
        text: Array(("spv-key-1:" + String(repeating: "ab", count: 32)).utf8).span.bytes)
      return try Vault.create(at: path, slots: [NewSlot(key)], options: options)
    }
  }

  @Test func `row 56: a vault deleted while in use is not found and not recreated`() throws {
    try withVault { vault, path in
      try vault.set("value", forKey: "a")
      try #require(unlink(path) == 0)

      #expect(refusal { try vault.text("password") } == .notFound)
      #expect(refusal { try vault.set("value", forKey: "b") } == .notFound)
      #expect(refusal { try vault.status() } == .notFound)
      #expect(access(path, F_OK) != 0)
      #expect(leavesNothing(beside: path))
    }
  }

  @Test func `row 56: a vault that comes back is used again`() throws {
    try withVault { vault, path in
      try #require(rename(path, path + ".moved") == 0)
      #expect(refusal { try vault.text("password") } == .notFound)
      try #require(rename(path + ".moved", path) == 0)

      #expect(try vault.text("password") == "s3cret")
      try vault.set("new", forKey: "password")
      #expect(try vault.text("password") == "new")
    }
  }

  @Test(arguments: ["shorter journal", "longer journal", "another snapshot", "shorter file"])
  func `row 57: a vault copied over in place is loaded anew`(copy: String) throws {
    try withVault { vault, path in
      let early = try FileBytes.read(path)
      try vault.set("one", forKey: "a")
      let middle = try FileBytes.read(path)
      try vault.set("two", forKey: "a")
      let late = try FileBytes.read(path)
      try vault.fold()
      try vault.set("three", forKey: "a")
      let folded = try FileBytes.read(path)
      let (first, second, expected): ([UInt8], [UInt8], String?) =
        switch copy {
        case "shorter journal": (late, middle, "one")
        case "longer journal": (middle, late, "two")
        case "another snapshot": (late, folded, "three")
        default: (folded, early, nil)
        }
      try FileBytes.write(first, to: path)
      let reader = try Vault.opened(at: path)
      _ = try reader.text("a")
      let inode = try FileBytes.status(path).st_ino

      try FileBytes.write(second, to: path)

      #expect(try FileBytes.status(path).st_ino == inode)
      #expect(try reader.text("a") == expected)
      try reader.set("four", forKey: "b")
      #expect(try Vault.opened(at: path).text("a") == expected)
      #expect(try Vault.opened(at: path).text("b") == "four")
    }
  }

  @Test func `row 57: a load during a copy tries again until the copy is whole`() throws {
    try withVault { vault, path in
      try vault.set("value", forKey: "a")
      let file = try FileBytes.read(path)
      var isTried = false
      // The load looks three times within 100 ms. A round in which the copy took longer proves nothing.
      for _ in 0..<50 where !isTried {
        try FileBytes.write(Array(file[..<1500]), to: path)
        let start = ContinuousClock.now
        let copied = Mutex<ContinuousClock.Instant?>(nil)
        let copier = Thread {
          usleep(20_000)
          do { try FileBytes.write(file, to: path) } catch { Issue.record(error) }
          copied.withLock { $0 = .now }
        }
        copier.start()
        let outcome = Result { try Vault.opened(at: path).text("a") }
        while copied.withLock({ $0 == nil }) { usleep(500) }
        guard let end = copied.withLock({ $0 }), end - start < .milliseconds(80) else { continue }
        isTried = true
        #expect(try outcome.get() == "value")
      }
      #expect(isTried)
    }
  }

  @Test func `row 57: a file that stays damaged is damaged`() throws {
    try withVault { vault, path in
      let file = try FileBytes.read(path)
      try FileBytes.write(Array(file[..<1500]), to: path)

      #expect(refusal { try vault.text("password") } == .damaged)
      #expect(refusal { try vault.set("new", forKey: "password") } == .damaged)
      #expect(try FileBytes.read(path).count == 1500)
      try FileBytes.write(file, to: path)
      #expect(try vault.text("password") == "s3cret")
    }
  }

  @Test func `a vault replaced by one of another key is rejected, and read again when it is back`() throws {
    try withVault { vault, path in
      let file = try FileBytes.read(path)
      var options = Vault.Options.sample(seed: "another vault")
      options.now = { 1 }
      _ = try Vault.sample(at: path + ".other", options: options)
      try #require(rename(path + ".other", path) == 0)

      #expect(refusal { try vault.text("password") } == .credentialRejected)
      #expect(refusal { try vault.set("new", forKey: "password") } == .credentialRejected)
      try FileBytes.write(file, to: path)
      #expect(try vault.text("password") == "s3cret")
    }
  }

  @Test func `a write works again when a file that was refused has been put right`() throws {
    try withVault { vault, path in
      let group = try vault.group()
      let file = try FileBytes.read(path)
      var parts = try Parts(file)
      parts.entries = [try KeyHolder(file).entry(EntryDraft(generation: 9))]
      try FileBytes.write(parts.file, to: path)
      #expect(refusal { try vault.text("password") } == .malformed)

      try FileBytes.write(file, to: path)

      // The handle notices it at a write first.
      try vault.transaction(service: Vault.Name("db"), in: group) { batch throws(VaultError) in
        try batch.set("new", forKey: "password")
      }
      #expect(try Vault.opened(at: path).text("password") == "new")
    }
  }

  @Test(arguments: [
    ("symbolic link", VaultError.Code.insecurePermissions), ("directory", .notAVault), ("FIFO", .notAVault),
    ("nothing", .notFound), ("other file", .notAVault), ("mode 0644", .insecurePermissions),
  ])
  func `a write that is the first to meet something else at the path refuses it as a reader does`(
    thing: String, code: VaultError.Code
  ) throws {
    try withVault { vault, path in
      let group = try vault.group()
      if thing == "mode 0644" {
        try FileBytes.write(FileBytes.read(path), to: path + ".new")
        try setMode(0o644, of: path + ".new")
      }
      try #require(rename(path, path + ".moved") == 0)
      switch thing {
      case "symbolic link": try #require(symlink(path + ".moved", path) == 0)
      case "directory": try #require(mkdir(path, 0o700) == 0)
      case "FIFO": try #require(mkfifo(path, 0o600) == 0)
      case "other file": try FileBytes.write([1, 2, 3], to: path)
      case "mode 0644": try #require(rename(path + ".new", path) == 0)
      default: break
      }

      let error = refusal {
        try vault.transaction(service: Vault.Name("db"), in: group) { batch throws(VaultError) in
          try batch.set("new", forKey: "password")
        }
      }

      #expect(error == code)
      #expect(refusal { try Vault.opened(at: path) } == code)
    }
  }

  @Test func `row 20a: a value is sealed for the copy of the vault that it is written into`() throws {
    try withVault { vault, path in
      let group = try vault.group()
      _ = try vault.text("password")
      // Another copy whose vault key was rotated on its own: same slot, same epoch, other keys.
      let file = try FileBytes.read(path)
      try FileBytes.write(KeyHolder(file).copyWithOtherVaultKey(Parts(file)), to: path + ".copy")
      try #require(rename(path + ".copy", path) == 0)
      #expect(try Vault.opened(at: path).text("password") == "s3cret")

      try vault.transaction(service: Vault.Name("db"), in: group) { batch throws(VaultError) in
        try batch.set("new", forKey: "user")
      }

      #expect(try Vault.opened(at: path).text("user") == "new")
      #expect(try vault.text("user") == "new")
      #expect(try vault.text("password") == "s3cret")
    }
  }

  // MARK: Appending

  @Test func `row J23: two handles append in turn and one of them folds in between`() throws {
    try withVault { first, path in
      let second = try Vault.opened(at: path)
      for round in 0..<6 {
        try first.set("first \(round)", forKey: "first")
        #expect(try second.text("first") == "first \(round)")
        try second.set("second \(round)", forKey: "second")
        #expect(try first.text("second") == "second \(round)")
        if round == 2 { try second.fold() }
        if round == 4 { try first.fold(forKey: "long too") }
      }

      let status = try Vault.opened(at: path).status()
      #expect(status.generation >= 2)
      #expect(status.groups[0].generation >= 15)
      #expect(try Vault.opened(at: path).allKeys() == ["first", "long", "long too", "password", "second"])
    }
  }

  @Test(arguments: [1, 384, 385, 2000, 4000])
  func `row J24: nothing is left of a torn tail, however long`(count: Int) throws {
    try TemporaryDirectory.with { directory in
      let path = directory + "/vault.spv"
      _ = try Vault.sample(at: path, options: .sample(reserve: 4096))
      var file = try FileBytes.read(path)
      let tail = try VaultInfo(at: path).snapshotBytes
      for offset in tail..<tail + count { file[offset] = 0xEE }
      try FileBytes.write(file, to: path)
      let vault = try Vault.opened(at: path)
      #expect(try vault.status().hasTornTail)

      try vault.set("new", forKey: "password")

      let summary = try VaultInfo(at: path)
      let rest = try FileBytes.read(path)[(tail + summary.journalBytes)...]
      #expect(!summary.hasTornTail)
      #expect(rest.allSatisfy { $0 == 0 })
      #expect(try vault.text("password") == "new")
      #expect(try !vault.status().hasTornTail)
    }
  }

  @Test func `row J26: an append inside the reserve leaves size, owner, mode and inode alone`() throws {
    try TemporaryDirectory.with { directory in
      let path = directory + "/vault.spv"
      let vault = try Vault.sample(at: path, options: .sample(reserve: 4096))
      let before = try FileBytes.status(path)
      try vault.set("new", forKey: "password")
      let after = try FileBytes.status(path)

      #expect(after.st_size == before.st_size)
      #expect(after.st_ino == before.st_ino)
      #expect(after.st_mode == before.st_mode)
      #expect(after.st_uid == before.st_uid)
    }
  }
}
