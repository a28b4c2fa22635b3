import Testing
import VaultSealing

@testable import VaultCore

extension EveryStorage {
  /// Several changes of one record in one batch: one write, as if they had been made one after the other.
  struct BatchTests {}
}

extension EveryStorage.BatchTests {
  struct Sample {
    let vault: Vault
    let group: AccessGroup
    let service: Vault.Name
    let path: String

    func record(_ key: String = "key") throws -> RecordInfo? {
      try vault.record(service: service, key: key, in: group)
    }

    func update(_ body: (inout Vault.Transaction) throws(VaultError) -> Void) throws(VaultError) {
      try vault.transaction(service: service, in: group, body)
    }

    /// The kept earlier values, newest first.
    func kept() throws -> [String?] {
      let record = try #require(try record())
      return try record.previous.map { previous in
        try vault.withValue(of: record, previous: previous.revision, in: group) { String($1) }
      }
    }
  }

  /// A vault where `key` is `old`, with a label, a comment, an expiry and a history of two.
  func with(_ body: (Sample) throws -> Void) throws {
    try TemporaryDirectory.with { directory in
      let path = directory + "/vault.spv"
      let vault = try Vault.sample(at: path)
      let sample = Sample(vault: vault, group: try vault.group(), service: try Vault.Name("db"), path: path)
      try vault.set("older", forKey: "key")
      try sample.update { batch throws(VaultError) in try batch.edit("key", edit { $0.historyDepth = .set(2) }) }
      try vault.set("old", forKey: "key")
      try sample.update { batch throws(VaultError) in
        try batch.edit(
          "key",
          edit {
            $0.label = .set("label")
            $0.comment = .set("comment")
            $0.expiry = .set(5_000)
          })
      }
      try body(sample)
      let fresh = try Vault.opened(at: path)
      #expect(try fresh.contents() == vault.contents())
    }
  }

  func edit(_ change: (inout RecordEdit) -> Void) -> RecordEdit {
    var edit = RecordEdit()
    change(&edit)
    return edit
  }

  @Test func `a set and an edit make the value and what is written down in one write`() throws {
    try with { sample in
      let before = try #require(try sample.record())

      try sample.update { batch throws(VaultError) in
        try batch.set("new", forKey: "key")
        try batch.edit("key", edit { $0.comment = .set("another") })
        try batch.set("new", forKey: "fresh")
        try batch.edit("fresh", edit { $0.label = .set("first") })
      }

      let record = try #require(try sample.record())
      #expect(try sample.vault.text("key") == "new")
      #expect(record.label == "label")
      #expect(record.comment == "another")
      #expect(record.expiry == nil)
      #expect(record.revision == before.revision + 1)
      #expect(try sample.kept() == ["old", "older"])
      #expect(try sample.record("fresh")?.label == "first")
    }
  }

  @Test func `a set and an edit of the expiry give the new value that expiry`() throws {
    try with { sample in
      try sample.update { batch throws(VaultError) in
        try batch.set("new", forKey: "key")
        try batch.edit("key", edit { $0.expiry = .set(9_000) })
      }
      #expect(try sample.record()?.expiry == 9_000)

      try sample.update { batch throws(VaultError) in
        try batch.set("newer", forKey: "key")
        try batch.edit("key", edit { $0.expiry = .set(9_000) })
        try batch.edit("key", edit { $0.expiry = .remove })
      }
      #expect(try sample.record()?.expiry == nil)
    }
  }

  @Test func `of two edits the later field counts, and the other fields stay`() throws {
    try with { sample in
      let before = try #require(try sample.record())

      try sample.update { batch throws(VaultError) in
        try batch.edit(
          "key",
          edit {
            $0.label = .set("first")
            $0.comment = .remove
          })
        try batch.edit(
          "key",
          edit {
            $0.label = .set("second")
            $0.historyDepth = .set(1)
          })
      }

      let record = try #require(try sample.record())
      #expect(try sample.vault.text("key") == "old")
      #expect(record.label == "second")
      #expect(record.comment == nil)
      #expect(record.expiry == 5_000)
      #expect(record.previous.count == 1)
      #expect(record.revision == before.revision + 1)
    }
  }

  @Test func `an edit that removes and one that sets again leave what was set`() throws {
    try with { sample in
      try sample.update { batch throws(VaultError) in
        try batch.edit("key", edit { $0.label = .remove })
        try batch.edit("key", edit { $0.label = .set("again") })
        try batch.edit("key", edit { $0.comment = .set("again") })
        try batch.edit("key", edit { $0.comment = .remove })
      }

      #expect(try sample.record()?.label == "again")
      #expect(try sample.record()?.comment == nil)
    }
  }

  @Test func `a restored value and an edit are one write`() throws {
    try with { sample in
      let kept = try #require(try sample.record()?.previous.first)

      try sample.update { batch throws(VaultError) in
        try batch.restore("key", revision: kept.revision)
        try batch.edit(
          "key",
          edit {
            $0.label = .set("restored")
            $0.expiry = .set(7_000)
          })
      }

      let record = try #require(try sample.record())
      #expect(try sample.vault.text("key") == "older")
      #expect(record.label == "restored")
      #expect(record.comment == "comment")
      #expect(record.expiry == 7_000)
      #expect(try sample.kept().first == "old")
    }
  }

