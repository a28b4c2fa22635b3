import Foundation
import Glibc
import Testing
import VaultSealing

@testable import VaultCore

extension EveryStorage {
  /// Appends and folds: what is written is there, and the file stays bounded.
  struct FoldingTests {}
}

extension EveryStorage.FoldingTests {
  private func withVault(
    options: Vault.Options = .sample(), groups: [NewGroup] = [.sample()],
    _ body: (_ vault: Vault, _ path: String) throws -> Void
  ) throws {
    try TemporaryDirectory.with { directory in
      let path = directory + "/vault.spv"
      try body(try Vault.sample(at: path, groups: groups, options: options), path)
    }
  }

  @Test func `what others have changed is found across folds and rotations, and own writes are not among it`() throws {
    try TemporaryDirectory.with { directory in
      let vault = try Vault.sample(at: directory + "/vault.spv")
      let other = try Vault.opened(at: directory + "/vault.spv")
      let group = try vault.group()
      vault.recordChangesOfOthers(true)

      try vault.set("own", forKey: "own")
      try vault.fold()
      #expect(try vault.takeChangesOfOthers()[group] == .none)
      try other.set("new", forKey: "a")
      try vault.fold()
      #expect(try vault.takeChangesOfOthers()[group] == .some([Vault.Name("db"): ["a"]]))
      try other.compact()
      #expect(try vault.takeChangesOfOthers()[group] == .none)
      try other.set("newer", forKey: "a")
      try other.remove("own")
      try other.compact()
      #expect(try vault.takeChangesOfOthers()[group] == .some([Vault.Name("db"): ["a", "own"]]))
      try other.rotate(other.group())
      #expect(try vault.takeChangesOfOthers()[group] == .none)
    }
  }

  @Test(.filesOnly("only a file has a reserve"))
  func `a full write leaves out what of the reserve is above the limit of the file`() throws {
    try TemporaryDirectory.with { directory in
      let path = directory + "/vault.spv"
      var options = Vault.Options.sample(reserve: 0)
      let vault = try Vault.sample(at: path, options: options)
      try vault.set("new", forKey: "a")
      options.limits.fileBytes = try VaultBytes.read(path).count
      options.reserveBytes = 32 << 10
      let limited = try Vault.opened(at: path, options: options)

      try limited.compact()
      try limited.backUp(to: directory + "/backup.spv")

      for file in [path, directory + "/backup.spv"] {
        #expect(try VaultBytes.read(file).count == options.limits.fileBytes)
        #expect(try Vault.opened(at: file, options: options).text("a") == "new")
      }
    }
  }

  @Test func `a freshly opened vault sees every update`() throws {
    try withVault { vault, path in
      for number in 0..<30 {
        try vault.set("value \(number)", forKey: "key-\(number % 7)")
        #expect(try Vault.opened(at: path).text("key-\(number % 7)") == "value \(number)")
      }
    }
  }

  @Test func `an update of several keys is one entry and one generation`() throws {
    try withVault { vault, path in
      let removed = try vault.transaction(service: Vault.Name("db"), in: vault.group()) { batch throws(VaultError) in
        try batch.set("1", forKey: "a")
        try batch.set("2", forKey: "b")
        try batch.set("3", forKey: "a")
        try batch.remove("password")
        try batch.remove("absent")
      }

      let fresh = try Vault.opened(at: path)
      #expect(removed == 1)
      #expect(try fresh.allKeys() == ["a", "b"])
      #expect(try fresh.text("a") == "3")
      #expect(try fresh.status().entryCount == 1)
      #expect(try fresh.status().groups[0].generation == 2)
    }
  }

  @Test(arguments: ["empty", "absent"])
  func `an update without effect leaves the file alone`(update: String) throws {
    try withVault { vault, path in
      let before = try VaultBytes.read(path)

      let removed = try vault.transaction(service: Vault.Name("db"), in: vault.group()) { batch throws(VaultError) in
        if update == "absent" { try batch.remove("absent") }
      }

      #expect(removed == 0)
      #expect(try VaultBytes.read(path) == before)
    }
  }

