import Testing
import VaultSealing
@testable import VaultCore

// How long removed records are kept, and what other writes make of them.
extension EveryStorage.RemovedRecordTests {
  // MARK: How long

  @Test func `row 75a: a fold drops what is due and keeps the rest`() throws {
    for fold in EveryStorage.SharedFoldTests.Fold.allCases {
      try RemovedVault.with { sample in
        try sample.vault.set("late", forKey: "late")
        try sample.vault.remove("password")
        sample.time.advance(days: 15)
        try sample.vault.remove("late")
        try sample.vault.compact()
        #expect(try sample.removedKeys() == ["late", "password"])
        sample.time.advance(days: 15)

        try fold.run(sample.vault, in: "default")

        #expect(try sample.removedKeys() == ["late"])
        #expect(try sample.removedKeys(in: sample.other()) == ["late"])
        #expect(try sample.vault.verify().previousValues == 1)
      }
    }
  }

  @Test func `an append drops what is due in passing`() throws {
    try RemovedVault.with(reserve: 8192) { sample in
      try sample.update { batch throws(VaultError) in
        for number in 0..<70 { try batch.set("v", forKey: "key-\(number)") }
      }
      try sample.update { batch throws(VaultError) in
        for number in 0..<70 { try batch.remove("key-\(number)") }
      }
      sample.time.advance(days: 31)
      #expect(try sample.removedKeys().count == 70)
      let generation = try sample.vault.status().generation

      try sample.vault.set("a", forKey: "a")
      #expect(try sample.removedKeys().count == 6)
      try sample.vault.set("b", forKey: "key-1")
      #expect(try sample.removedKeys().isEmpty)

      #expect(try sample.vault.status().generation == generation)
      #expect(try sample.vault.allKeys() == ["a", "key-1", "password"])
    }
  }

  @Test func `a time that overflows is kept for ever`() throws {
    try RemovedVault.with(keeping: .init(removedRecords: .seconds(Int64.max))) { sample in
      try sample.vault.remove("password")
      #expect(try sample.removed()?.keptUntil == .max)
    }
  }

  @Test func `a removal keeps a full history besides the value, and a restore gives all of it back`() throws {
    try RemovedVault.with { sample in
      for text in ["a", "b", "c", "d"] { try sample.vault.set(text, forKey: "full") }
      let before = try #require(try sample.record("full"))
      #expect(before.previous.count == Int(before.historyDepth))

      try sample.vault.remove("full")
      let all = [before.revision] + before.previous.map(\.revision)
      #expect(try sample.removed("full")?.previous.map(\.revision) == all)
      try sample.restore("full")
      #expect(try sample.record("full")?.previous.map(\.revision) == before.previous.map(\.revision))

      // A new record keeps as many as the depth says.
      try sample.vault.remove("full")
      try sample.vault.set("new", forKey: "full")
      #expect(try sample.record("full")?.previous.count == Int(before.historyDepth))
    }
  }

  // MARK: Undoing