  @Test func `an edit and a restored value keep the edit but for its expiry`() throws {
    try with { sample in
      let kept = try #require(try sample.record()?.previous.first)

      try sample.update { batch throws(VaultError) in
        try batch.edit(
          "key",
          edit {
            $0.label = .set("edited")
            $0.expiry = .set(7_000)
          })
        try batch.restore("key", revision: kept.revision)
      }

      #expect(try sample.vault.text("key") == "older")
      #expect(try sample.record()?.label == "edited")
      #expect(try sample.record()?.expiry == nil)
    }
  }

  @Test func `an edit and a set keep the label, and the expiry is removed together with the old value`() throws {
    try with { sample in
      try sample.update { batch throws(VaultError) in
        try batch.edit(
          "key",
          edit {
            $0.label = .set("edited")
            $0.expiry = .set(9_000)
          })
        try batch.set("new", forKey: "key")
      }

      let record = try #require(try sample.record())
      #expect(try sample.vault.text("key") == "new")
      #expect(record.label == "edited")
      #expect(record.comment == "comment")
      #expect(record.expiry == nil)
      #expect(try sample.kept() == ["old", "older"])
    }
  }

  @Test func `an edit of the history's depth counts for the value set behind it`() throws {
    try with { sample in
      try sample.update { batch throws(VaultError) in
        try batch.edit("key", edit { $0.historyDepth = .remove })
        try batch.set("new", forKey: "key")
      }

      #expect(try sample.record()?.historyDepth == 0)
      #expect(try sample.kept().isEmpty)
    }
  }

  @Test func `of two sets the later value counts, the first one's metadata stays, its expiry is removed`() throws {
    try with { sample in
      try sample.update { batch throws(VaultError) in
        try batch.set(
          "first", forKey: "key",
          edit: edit {
            $0.label = .set("first")
            $0.expiry = .set(9_000)
          })
        try batch.set("second", forKey: "key", edit: edit { $0.comment = .set("second") })
      }

      let record = try #require(try sample.record())
      #expect(try sample.vault.text("key") == "second")
      #expect(record.label == "first")
      #expect(record.comment == "second")
      #expect(record.expiry == nil)
      #expect(try sample.kept() == ["old", "older"])
    }
  }

  @Test func `of two sets the later kind counts`() throws {
    try with { sample in
      try sample.update { batch throws(VaultError) in
        try batch.set("text", forKey: "key")
        try batch.set([1], kind: .bool, forKey: "key")
      }

      #expect(try sample.record()?.kind == .bool)
      #expect(try sample.vault.bytes("key") == [1])
    }
  }

  @Test func `names that are spelled otherwise are one record`() throws {
    try with { sample in
      try sample.update { batch throws(VaultError) in
        try batch.set("first", forKey: "e\u{301}")
        try batch.set("second", forKey: "\u{E9}")
        try batch.edit("e\u{301}", edit { $0.label = .set("label") })
      }

      #expect(try sample.vault.text("\u{E9}") == "second")
      #expect(try sample.record("\u{E9}")?.label == "label")
      #expect(try sample.vault.allKeys().filter { $0.hasPrefix("\u{E9}") }.count == 1)
    }
  }

  @Test func `asking for the revision that is current gives the current value`() throws {
    try with { sample in
      let record = try #require(try sample.record())
      func value(_ revision: UInt64?) throws -> String? {
        try sample.vault.withValue(of: record, previous: revision, in: sample.group) {
          String($1)
        }
      }

      #expect(try value(nil) == "old")
      #expect(try value(record.revision) == "old")
      #expect(try value(try #require(record.previous.first).revision) == "older")
      #expect(try value(record.revision + 1) == nil)
      try sample.vault.set("new", forKey: "key")
      // `record` was the current one; now a history keeps its value.
      let kept = try #require(try sample.record()?.previous.first)
      #expect(try value(kept.revision) == "old")
      #expect(try value(nil) == "new")
    }
  }

  @Test func `a group's holder may make several changes of one record`() throws {
    try SharedVault.with { shared in
      let holder = try shared.holder(of: "one")
      let (group, service) = try (holder.group(named: "one"), Vault.Name("db"))

      try holder.transaction(service: service, in: group) { batch throws(VaultError) in
        try batch.edit("password", edit { $0.label = .set("label") })
        try batch.set("new", forKey: "password")
      }

      #expect(try shared.owner.text("password", in: "one") == "new")
      #expect(
        try shared.owner.record(service: service, key: "password", in: shared.owner.group(named: "one"))?.label
          == "label")
    }
  }
}

extension Vault.Transaction {
  /// Sets a string with all metadata.
  mutating func set(
    _ text: String, forKey key: String, edit: RecordEdit = RecordEdit(), ifRevision revision: UInt64? = nil
  ) throws(VaultError) {
    let bytes = Array(text.utf8)
    try set(bytes.span.bytes, kind: .string, forKey: key, edit: edit, ifRevision: revision)
  }
}
