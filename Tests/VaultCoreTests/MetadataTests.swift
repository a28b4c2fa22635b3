import Foundation
import Testing
import VaultCore
import VaultSealing

extension EveryStorage {
  /// What is written down about a record, its history, and compare-and-set.
  struct MetadataTests {}
}

extension EveryStorage.MetadataTests {
  private func with(
    now: @escaping @Sendable () -> Int64 = { 1_000 }, _ body: (Vault, AccessGroup, Vault.Name, String) throws -> Void
  ) throws {
    try TemporaryDirectory.with { directory in
      var options = Vault.Options.sample()
      options.now = now
      let vault = try Vault.sample(at: directory + "/s.spv", options: options)
      try body(vault, try vault.group(), try Vault.Name("db"), directory + "/s.spv")
    }
  }

  private func edit(_ change: (inout RecordEdit) throws -> Void) rethrows -> RecordEdit {
    var edit = RecordEdit()
    try change(&edit)
    return edit
  }

  @Test func `item 118: metadata is set, read without opening the value, changed and removed`() throws {
    try with { vault, group, service, path in
      let all = try edit {
        $0.label = .set("Läbel")
        $0.comment = .set("a comment")
        $0.expiry = .set(5_000)
        $0.attributes = .set([try .init("owner", [1, 2]), try .init("team", [])])
      }
      try vault.transaction(service: service, in: group) { batch throws(VaultError) in
        try batch.set("v", forKey: "key")
        try batch.edit("key", all)
      }

      let made = try #require(try vault.record(service: service, key: "key", in: group))
      #expect(made.label == "Läbel")
      #expect(made.comment == "a comment")
      #expect(made.expiry == 5_000)
      #expect(try made.attributes == [.init("owner", [1, 2]), .init("team", [])])

      let less = edit {
        $0.label = .set("new")
        $0.comment = .remove
      }
      try vault.transaction(service: service, in: group) { batch throws(VaultError) in try batch.edit("key", less) }

      let again = try Vault.opened(at: path)
      let changed = try #require(try again.record(service: service, key: "key", in: try again.group()))
      #expect(changed.label == "new")
      #expect(changed.comment == nil)
      #expect(changed.attributes.count == 2)
      #expect(changed.revision == made.revision + 1)
      #expect(try again.text("key") == "v")
    }
  }

  @Test func `a new value keeps what was written down and loses its expiry`() throws {
    try with { vault, group, service, _ in
      let edit = edit {
        $0.label = .set("l")
        $0.expiry = .set(5_000)
      }
      try vault.set("old", forKey: "key")
      try vault.transaction(service: service, in: group) { batch throws(VaultError) in try batch.edit("key", edit) }

      try vault.set("new", forKey: "key")

      let record = try #require(try vault.record(service: service, key: "key", in: group))
      #expect(record.label == "l")
      #expect(record.expiry == nil)
    }
  }

