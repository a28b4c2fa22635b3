import Foundation
import Glibc
import Testing
import VaultSealing

@testable import VaultCore

extension EveryStorage {
  /// Chosen records carried from one vault to another in a sealed file.
  struct BundleTests {}
}

extension EveryStorage.BundleTests {
  /// Two vaults that share no key, and a place for a bundle between them.
  struct Sample {
    let directory: String
    let source, target: Vault

    var bundle: String { directory + "/bundle.spv" }
    var targetPath: String { directory + "/target.spv" }

    var credential: Vault.Credential { get throws { .key(try .sample(from: 90)) } }

    func export(_ records: [RecordInfo]? = nil) throws {
      let group = try source.group()
      try source.exportBundle(
        records ?? source.records(in: group), of: group, to: bundle, slot: NewSlot(credential, label: "bundle"))
    }

    func opened() throws -> Vault {
      try Vault.open(at: bundle, credential: credential, options: .sample(seed: "opened bundle"))
    }

    @discardableResult
    func importAll(replacing: Bool = false) throws -> Int {
      try target.importBundle(opened(), into: target.group(), replacing: replacing)
    }
  }

  func with(_ body: (Sample) throws -> Void) throws {
    try TemporaryDirectory.with { directory in
      var options = Vault.Options.sample(seed: "source")
      options.deviceKey = try .sample(from: 0x20)
      let source = try Vault.sample(at: directory + "/source.spv", options: options)
      var later = Vault.Options.sample(seed: "target")
      later.now = { 1_800_000_000_000 }
      let target = try Vault.create(
        in: stored(directory + "/target.spv"), slots: [NewSlot(.key(.sample(from: 50)))], options: later)
      try body(Sample(directory: directory, source: source, target: target))
    }
  }

  /// What is to arrive: everything but times, revisions and kept values.
  func carried(_ vault: Vault) throws -> [Carried] {
    let group = try vault.group()
    return try vault.records(in: group).map { record in
      Carried(
        service: record.service, key: record.key, kind: record.kind, accessibility: record.accessibility,
        label: record.label, comment: record.comment, expiry: record.expiry, depth: record.historyDepth,
        attributes: record.attributes, value: try vault.withValue(of: record, in: group) { $1.copy })
    }
  }

  struct Carried: Equatable {
    let service, key: Vault.Name
    let kind: ValueKind
    let accessibility: Vault.Accessibility
    let label, comment: String?
    let expiry: Int64?
    let depth: UInt16
    let attributes: [RecordEdit.Attribute]
    let value: [UInt8]?
  }

  /// Records of three services, of several kinds, in two classes, with everything that may be written down.
  func fill(_ vault: Vault) throws {
    let group = try vault.group()
    var all = RecordEdit()
    all.label = .set("Läbel")
    all.comment = .set("comment")
    all.expiry = .set(1_900_000_000_000)
    all.historyDepth = .set(3)
    all.attributes = .set([try .init("owner", [0, 1]), try .init("owner", []), try .init("team", [2])])
    let edit = all
    try vault.transaction(service: Vault.Name("web"), in: group) { batch throws(VaultError) in
      try batch.set("first", forKey: "token", edit: edit)
      try batch.set([0, 0xFF], kind: .data, forKey: "blob", accessibility: .afterFirstUnlock)
      try batch.set([1], kind: .bool, forKey: "flag")
      try batch.set([], kind: .data, forKey: "empty")
      try batch.set([1, 2, 3], kind: ValueKind(rawValue: 200), forKey: "private")
      try batch.set([UInt8](repeating: 7, count: 8), kind: .integer, forKey: "number", accessibility: .afterFirstUnlock)
    }
    try vault.transaction(service: Vault.Name("\u{1F511} mail"), in: group) { batch throws(VaultError) in
      try batch.set("http://example.org", kind: .url, forKey: "\u{E9}")
    }
    // The values of before stay where they are.
    try vault.set("second", forKey: "token", service: "web")
    try vault.transaction(service: Vault.Name("web"), in: group) { batch throws(VaultError) in
      try batch.edit("token", edit)
    }
  }

