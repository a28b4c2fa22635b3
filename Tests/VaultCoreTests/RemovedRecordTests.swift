import Testing
import VaultSealing

@testable import VaultCore

extension EveryStorage {
  /// Records that were removed and are kept for a while (`Docs/Format.md` 3.8).
  struct RemovedRecordTests {}
}

extension EveryStorage.RemovedRecordTests {
  func edit(_ change: (inout RecordEdit) -> Void) -> RecordEdit {
    var edit = RecordEdit()
    change(&edit)
    return edit
  }

  @Test func `row 75a: a removed record is absent for every read but the list of removed ones`() throws {
    try RemovedVault.with { sample in
      try sample.vault.set("other", forKey: "other")
      #expect(try sample.vault.remove("password") == 1)

      for vault in [sample.vault, try sample.other()] {
        #expect(try vault.text("password") == nil)
        #expect(try vault.kind(service: sample.service, key: "password", in: sample.group) == nil)
        #expect(try vault.record(service: sample.service, key: "password", in: sample.group) == nil)
        #expect(try vault.revisions(service: sample.service, keys: ["password"], in: sample.group) == [:])
        #expect(try vault.allKeys() == ["other"])
        #expect(try vault.records(in: sample.group).map(\.key.text) == ["other"])
        let snapshot = try vault.takeRecords(service: sample.service, in: sample.group)
        #expect(try vault.keys(in: snapshot) == ["other"])
        #expect(try vault.record(key: "password", in: snapshot) == nil)
        #expect(try vault.status().groups.map(\.recordCount) == [1])
        #expect(try vault.status().groups.map(\.removedCount) == [1])
        #expect(try sample.removedKeys(in: vault) == ["password"])
        #expect(try vault.remove("password") == 0)
      }
    }
  }