  @Test func `editing what is not there is notFound and writes nothing`() throws {
    try with { vault, group, service, path in
      let before = try VaultBytes.read(path)
      #expect(
        refusal {
          try vault.transaction(service: service, in: group) { batch throws(VaultError) in
            try batch.edit("nothing", RecordEdit())
          }
        } == .notFound)
      #expect(try VaultBytes.read(path) == before)
    }
  }

  @Test func `a history keeps as many values as requested, newest first`() throws {
    try with { vault, group, service, _ in
      try vault.set("0", forKey: "key")
      let deep = edit { $0.historyDepth = .set(2) }
      try vault.transaction(service: service, in: group) { batch throws(VaultError) in try batch.edit("key", deep) }
      for value in ["1", "2", "3"] { try vault.set(value, forKey: "key") }

      let record = try #require(try vault.record(service: service, key: "key", in: group))
      #expect(record.historyDepth == 2)
      let kept = try record.previous.map { previous in
        try vault.withValue(of: record, previous: previous.revision, in: group) { String($1) }
      }
      #expect(kept == ["2", "1"])

      let shallow = edit { $0.historyDepth = .set(1) }
      try vault.transaction(service: service, in: group) { batch throws(VaultError) in try batch.edit("key", shallow) }
      #expect(try vault.record(service: service, key: "key", in: group)?.previous.count == 1)
      let none = edit { $0.historyDepth = .remove }
      try vault.transaction(service: service, in: group) { batch throws(VaultError) in try batch.edit("key", none) }
      #expect(try vault.record(service: service, key: "key", in: group)?.previous.isEmpty == true)
    }
  }

  @Test func `a kept value is restored and the present one joins the history`() throws {
    try with { vault, group, service, path in
      let deep = edit { $0.historyDepth = .set(5) }
      try vault.set("first", forKey: "key")
      try vault.transaction(service: service, in: group) { batch throws(VaultError) in try batch.edit("key", deep) }
      try vault.set("second", forKey: "key")
      let kept = try #require(try vault.record(service: service, key: "key", in: group)?.previous.first)

      try vault.transaction(service: service, in: group) { batch throws(VaultError) in
        try batch.restore("key", revision: kept.revision)
      }

      let again = try Vault.opened(at: path)
      #expect(try again.text("key") == "first")
      let record = try #require(try again.record(service: service, key: "key", in: try again.group()))
      let newest = try #require(record.previous.first)
      let value = try again.withValue(of: record, previous: newest.revision, in: try again.group()) {
        String($1)
      }
      #expect(value == "second")
      #expect(
        refusal {
          try vault.transaction(service: service, in: group) { batch throws(VaultError) in
            try batch.restore("key", revision: 999)
          }
        } == .notFound)
    }
  }

  @Test func `a write that compares another revision is a conflict and changes nothing`() throws {
    try with { vault, group, service, _ in
      try vault.set("old", forKey: "key")
      let revision = try #require(try vault.record(service: service, key: "key", in: group)).revision
      func set(_ text: String, if revision: UInt64) -> VaultError.Code? {
        refusal {
          try vault.transaction(service: service, in: group) { batch throws(VaultError) in
            try batch.set(Array(text.utf8).span.bytes, forKey: "key", ifRevision: revision)
          }
        }
      }

      #expect(set("wrong", if: revision + 1) == .conflict)
      #expect(set("must be new", if: 0) == .conflict)
      #expect(try vault.text("key") == "old")
      #expect(set("right", if: revision) == nil)
      #expect(set("late", if: revision) == .conflict)
      #expect(try vault.text("key") == "right")
    }
  }

  @Test func `of many that compare the same revision exactly one wins`() async throws {
    try await TemporaryDirectory.with { directory in
      let vault = try Vault.sample(at: directory + "/s.spv", options: .sample())
      try vault.set("0", forKey: "counter")
      let (group, service) = (try vault.group(), try Vault.Name("db"))
      try await withThrowingTaskGroup(of: Void.self) { tasks in
        for _ in 0..<8 {
          tasks.addTask {
            for _ in 0..<10 {
              while true {
                let record = try #require(try vault.record(service: service, key: "counter", in: group))
                let number = try #require(Int(try vault.text("counter") ?? ""))
                do {
                  try await vault.transaction(service: service, in: group) { batch throws(VaultError) in
                    try batch.set(
                      Array("\(number + 1)".utf8).span.bytes, forKey: "counter", ifRevision: record.revision)
                  }
                  break
                } catch let error as VaultError where error.code == .conflict { continue }
              }
            }
          }
        }
        try await tasks.waitForAll()
      }
      #expect(try vault.text("counter") == "80")
    }
  }

  @Test func `an expired record is returned or refused, as the caller chose`() throws {
    try with { vault, group, service, path in
      let soon = edit { $0.expiry = .set(2_000) }
      try vault.set("v", forKey: "key")
      try vault.transaction(service: service, in: group) { batch throws(VaultError) in try batch.edit("key", soon) }

      for (now, policy, code) in [
        (1_999, .refuse, nil), (2_000, .refuse, .expired), (2_000, .read, nil),
      ] as [(Int64, ExpiryPolicy, VaultError.Code?)] {
        var options = Vault.Options.sample()
        options.now = { now }
        options.expiredRecords = policy
        let vault = try Vault.opened(at: path, options: options)
        #expect(refusal { try vault.text("key") } == code)
        #expect(try vault.record(service: service, key: "key", in: vault.group())?.expiry == 2_000)
      }
    }
  }

  @Test func `labels and comments beyond the limit are refused`() throws {
    try with { vault, group, service, _ in
      try vault.set("v", forKey: "key")
      let huge = edit { $0.comment = .set(String(repeating: "c", count: 1 << 16)) }
      #expect(
        refusal {
          try vault.transaction(service: service, in: group) { batch throws(VaultError) in try batch.edit("key", huge) }
        } == .valueTooLarge)
    }
  }
}

extension Vault.Transaction {
  /// Adds a string by its bytes, with a comparison.
  fileprivate mutating func set(_ bytes: RawSpan, forKey key: String, ifRevision: UInt64) throws(VaultError) {
    try set(bytes, kind: .string, forKey: key, ifRevision: ifRevision)
  }
}