  @Test func `records of several services arrive as they were, without their history`() throws {
    try with { sample in
      try fill(sample.source)
      let expected = try carried(sample.source)
      try #require(expected.count == 8)
      try sample.export()

      #expect(try sample.importAll() == 8)

      #expect(try carried(sample.target) == expected)
      let group = try sample.target.group()
      for record in try sample.target.records(in: group) {
        #expect(record.previous.isEmpty)
        #expect(record.revision == 2)
        #expect(record.created == 1_800_000_000_000)
      }
      let token = try #require(
        try sample.source.record(service: Vault.Name("web"), key: "token", in: sample.source.group()))
      #expect(token.previous.count == 1)
      #expect(try sample.source.verify().previousValues == 1)
    }
  }

  @Test func `what is carried has the same history depth, and keeps from then on`() throws {
    try with { sample in
      try fill(sample.source)
      try sample.export()
      try sample.importAll()

      try sample.target.set("third", forKey: "token", service: "web")

      let record = try #require(
        try sample.target.record(service: Vault.Name("web"), key: "token", in: sample.target.group()))
      let kept = try #require(record.previous.first)
      let value = try sample.target.withValue(of: record, previous: kept.revision, in: sample.target.group()) {
        String($1)
      }
      #expect(value == "second")
    }
  }

  @Test func `only the chosen records are in the bundle`() throws {
    try with { sample in
      try fill(sample.source)
      let all = try sample.source.records(in: sample.source.group())

      try sample.export(all.filter { $0.key.text == "flag" || $0.key.text == "password" })

      let bundle = try sample.opened()
      #expect(try bundle.records(in: bundle.group()).map(\.key.text) == ["password", "flag"])
      #expect(try mode(of: sample.bundle) == 0o600)
      let bytes = try FileBytes.read(sample.bundle)
      for text in ["token", "second", "flag", "password", "s3cret", "default"] {
        #expect(!bytes.contains(bytes: Array(text.utf8)))
      }
    }
  }

  @Test func `a bundle opens with its own credential alone`() throws {
    try with { sample in
      try sample.export()

      #expect(Vault.refusal(at: sample.bundle, .key(try .sample())) == .credentialRejected)
      #expect(Vault.refusal(at: sample.bundle, .key(try .sample(from: 50))) == .credentialRejected)
      #expect(Vault.refusal(at: sample.bundle, try sample.credential) == nil)
      let summary = try VaultInfo(at: sample.bundle)
      #expect(summary.slots.count == 1)
      #expect(try summary.vaultID != sample.source.status().vaultID)
      #expect(refusal { try Vault.opened(at: sample.targetPath) } == .credentialRejected)
    }
  }

  @Test(
    .filesOnly("counts the files of the folder"),
    arguments: [Vault.Accessibility.whenUnlockedThisDeviceOnly, .afterFirstUnlockThisDeviceOnly])
  func `a value that stays on this device is refused, and no file is made`(accessibility: Vault.Accessibility) throws {
    try with { sample in
      try sample.source.transaction(service: Vault.Name("db"), in: sample.source.group()) { batch throws(VaultError) in
        try batch.set("bound", kind: .string, forKey: "device", accessibility: accessibility)
      }

      #expect(refusal { try sample.export() } == .unsupportedAccessibility)

      #expect(try FileManager.default.contentsOfDirectory(atPath: sample.directory).count == 2)
    }
  }

  @Test func `a value that was bound to this device since it was listed is refused, and no file is made`() throws {
    try with { sample in
      let listed = try sample.source.records(in: sample.source.group())
      try sample.source.transaction(service: Vault.Name("db"), in: sample.source.group()) { batch throws(VaultError) in
        try batch.set("bound", kind: .string, forKey: "password", accessibility: .whenUnlockedThisDeviceOnly)
      }

      #expect(refusal { try sample.export(listed) } == .unsupportedAccessibility)

      #expect(access(sample.bundle, F_OK) != 0)
    }
  }

  @Test(.filesOnly("counts the files of the folder"))
  func `a record that is removed after listing is notFound, and no file is made`() throws {
    try with { sample in
      try fill(sample.source)
      let listed = try sample.source.records(in: sample.source.group())
      try sample.source.remove("password")

      #expect(refusal { try sample.export(listed) } == .notFound)

      #expect(try FileManager.default.contentsOfDirectory(atPath: sample.directory).count == 2)
    }
  }

  @Test func `a value that changed after listing is exported as it is now`() throws {
    try with { sample in
      let listed = try sample.source.records(in: sample.source.group())
      try sample.source.set("newer", forKey: "password")

      try sample.export(listed)

      #expect(try sample.opened().text("password") == "newer")
    }
  }

  @Test func `names of other programs are carried byte for byte`() throws {
    try with { sample in
      let decomposed = try Vault.Name(verbatim: Array("e\u{301}".utf8))
      let composed = try Vault.Name(verbatim: Array("\u{E9}".utf8))
      for service in [decomposed, composed] {
        for key in [decomposed, composed] {
          let (opener, sealer) = try sample.source.acquireSealer(for: sample.source.group())
          defer { sample.source.handle.release(opener) }
          var batch = Vault.Transaction(service: service, sealer)
          let value = service.utf8 + key.utf8
          try batch.set(
            value.span.bytes, kind: .data, for: key, accessibility: nil, edit: RecordEdit(), ifRevision: nil)
          try sample.source.commit(batch.changes, in: sample.source.group())
        }
      }
      let expected = try carried(sample.source)
      try #require(expected.count == 5)
      try sample.export()

      #expect(try sample.importAll() == 5)

      #expect(try carried(sample.target) == expected)
    }
  }

  @Test func `a group's holder exports from its group, and imports into it`() throws {
    try SharedVault.with { shared in
      let (one, two) = try (shared.holder(of: "one"), shared.holder(of: "two"))
      try one.set("carried", forKey: "user", in: "one")
      let (from, to) = try (one.group(named: "one"), two.group(named: "two"))
      let path = shared.path + ".bundle"
      try one.exportBundle(
        one.records(in: from).filter { $0.key.text == "user" }, of: from, to: path,
        slot: NewSlot(.key(.sample(from: 90))))
      let bundle = try Vault.open(in: stored(path), credential: .key(.sample(from: 90)))
      #expect(try bundle.groups().map(\.name.text) == ["one"])

      #expect(try two.importBundle(bundle, into: to) == 1)

      #expect(try shared.owner.text("user", in: "two") == "carried")
      #expect(try shared.owner.text("password", in: "two") == "s3cret")
      try expectRefused(.groupNotGranted, at: shared.path) { try two.importBundle(bundle, into: from) }
    }
  }

  @Test func `records of one name in two groups of a bundle are refused, and nothing is imported`() throws {
    try with { sample in
      let path = sample.directory + "/two.spv"
      _ = try Vault.create(
        in: stored(path), slots: [NewSlot(sample.credential)], groups: [.sample("one"), .sample("two")],
        options: .sample(seed: "two groups"))
      let bundle = try Vault.open(in: stored(path), credential: sample.credential)

      for isReplacing in [false, true] {
        try expectRefused(.alreadyExists, at: sample.targetPath) {
          try sample.target.importBundle(bundle, into: sample.target.group(), replacing: isReplacing)
        }
      }
    }
  }

  @Test func `a bundle with one bad value is refused as a whole`() throws {
    try with { sample in
      let group = try sample.source.group()
      try sample.source.exportBundle(
        sample.source.records(in: group), of: group, to: sample.bundle, slot: NewSlot(.key(.sample())))
      let file = try FileBytes.read(sample.bundle)
      let holder = try KeyHolder(file)
      var bad = RecordDraft("bad", revision: 2)
      bad.sealed = try holder.value([1], service: Array("db".utf8), key: Array("good".utf8), kind: 1, class: 0)
      var draft = EntryDraft()
      draft.changes = [.put(bad)]
      var parts = try Parts(file)
      parts.entries.append(try holder.entry(draft))
      try FileBytes.write(parts.file, to: sample.bundle)

      try expectRefused(.tampered, at: sample.targetPath) {
        try sample.target.importBundle(Vault.opened(at: sample.bundle), into: sample.target.group())
      }
    }
  }

  @Test func `a locked vault neither exports nor imports`() throws {
    try with { sample in
      try sample.export()
      let (records, from) = try (sample.source.records(in: sample.source.group()), sample.source.group())
      let (bundle, to) = try (sample.opened(), sample.target.group())
      sample.source.lock()
      sample.target.lock()

      #expect(
        refusal {
          try sample.source.exportBundle(
            records, of: from, to: sample.directory + "/new.spv", slot: NewSlot(sample.credential))
        } == .locked)
      #expect(access(sample.directory + "/new.spv", F_OK) != 0)
      try expectRefused(.locked, at: sample.targetPath) { try sample.target.importBundle(bundle, into: to) }
    }
  }
}

extension Vault.Transaction {
  fileprivate mutating func set(
    _ bytes: [UInt8], kind: ValueKind, forKey key: String, accessibility: Vault.Accessibility? = nil,
    edit: RecordEdit = RecordEdit()
  ) throws(VaultError) {
    try set(bytes.span.bytes, kind: kind, forKey: key, accessibility: accessibility, edit: edit)
  }

  fileprivate mutating func set(
    _ text: String, kind: ValueKind, forKey key: String, accessibility: Vault.Accessibility? = nil,
    edit: RecordEdit = RecordEdit()
  ) throws(VaultError) {
    try set(Array(text.utf8), kind: kind, forKey: key, accessibility: accessibility, edit: edit)
  }
}