  @Test func `the value of a removed record that has expired is returned or refused, as the caller chose`() throws {
    try RemovedVault.with { sample in
      let expiry = sample.time.value + 1_000
      let soon = edit { $0.expiry = .set(expiry) }
      try sample.update { batch throws(VaultError) in try batch.edit("password", soon) }
      try sample.vault.remove("password")
      sample.time.advance(days: 1)
      let removed = try #require(try sample.removed())
      let revision = try #require(removed.previous.first?.revision)

      for (policy, code) in [(ExpiryPolicy.refuse, VaultError.Code.expired), (.read, nil)] {
        var options = try Vault.Options.device(seed: "other")
        options.now = { [time = sample.time] in time.value }
        options.expiredRecords = policy
        let vault = try Vault.opened(at: sample.path, options: options)
        #expect(
          refusal { _ = try vault.withValue(of: removed, previous: revision, in: vault.group()) { _, _ in } } == code)
      }
    }
  }

  @Test func `the list says when a record was removed, until when it is kept, and which values it has`() throws {
    try RemovedVault.with { sample in
      try sample.vault.set("second", forKey: "password")
      try sample.vault.remove("password")

      let removed = try #require(try sample.removed())
      #expect(removed.removed == sample.time.value)
      #expect(removed.keptUntil == sample.time.value + 30 * 86_400_000)
      #expect(removed.revision == 3)
      #expect(removed.previous.map(\.revision) == [2, 1])
      #expect(removed.previous.map(\.kind) == [.string, .string])
    }
  }

  @Test(arguments: Vault.Accessibility.allCases)
  func `row 75a: restoring gives back value, class, metadata, expiry and earlier values`(
    accessibility: Vault.Accessibility
  ) throws {
    try RemovedVault.with { sample in
      var metadata = edit { $0.label = .set("label") }
      metadata.expiry = .set(4_000_000_000_000)
      try sample.update { batch throws(VaultError) in
        try batch.set("a", forKey: "key", as: accessibility)
      }
      try sample.update { batch throws(VaultError) in
        try batch.set("b", forKey: "key", as: nil, edit: metadata)
      }
      let before = try #require(try sample.record("key"))
      let time = before.created
      sample.time.advance(days: 1)
      try sample.vault.remove("key")
      #expect(try sample.record("key") == nil)

      try sample.restore("key")

      let after = try #require(try sample.record("key"))
      #expect(try sample.values("key") == ["b", "a"])
      #expect(after.accessibility == accessibility)
      #expect(after.created == time && after.modified == sample.time.value)
      #expect(after.extensionItems.map(\.tag) == before.extensionItems.map(\.tag))
      #expect(after.extensionItems.map(\.data) == before.extensionItems.map(\.data))
      #expect(after.revision == before.revision + 2)
      #expect(try sample.removedKeys().isEmpty)
      #expect(try sample.vault.verify().previousValues == 1)
    }
  }

  @Test(arguments: [Vault.Accessibility.whenUnlockedThisDeviceOnly, .afterFirstUnlockThisDeviceOnly])
  func `row 75a: a value of this device is removed and kept without the device key`(
    accessibility: Vault.Accessibility
  ) throws {
    try RemovedVault.with { sample in
      try sample.update { batch throws(VaultError) in
        try batch.set("a", forKey: "key", as: accessibility)
      }
      var options = Vault.Options.sample(seed: "no device")
      options.keeping = .forPeople
      let other = try Vault.opened(at: sample.path, options: options)
      try other.remove("key")

      #expect(try other.verify().deviceValues == 1)
      try other.compact()
      _ = try other.rotate(sample.group)
      try sample.restore("key")
      #expect(try sample.values("key") == ["a"])
    }
  }

  @Test func `a record without history keeps the one value with which it was removed`() throws {
    try RemovedVault.with { sample in
      let server = try sample.other()
      try server.set("server's", forKey: "token")
      #expect(try sample.record("token")?.extensionItems.isEmpty == true)
      try sample.vault.remove("token")
      #expect(try sample.removed("token")?.previous.map(\.revision) == [2])

      try sample.restore("token")
      #expect(try sample.values("token") == ["server's"])
    }
  }

  @Test func `row 75a: a removal that says so is gone at once, also of a record that was removed before`() throws {
    try RemovedVault.with { sample in
      try sample.vault.set("other", forKey: "other")
      try sample.update { batch throws(VaultError) in
        try batch.remove("password", atOnce: true)
        try batch.remove("other")
      }
      #expect(try sample.removedKeys() == ["other"])

      #expect(try sample.other().remove("other") == 0)

      #expect(try sample.removedKeys().isEmpty)
      #expect(try sample.vault.status().groups.map(\.removedCount) == [0])
      #expect(refusal { try sample.restore("other", 2) } == .notFound)
    }
  }

  @Test func `the default of the library keeps nothing, and writes the bytes that it always wrote`() throws {
    try RemovedVault.with(keeping: .nothing) { sample in
      try sample.vault.set("a", forKey: "key")
      try sample.vault.set("b", forKey: "key")
      #expect(try sample.record("key")?.extensionItems.isEmpty == true)
      #expect(try sample.record("key")?.previous.isEmpty == true)
      try sample.vault.remove("key")
      #expect(try sample.removedKeys().isEmpty)
    }
  }

  // MARK: Setting a removed record

  @Test func `row 75a: a set of a removed record makes a new one that has the old values as history`() throws {
    try RemovedVault.with { sample in
      try sample.update { batch throws(VaultError) in
        try batch.set("a", forKey: "key", as: .afterFirstUnlock, edit: edit { $0.label = .set("old") })
      }
      try sample.vault.remove("key")
      sample.time.advance(days: 1)
      try sample.update { batch throws(VaultError) in
        try batch.set("b", forKey: "key", ifRevision: 0)
      }

      let record = try #require(try sample.record("key"))
      #expect(try sample.values("key") == ["b", "a"])
      #expect(record.label == nil && record.accessibility == .whenUnlocked)
      #expect(record.created == sample.time.value)
      #expect(record.extensionItems.map(\.tag) == [6])
      #expect(try sample.removedKeys().isEmpty)
    }
  }

  @Test func `a removal and a set in one batch are the same as two writes`() throws {
    try RemovedVault.with { sample in
      try sample.update { batch throws(VaultError) in
        try batch.edit("password", edit { $0.label = .set("old") })
      }
      try sample.update { batch throws(VaultError) in
        try batch.remove("password")
        try batch.set("b", forKey: "password")
      }
      #expect(try sample.values() == ["b", "s3cret"])
      #expect(try sample.record()?.label == nil)

      try sample.update { batch throws(VaultError) in
        try batch.remove("password", atOnce: true)
        try batch.remove("password")
        try batch.set("c", forKey: "password")
      }
      #expect(try sample.values() == ["c"])
    }
  }

  @Test func `a writer that keeps nothing takes the place of a removed record without its values`() throws {
    try RemovedVault.with { sample in
      let server = try sample.other()
      try server.set("a", forKey: "token")
      try sample.vault.remove("token")
      try server.set("b", forKey: "token")
      #expect(try sample.values("token") == ["b"])
    }
  }

  @Test func `row 75a: conditions treat a removed record as absent`() throws {
    try RemovedVault.with { sample in
      try sample.vault.remove("password")
      let revision = try #require(try sample.removed()).revision
      let set = { (expected: UInt64) in
        refusal {
          try sample.update { batch throws(VaultError) in
            try batch.set("new", forKey: "password", ifRevision: expected)
          }
        }
      }
      #expect(set(revision) == .conflict)
      let edited = refusal {
        try sample.update { batch throws(VaultError) in try batch.edit("password", edit { $0.label = .set("x") }) }
      }
      #expect(edited == .notFound)
      #expect(set(0) == nil)
      #expect(try sample.record()?.revision ?? 0 > revision)
    }
  }

  @Test func `a restore can require that the key was not set in between`() throws {
    try RemovedVault.with { sample in
      try sample.vault.remove("password")
      try sample.vault.set("new", forKey: "password")
      let code = refusal {
        try sample.update { batch throws(VaultError) in
          try batch.restore("password", revision: 1, ifRevision: 0)
        }
      }
      #expect(code == .conflict)
      #expect(try sample.values() == ["new", "s3cret"])
    }
  }

  @Test func `a name that another program spelled differently is removed, restored and purged`() throws {
    try RemovedVault.with { sample in
      let spelled = try Vault.Name(verbatim: Array("cafe\u{301}".utf8))
      let changes = try sample.vault.sealedChanges(service: sample.service, in: sample.group) {
        (batch) throws(VaultError) in
        try batch.set(
          Array("v".utf8).span.bytes, kind: .string, for: spelled, accessibility: nil, edit: RecordEdit(),
          ifRevision: nil)
      }
      try sample.vault.commit(changes.get(), in: sample.group)
      try sample.vault.remove("cafe\u{301}")
      #expect(try sample.vault.removedRecords(in: sample.group).map(\.key) == [spelled])
      try sample.restore("cafe\u{301}")
      #expect(try sample.vault.text("cafe\u{301}") == "v")
      try sample.vault.remove("cafe\u{301}")
      try sample.update { batch throws(VaultError) in try batch.remove("cafe\u{301}", atOnce: true) }
      #expect(try sample.removedKeys().isEmpty)
    }
  }

  // MARK: Loading

  /// Forged records of tag 7, and how loading one is refused.
  static let forged: [(String, VaultError.Code?)] = [
    ("as written", nil), ("15 bytes", .malformed), ("17 bytes", .malformed), ("twice", .malformed),
    ("kind 1", .malformed), ("one byte of value", .malformed), ("a device layer", .malformed),
    ("not removed", .malformed), ("a seal that fails", nil),
  ]

  @Test(arguments: forged)
  func `row 75b: a removed record is accepted or refused by its rule`(
    name: String, code: VaultError.Code?
  ) throws {
    let file = try SampleFiles.snapshot()
    var parts = try Parts(file)
    let holder = try KeyHolder(file)
    var record = RecordDraft()
    record.kind = name == "kind 1" ? 1 : 2
    record.class = 2
    record.value = name == "one byte of value" ? [1] : []
    if name == "a device layer" { record.sealed = [UInt8](repeating: 0, count: 144) }
    if name == "a seal that fails" { record.sealed = [UInt8](repeating: 0, count: 72) }
    let count = name == "15 bytes" ? 15 : name == "17 bytes" ? 17 : 16
    let removal = extensionItem(7, [UInt8](repeating: 0, count: count))
    record.extensionField = name == "twice" ? removal + removal : name == "not removed" ? [] : removal
    parts.sections[0].sealed = try holder.section(SectionDraft(records: [record]))

    #expect(try SampleFiles.refusal(opening: parts.file) == code)
  }
}
