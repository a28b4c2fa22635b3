import Testing
import VaultSealing

@testable import VaultCore

/// Removals, records that are missing, and revisions that are compared.
extension EveryStorage.BatchTests {
  @Test func `a set and a removal remove, and the removal finds the record`() throws {
    try with { sample in
      let removed = try sample.vault.transaction(service: sample.service, in: sample.group) {
        batch throws(VaultError) in
        try batch.set("new", forKey: "key")
        try batch.edit("key", edit { $0.label = .set("label") })
        try batch.remove("key")
        try batch.set("new", forKey: "never there")
        try batch.remove("never there")
      }

      #expect(removed == 1)
      #expect(try sample.record() == nil)
      #expect(try sample.record("never there") == nil)
    }
  }

  @Test func `a removal and a set leave the new value`() throws {
    try with { sample in
      try sample.update { batch throws(VaultError) in
        try batch.remove("key")
        try batch.set("new", forKey: "key")
      }

      #expect(try sample.vault.text("key") == "new")
    }
  }

  @Test func `a set behind a removal keeps nothing of the removed record`() throws {
    try with { sample in
      try sample.update { batch throws(VaultError) in
        let value: [UInt8] = [1]
        try batch.set(value.span.bytes, kind: .data, forKey: "key", accessibility: .afterFirstUnlock)
      }

      let removed = try sample.vault.transaction(service: sample.service, in: sample.group) {
        batch throws(VaultError) in
        try batch.edit("key", edit { $0.label = .set("removed, too") })
        try batch.remove("key")
        try batch.set("first", forKey: "key")
        try batch.set("new", forKey: "key")
        try batch.edit("key", edit { $0.comment = .set("new comment") })
      }

      let record = try #require(try sample.record())
      #expect(try sample.vault.text("key") == "new")
      #expect(removed == 1)
      #expect(record.label == nil)
      #expect(record.comment == "new comment")
      #expect(record.historyDepth == 0)
      #expect(try sample.kept() == [])
      #expect(record.accessibility == .whenUnlocked)
    }
  }

  @Test func `restoring behind a removal and a set is notFound`() throws {
    try with { sample in
      let kept = try #require(try sample.record()?.previous.first)
      try expectRefused(.notFound, at: sample.path) {
        try sample.update { batch throws(VaultError) in
          try batch.remove("key")
          try batch.set("new", forKey: "key")
          try batch.restore("key", revision: kept.revision)
        }
      }
    }
  }

  @Test func `a removal compares the revision of the removed record also if a set follows`() throws {
    try with { sample in
      let revision = try #require(try sample.record()).revision
      func write(_ expected: UInt64) throws {
        try sample.update { batch throws(VaultError) in
          try batch.remove("key", ifRevision: expected)
          try batch.set("new", forKey: "key")
        }
      }

      try expectRefused(.conflict, at: sample.path) { try write(revision + 1) }
      try write(revision)
      #expect(try sample.vault.text("key") == "new")
    }
  }

  @Test func `editing or restoring behind a removal is notFound and nothing is written`() throws {
    try with { sample in
      let kept = try #require(try sample.record()?.previous.first)
      try expectRefused(.notFound, at: sample.path) {
        try sample.update { batch throws(VaultError) in
          try batch.set("new", forKey: "other")
          try batch.remove("key")
          try batch.edit("key", edit { $0.label = .set("label") })
        }
      }
      try expectRefused(.notFound, at: sample.path) {
        try sample.update { batch throws(VaultError) in
          try batch.remove("key")
          try batch.restore("key", revision: kept.revision)
        }
      }
      #expect(try sample.vault.text("key") == "old")
    }
  }

  @Test func `editing what is not there is notFound, also behind changes of others`() throws {
    try with { sample in
      try expectRefused(.notFound, at: sample.path) {
        try sample.update { batch throws(VaultError) in
          try batch.set("new", forKey: "other")
          try batch.edit("nothing", edit { $0.label = .set("a") })
          try batch.edit("nothing", edit { $0.comment = .set("b") })
        }
      }
    }
  }

  @Test func `changes of one record that compare different revisions are a conflict`() throws {
    try with { sample in
      let revision = try #require(try sample.record()).revision
      for (first, second) in [(revision, revision + 1), (revision + 1, revision), (0, revision)] {
        try expectRefused(.conflict, at: sample.path) {
          try sample.update { batch throws(VaultError) in
            try batch.set("new", forKey: "key", ifRevision: first)
            try batch.edit("key", edit { $0.label = .set("new") }, ifRevision: second)
          }
        }
      }
      try expectRefused(.conflict, at: sample.path) {
        try sample.update { batch throws(VaultError) in
          try batch.remove("key", ifRevision: revision)
          try batch.set("new", forKey: "key", ifRevision: 0)
        }
      }
    }
  }

  @Test func `a revision is compared wherever in the batch it was given`() throws {
    try with { sample in
      let revision = try #require(try sample.record()).revision
      func write(_ first: UInt64?, _ second: UInt64?) -> VaultError.Code? {
        refusal {
          try sample.update { batch throws(VaultError) in
            try batch.set("new", forKey: "key", ifRevision: first)
            try batch.edit("key", edit { $0.label = .set("new") }, ifRevision: second)
          }
        }
      }

      #expect(write(nil, revision + 1) == .conflict)
      #expect(write(revision + 1, nil) == .conflict)
      #expect(write(nil, 0) == .conflict)
      #expect(try sample.vault.text("key") == "old")
      #expect(write(nil, revision) == nil)
      #expect(try sample.record()?.label == "new")
      #expect(write(revision + 1, nil) == nil)
      #expect(write(revision + 2, revision + 2) == nil)
      #expect(write(revision + 2, revision + 2) == .conflict)
    }
  }

  @Test func `a record that must not be there is made with what is written down about it`() throws {
    try with { sample in
      try sample.update { batch throws(VaultError) in
        try batch.set("new", forKey: "fresh", ifRevision: 0)
        try batch.edit("fresh", edit { $0.label = .set("label") })
      }
      #expect(try sample.record("fresh")?.label == "label")

      try expectRefused(.conflict, at: sample.path) {
        try sample.update { batch throws(VaultError) in
          try batch.set("newer", forKey: "fresh")
          try batch.edit("fresh", edit { $0.label = .set("newer") }, ifRevision: 0)
        }
      }
    }
  }
}