  @Test(.filesOnly("the size of the file with its reserve"))
  func `two thousand sets leave a bounded file with the right contents`() throws {
    try withVault(options: .sample(reserve: 32 << 10)) { vault, path in
      var longest = 0
      for number in 0..<2000 {
        try vault.set("value \(number)", forKey: "key-\(number % 40)")
        if number % 20 == 0 { longest = max(longest, try FileBytes.status(path).st_size) }
      }

      let status = try Vault.opened(at: path).status()
      let summary = try VaultInfo(in: stored(path))
      #expect(summary.snapshotBytes < 16 << 10)
      #expect(summary.journalBytes <= 64 << 10)
      // Snapshot, the longest journal, one reserve.
      #expect(longest <= summary.snapshotBytes + (64 << 10) + (32 << 10))
      #expect(status.generation >= 10)
      #expect(status.groups[0].recordCount == 41)
      for number in 1960..<2000 { #expect(try vault.text("key-\(number % 40)") == "value \(number)") }
    }
  }

  @Test func `a fold keeps revisions, times and the other group's section`() throws {
    try withVault(groups: [.sample(), .sample("other")]) { vault, path in
      try vault.set("new", forKey: "password")
      try vault.set("one more", forKey: "user")
      let before = try Parts(VaultBytes.read(path))
      try vault.fold()

      let after = try Parts(VaultBytes.read(path))
      let records = try Vault.opened(at: path).records(in: vault.group())
      #expect(records.map(\.key.text) == ["long", "password", "user"])
      #expect(records.map(\.revision) == [4, 2, 3])
      #expect(records.allSatisfy { $0.created == 1_700_000_000_000 })
      #expect(after.entries.isEmpty)
      let unchanged = before.sections.map(\.sealed).filter { sealed in
        after.sections.contains { $0.sealed == sealed }
      }
      #expect(unchanged.count == 1)
      #expect(try vault.status().groups.map(\.generation).sorted() == [1, 4])
    }
  }

  @Test func `row J15: a fold empties the journal of every group`() throws {
    try withVault(groups: [.sample(), .sample("a"), .sample("b")]) { vault, path in
      for group in ["default", "a"] { try vault.set("new", forKey: "password", in: group) }
      try vault.fold()

      let fresh = try Vault.opened(at: path)
      #expect(try fresh.status().entryCount == 0)
      #expect(try fresh.status().generation == 2)
      let generations = try fresh.status().groups.map { ($0.name.text, $0.generation) }.sorted { $0.0 < $1.0 }
      #expect(generations.map(\.0) == ["a", "b", "default"])
      #expect(generations.map(\.1) == [3, 1, 3])
      for group in ["default", "a"] { #expect(try fresh.text("password", in: group) == "new") }
      #expect(try fresh.text("password", in: "b") == "s3cret")
    }
  }

  @Test(.filesOnly("compares inodes"))
  func `row J16: writes with folds in two groups give the contents of one write, at bounded cost`()
    throws
  {
    try withVault(options: .sample(reserve: 4096), groups: [.sample(), .sample("other")]) { vault, path in
      var expected: [String: String] = [:]
      var written = 0
      var last = try FileBytes.status(path).st_ino
      for number in 0..<600 {
        let (group, key) = (number % 3 == 0 ? "other" : "default", "key-\(number % 17)")
        if number % 11 == 10 {
          try vault.remove(key, in: group)
          expected[group + key] = nil
        } else {
          try vault.set("value \(number)", forKey: key, in: group)
          expected[group + key] = "value \(number)"
        }
        let status = try FileBytes.status(path)
        written += status.st_ino == last ? 4096 + 768 : status.st_size
        last = status.st_ino
      }

      let fresh = try Vault.opened(at: path)
      for group in ["default", "other"] {
        for number in 0..<17 {
          #expect(try fresh.text("key-\(number)", in: group) == expected[group + "key-\(number)"])
        }
      }
      #expect(try fresh.status().generation > 2)
      #expect(written / 600 < 8 << 10)
    }
  }

  @Test(.filesOnly("the size of the file with its reserve"), arguments: [0, 1, 383, 384, 500])
  func `row J22: an entry beyond the reserve makes the file grow`(reserve: Int) throws {
    try withVault(options: .sample(reserve: reserve)) { vault, path in
      for number in 0..<5 {
        try vault.set("value", forKey: "key-\(number)")
        let (summary, size) = (try VaultInfo(in: stored(path)), try FileBytes.status(path).st_size)
        #expect(summary.entryCount == number + 1)
        #expect(Int(size) >= summary.snapshotBytes + summary.journalBytes)
        #expect(try !Vault.opened(at: path).status().hasTornTail)
      }
      #expect(try Vault.opened(at: path).allKeys().count == 6)
    }
  }

  @Test(.filesOnly("only a file has a reserve"))
  func `row J22: an entry of several reserves is appended with a new reserve`() throws {
    try withVault(options: .sample(reserve: 512)) { vault, path in
      try vault.set([UInt8](repeating: 1, count: 20_000), forKey: "a")

      let summary = try VaultInfo(in: stored(path))
      #expect(summary.entryCount == 1)
      #expect(summary.fileBytes == summary.snapshotBytes + summary.journalBytes + 512)
    }
  }

  @Test func `row J22: a change of more than 32 MiB is a full write`() throws {
    var options = Vault.Options.sample()
    options.limits.writtenValueBytes = 16 << 20
    try withVault(options: options) { vault, path in
      let value = [UInt8](repeating: 1, count: 16 << 20)
      try vault.transaction(service: Vault.Name("db"), in: vault.group()) { batch throws(VaultError) in
        for key in ["a", "b"] { try batch.set(value, forKey: key) }
      }

      let fresh = try Vault.opened(at: path)
      #expect(try fresh.status().entryCount == 0)
      #expect(try fresh.status().generation == 2)
      #expect(try fresh.bytes("a")?.count == 16 << 20)
      #expect(try fresh.bytes("b")?.count == 16 << 20)
    }
  }

  @Test func `the journal may grow as long as the snapshot before it is folded`() throws {
    try withVault { vault, path in
      try vault.set([UInt8](repeating: 1, count: 1 << 20), forKey: "large")
      let snapshot = try VaultInfo(in: stored(path)).snapshotBytes
      try #require(snapshot > 1 << 20)
      var longest = 0
      for number in 0..<12 {
        try vault.set([UInt8](repeating: 2, count: 100_000), forKey: "key-\(number)")
        let summary = try VaultInfo(in: stored(path))
        longest = max(longest, summary.journalBytes)
        #expect(summary.journalBytes <= max(64 << 10, summary.snapshotBytes))
      }

      #expect(longest > 900_000)
      #expect(try VaultInfo(in: stored(path)).generation == 3)
    }
  }

  @Test func `row J25: a key put and removed a thousand times is absent, and so is the last record`() throws {
    try withVault { vault, path in
      for number in 0..<1000 {
        try vault.set("value \(number)", forKey: "key")
        if number % 100 == 0 { #expect(try vault.text("key") == "value \(number)") }
        #expect(try vault.remove("key") == 1)
      }
      #expect(try vault.remove("key") == 0)
      #expect(try Vault.opened(at: path).allKeys() == ["password"])
      #expect(try vault.remove("password") == 1)

      let fresh = try Vault.opened(at: path)
      #expect(try fresh.allKeys() == [])
      #expect(try fresh.status().groups[0].recordCount == 0)
      try fresh.set("again", forKey: "key")
      #expect(try vault.text("key") == "again")
    }
  }

  @Test func `row J25: a removed record that is set again starts anew`() throws {
    try withVault { vault, path in
      var options = Vault.Options.sample()
      options.now = { 7 }
      let later = try Vault.opened(at: path, options: options)
      try later.remove("password")
      try later.set("new", forKey: "password")

      let record = try vault.records(in: vault.group())[0]
      #expect(record.created == 7)
      #expect(record.revision == 3)
    }
  }

  @Test func `what a fold removed occurs nowhere in the file`() throws {
    try withVault { vault, path in
      try vault.set("value", forKey: "doomed")
      let entry = try Parts(VaultBytes.read(path)).entries[0]
      try vault.remove("doomed")
      try vault.fold()

      let file = try VaultBytes.read(path)
      let isLeft = Data(file).range(of: Data(entry[24..<80])) != nil
      #expect(!isLeft)
      #expect(leavesNothing(beside: path))
    }
  }

  @Test func `a write that would exceed the caller's file limit changes nothing`() throws {
    var options = Vault.Options.sample()
    options.limits.fileBytes = 8192
    try withVault(options: options) { vault, path in
      let before = try VaultBytes.read(path)

      #expect(refusal { try vault.set([UInt8](repeating: 1, count: 10_000), forKey: "a") } == .limitExceeded)
      #expect(try VaultBytes.read(path) == before)
      #expect(leavesNothing(beside: path))
      try vault.set("small", forKey: "a")
      #expect(try vault.text("a") == "small")
    }
  }
}