  @Test func `an undo removes what a write has made, and restores what it replaced or removed`() throws {
    try RemovedVault.with { sample in
      sample.time.advance(days: 1)
      try sample.vault.set("other", forKey: "other")
      try sample.vault.remove("other")
      sample.time.advance(days: 1)
      try sample.vault.set("gone", forKey: "gone")
      try sample.vault.set("kept", forKey: "kept")
      sample.time.advance(days: 1)
      try sample.update { batch throws(VaultError) in
        try batch.set("imported", forKey: "password")
        try batch.set("imported", forKey: "other")
        try batch.set("imported", forKey: "new")
        try batch.set("imported", forKey: "later")
        try batch.remove("gone")
      }
      let revision = try #require(try sample.record("new")).revision
      try sample.vault.set("changed", forKey: "later")

      let undone = try sample.vault.undoing(revision...revision, in: sample.group)
      try sample.vault.commit(undone, in: sample.group)

      #expect(undone.removed.map(\.key.text) == ["new", "other"])
      #expect(undone.restored.map(\.key.text) == ["gone", "password"])
      #expect(
        undone.left.map { "\($0.record.key.text) \($0.reason)" } == ["later changedSince", "other removedBefore"])
      #expect(try sample.vault.allKeys() == ["gone", "kept", "later", "password"])
      #expect(try sample.values() == ["s3cret", "imported"])
      #expect(try sample.vault.text("later") == "changed")
      #expect(try sample.removed("other")?.previous.count == 2)
      #expect(try sample.other().status().groups[0].generation == sample.vault.status().groups[0].generation)
    }
  }

  @Test(arguments: [false, true])
  func `an undo makes a removed record of what was one, with its metadata and its end`(isCopy: Bool) throws {
    try RemovedVault.with { sample in
      var edit = RecordEdit.keeping(3)
      edit.label = .set("old")
      edit.expiry = .set(7)
      try sample.update { [edit] batch throws(VaultError) in try batch.edit("password", edit) }
      try sample.vault.remove("password")
      let before = try #require(try sample.removed())
      sample.time.advance(days: 1)
      if isCopy {
        try sample.vault.set("new", forKey: "source")
        try sample.vault.copy(
          "source", of: sample.service, to: "password", of: sample.service, in: sample.group, isMove: true)
      } else {
        try sample.vault.set("new", forKey: "password")
      }
      let revision = try #require(try sample.record()).revision
      let undone = try sample.vault.undoing(revision...revision, in: sample.group)
      try sample.vault.commit(undone, in: sample.group)

      let after = try #require(try sample.removed())
      #expect(Set(after.extensionItems.map(\.data)).isSuperset(of: [Array("old".utf8), [7, 0, 0, 0, 0, 0, 0, 0]]))
      #expect(after.removed == before.removed && after.keptUntil == before.keptUntil)
      #expect(after.previous.map(\.revision) == [revision] + before.previous.map(\.revision))
      #expect(undone.left.map(\.reason) == [.removedBefore])
      try sample.restore("password", before.previous[0].revision)
      #expect(try sample.vault.text("password") == "s3cret")
    }
  }

  @Test func `an undone rename gives each of the two records its own earlier values`() throws {
    try RemovedVault.with { sample in
      for text in ["a", "b"] { try sample.vault.set(text, forKey: "first") }
      for text in ["x", "y"] { try sample.vault.set(text, forKey: "second") }
      let first = try #require(try sample.record("first"))
      let service = sample.service
      try sample.vault.copy(
        "first", of: service, to: "second", of: service, in: sample.group, isMove: true, replaces: true)
      let revision = try #require(try sample.record("second")).revision

      let undone = try sample.vault.undoing(revision...revision, in: sample.group)
      try sample.vault.commit(undone, in: sample.group)

      #expect(try sample.values("first") == ["b", "a"])
      #expect(try sample.record("first")?.previous.map(\.revision) == first.previous.map(\.revision))
      #expect(try sample.values("second").first == "y")
      #expect(undone.left.isEmpty)
    }
  }

  @Test func `an undo leaves a record whose earlier value was not kept, and names it`() throws {
    try RemovedVault.with { sample in
      try sample.update { batch throws(VaultError) in try batch.edit("password", .keeping(0)) }
      sample.time.advance(days: 1)
      try sample.vault.set("imported", forKey: "password")
      let revision = try #require(try sample.record()).revision
      let before = try VaultBytes.read(sample.path)

      let undone = try sample.vault.undoing(revision...revision, in: sample.group)
      try sample.vault.commit(undone, in: sample.group)

      #expect(undone.left.map { "\($0.record.key.text) \($0.reason)" } == ["password noEarlierValue"])
      #expect(undone.removed.isEmpty && undone.restored.isEmpty)
      #expect(try VaultBytes.read(sample.path) == before)
    }
  }

  // MARK: Depth

  @Test func `a person's set gives a record three earlier values, unless a depth was set, also 0`() throws {
    try RemovedVault.with { sample in
      for number in 1...5 { try sample.vault.set("value \(number)", forKey: "password") }
      #expect(try sample.values() == ["value 5", "value 4", "value 3", "value 2"])

      try sample.update { batch throws(VaultError) in
        try batch.set("none", forKey: "none", as: nil, edit: .keeping(0))
      }
      try sample.vault.set("still none", forKey: "none")
      #expect(try sample.values("none") == ["still none"])
      try sample.update { batch throws(VaultError) in try batch.set("one", forKey: "one", as: nil, edit: .keeping(1)) }
      for number in 1...3 { try sample.vault.set("one \(number)", forKey: "one") }
      #expect(try sample.values("one") == ["one 3", "one 2"])
    }
  }

  @Test func `a value that changes by itself does not push out earlier ones`() throws {
    try RemovedVault.with { sample in
      try sample.vault.set("mistake", forKey: "password")
      for number in 0..<4 {
        try sample.update { batch throws(VaultError) in
          try batch.set("counter \(number)", forKey: "password", as: nil, edit: edit { $0.keepsReplacedValue = false })
        }
      }
      #expect(try sample.values() == ["counter 3", "s3cret"])
    }
  }

  @Test(arguments: [false, true])
  func `a bundle that replaces keeps what it replaces`(hasDepth: Bool) throws {
    try RemovedVault.with { sample in
      try sample.vault.set("a", forKey: "a")
      if hasDepth { try sample.update { batch throws(VaultError) in try batch.edit("a", .keeping(0)) } }
      let path = sample.path + ".bundle"
      let key = try SealingKey.sample(from: 9)
      try sample.vault.exportBundle(
        sample.vault.records(in: sample.group), of: sample.group, to: path, slot: NewSlot(.key(key)))
      try sample.vault.set("changed", forKey: "password")
      try sample.vault.set("changed", forKey: "a")

      let bundle = try Vault.open(in: stored(path), credential: .key(key))
      let (count, revision) = try sample.vault.importRecords(of: bundle, into: sample.group, replacing: true)

      #expect(count == 2)
      #expect(try sample.record("a")?.revision == revision)
      #expect(try sample.values() == ["s3cret", "changed", "s3cret"])
      #expect(try sample.values("a") == (hasDepth ? ["a"] : ["a", "changed", "a"]))
    }
  }

  @Test(arguments: [nil, 0, 2, 10] as [UInt16?], [nil, 10] as [UInt16?])
  func `a bundle's history depth drops no values of the records that it replaces`(
    depth: UInt16?, own: UInt16?
  ) throws {
    try RemovedVault.with { sample in
      try sample.vault.set("theirs", forKey: "a")
      if let depth { try sample.update { batch throws(VaultError) in try batch.edit("a", .keeping(depth)) } }
      let path = sample.path + ".bundle"
      let key = try SealingKey.sample(from: 9)
      try sample.vault.exportBundle(
        sample.vault.records(in: sample.group), of: sample.group, to: path, slot: NewSlot(.key(key)))
      try sample.update { batch throws(VaultError) in try batch.remove("a", atOnce: true) }
      let mine = (1...(own == nil ? 3 : 9)).map { "mine \($0)" }
      for value in mine {
        try sample.vault.set(value, forKey: "a")
        if let own { try sample.update { batch throws(VaultError) in try batch.edit("a", .keeping(own)) } }
      }
      let bundle = try Vault.open(in: stored(path), credential: .key(key))

      _ = try sample.vault.importRecords(of: bundle, into: sample.group, replacing: true)
      #expect(try sample.values("a") == ["theirs"] + mine.reversed())

      // A removed key is replaced without being asked for.
      try sample.update { batch throws(VaultError) in try batch.remove("a") }
      _ = try sample.vault.importRecords(of: bundle, into: sample.group, replacing: true)
      #expect(try sample.values("a").prefix(2) == ["theirs", "theirs"])
      #expect(try sample.values("a").contains("mine 3"))
    }
  }

  // MARK: Damage

  @Test(.filesOnly("salvage reads files"), arguments: [false, true])
  func `a salvage saves removed records of every class`(breaksSection: Bool) throws {
    try RemovedVault.with { sample in
      for accessibility in Vault.Accessibility.allCases {
        try sample.update { batch throws(VaultError) in
          try batch.set("value", forKey: accessibility.name, as: accessibility)
        }
      }
      try sample.update { batch throws(VaultError) in
        for accessibility in Vault.Accessibility.allCases { try batch.remove(accessibility.name) }
      }
      let keys = try sample.removedKeys()
      try sample.vault.compact()
      if breaksSection {
        var parts = try Parts(VaultBytes.read(sample.path))
        parts.sections[0].sealed[30] ^= 1  // in its tag
        try VaultBytes.write(parts.file, to: sample.path)
      }
      let saved = sample.path + ".saved"
      var options = try Vault.Options.device(seed: "salvage")
      let time = sample.time
      options.now = { time.value }
      let report = try Vault.salvage(at: sample.path, credential: .key(.sample()), to: saved, options: options)

      let vault = try Vault.open(at: saved, credential: .key(.sample()), options: options)
      #expect(report.groups.map(\.recordCount) == [1])
      #expect(report.groups.map(\.lostValueCount) == [0])
      #expect(try sample.removedKeys(in: vault) == keys)
      let removed = try vault.removedRecords(in: vault.group())
      for record in removed {
        let text = try vault.withValue(of: record, previous: record.previous[0].revision, in: vault.group()) {
          String($1)
        }
        #expect(text == "value")
      }
    }
  }

  // MARK: Other writes

  @Test(arguments: [false, true])
  func `row 75a: a rotation seals removed records again, or drops them with the history`(drops: Bool) throws {
    try RemovedVault.with { sample in
      try sample.vault.set("other", forKey: "other")
      try sample.vault.remove("password")

      _ = try sample.vault.rotate(sample.group, droppingHistory: drops)

      #expect(try sample.removedKeys() == (drops ? [] : ["password"]))
      #expect(try sample.vault.status().groups.map(\.recordCount) == [1])
      guard !drops else { return }
      try sample.restore()
      #expect(try sample.values() == ["s3cret"])
    }
  }

  @Test func `a copy to the name of a removed record keeps that record's values as earlier ones`() throws {
    try RemovedVault.with { sample in
      try sample.vault.set("copied", forKey: "source")
      try sample.vault.remove("password")
      try sample.vault.copy(
        "source", of: sample.service, to: "password", of: sample.service, in: sample.group, isMove: false)
      #expect(try sample.values() == ["copied", "s3cret"])
      #expect(try sample.removedKeys().isEmpty)
    }
  }

  @Test(arguments: [Vault.Keeping.forPeople, .nothing])
  func `a copy that replaces keeps the replaced value, if the options say so`(keeping: Vault.Keeping) throws {
    try RemovedVault.with(keeping: keeping) { sample in
      try sample.update { batch throws(VaultError) in try batch.edit("password", .keeping(1)) }
      for text in ["a", "b", "c", "d"] {
        try sample.update { batch throws(VaultError) in
          try batch.set(text, forKey: "source", as: nil, edit: .keeping(3))
        }
      }
      try sample.vault.copy(
        "source", of: sample.service, to: "password", of: sample.service, in: sample.group, isMove: true,
        replaces: true)
      #expect(try sample.values() == (keeping == .nothing ? ["d", "c", "b", "a"] : ["d", "c", "b", "s3cret"]))
      #expect(try sample.removedKeys().isEmpty)
      #expect(try sample.vault.verify().previousValues == 3)
    }
  }

  @Test func `a removed record cannot be copied, renamed or put into a bundle`() throws {
    try RemovedVault.with { sample in
      let record = try #require(try sample.record())
      try sample.vault.remove("password")
      for isMove in [false, true] {
        let code = refusal {
          try sample.vault.copy(
            "password", of: sample.service, to: "new", of: sample.service, in: sample.group, isMove: isMove)
        }
        #expect(code == .notFound)
      }
      let bundle = refusal {
        try sample.vault.exportBundle(
          [record], of: sample.group, to: sample.path + ".bundle", slot: NewSlot(.key(try .sample(from: 9))))
      }
      #expect(bundle == .notFound)
    }
  }

  @Test func `a locked handle does not read a removed value that stays readable otherwise`() throws {
    try RemovedVault.with { sample in
      try sample.update { batch throws(VaultError) in
        try batch.set("a", forKey: "key", as: .afterFirstUnlock)
      }
      try sample.vault.remove("key")
      sample.vault.lock()
      #expect(refusal { try sample.vault.text("key") } == .locked)
    }
  }
}
