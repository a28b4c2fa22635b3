import Testing
import VaultSealing

@testable import VaultCore

extension EveryStorage {
  /// Earlier values that a record keeps (`Docs/Format.md` 3.8). No vault of this package keeps them by default, so
  /// these start from a vector of depth 2 with every known record tag and an unknown one, or from forged depths.
  struct HistoryTests {}
}

extension EveryStorage.HistoryTests {
  private static func password(_ vault: Vault) throws -> RecordInfo {
    try #require(try vault.records(in: vault.group()).first { $0.key.text == "password" })
  }

  private static func kept(_ vault: Vault) throws -> [String?] {
    let record = try password(vault)
    return try record.previous.map { previous in
      try vault.withValue(of: record, previous: previous.revision, in: vault.group()) { _, bytes in
        String(bytes)
      }
    }
  }

  @Test func `row 75: a put keeps the two newest earlier values in order`() throws {
    try VectorFile.with("history-extensions.spv") { path in
      let vault = try VectorFile.open(path)
      try vault.set("generation 4", forKey: "password")

      for vault in [vault, try VectorFile.open(path)] {
        let record = try Self.password(vault)
        #expect(record.revision == 6)
        #expect(record.previous.map(\.revision) == [5, 4])
        #expect(record.previous.map(\.modified) == [1_700_000_000_003, 1_700_000_000_002])
        #expect(record.previous.map(\.kind) == [.string, .string])
        #expect(try Self.kept(vault) == ["generation 3", "generation 2"])
        #expect(try vault.text("password") == "generation 4")
      }
    }
  }

  @Test func `row 70: a put keeps every extension item in order but the expiry`() throws {
    try VectorFile.with("history-extensions.spv") { path in
      let vault = try VectorFile.open(path)
      let before = try Self.password(vault)
      try #require(before.extensionItems.map(\.tag) == [1, 2, 3, 4, 4, 6, 777])

      try vault.set("generation 4", forKey: "password")

      let after = try Self.password(vault)
      #expect(after.extensionItems.map(\.tag) == [1, 2, 4, 4, 6, 777])
      #expect(after.extensionItems.map(\.data) == before.extensionItems.filter { $0.tag != 3 }.map(\.data))
      #expect(after.created == before.created)
    }
  }

  @Test(arguments: EveryStorage.SharedFoldTests.Fold.allCases)
  func `history, expiry and unknown items survive a fold`(fold: EveryStorage.SharedFoldTests.Fold) throws {
    try VectorFile.with("history-extensions.spv") { path in
      let vault = try VectorFile.open(path)
      let image = try RecordImage(Self.password(vault), vault.group(), vault)

      try fold.run(vault, in: "default")

      #expect(try VectorFile.open(path).status().entryCount == 0)
      #expect(try RecordImage(Self.password(VectorFile.open(path)), vault.group(), vault) == image)
    }
  }

  @Test func `a put that is a full write keeps history as an append does`() throws {
    try VectorFile.with("history-extensions.spv") { path in
      let vault = try VectorFile.open(path)
      try vault.set([UInt8](repeating: 0x61, count: 70_000), kind: .data, forKey: "password")
      try vault.set("generation 5", forKey: "password")

      #expect(try Self.password(vault).previous.map(\.kind) == [.data, .string])
      #expect(try Self.password(vault).previous.map(\.revision) == [6, 5])
      #expect(try Self.kept(vault) == [String(repeating: "a", count: 70_000), "generation 3"])
      #expect(try VectorFile.open(path).status().generation > 1)
    }
  }

  @Test func `earlier values of another kind keep their kind`() throws {
    try VectorFile.with("history-extensions.spv") { path in
      let vault = try VectorFile.open(path)
      try vault.set([1], kind: .bool, forKey: "password")
      try vault.set("text", forKey: "password")

      let record = try Self.password(vault)
      #expect(record.previous.map(\.kind) == [.bool, .string])
      let value = try vault.withValue(of: record, previous: 6, in: vault.group()) { kind, bytes in
        (kind, bytes.copy)
      }
      #expect(value?.0 == .bool)
      #expect(value?.1 == [1])
    }
  }

  @Test func `removing a record removes its history and everything else about it`() throws {
    try VectorFile.with("history-extensions.spv") { path in
      let vault = try VectorFile.open(path)
      try vault.remove("password")
      try vault.set("anew", forKey: "password")

      let record = try Self.password(vault)
      #expect(record.previous.isEmpty)
      #expect(record.extensionItems.isEmpty)
      #expect(try vault.text("password") == "anew")
    }
  }

  @Test func `a record without history keeps none`() throws {
    try VectorFile.with("history-extensions.spv") { path in
      let vault = try VectorFile.open(path)
      try vault.set([7], kind: .data, forKey: "cert")

      #expect(try vault.records(in: vault.group())[0].previous.isEmpty)
      #expect(try vault.records(in: vault.group())[0].accessibility == .afterFirstUnlock)
    }
  }

  /// A file whose record has four earlier values and then another depth; `nil` for none.
  private static func file(depth: UInt16?) throws -> [UInt8] {
    var file = try SampleFiles.snapshot()
    var parts = try Parts(file)
    var draft = SectionDraft()
    draft.records[0].extensionField = extensionItem(6, [4, 0])
    parts.sections[0].sealed = try KeyHolder(file).section(draft)
    file = try SampleFiles.with(parts.file) { vault, path throws in
      for number in 1...4 { try vault.set("value \(number)", forKey: "password") }
      return try VaultBytes.read(path)
    }
    let forger = try KeyHolder(file)
    parts = try Parts(file)
    let record = try Self.record(forger)
    var field = record.extensionField.extracting(droppingLast: 8).copy
    if let depth { field += extensionItem(6, [UInt8(depth & 255), UInt8(depth >> 8)]) }
    parts.entries = []
    parts.sections[0].sealed = try forger.section(Self.section(forger, record, field))
    return parts.file
  }

  private static func record(_ forger: KeyHolder) throws -> Record {
    let (service, key) = (Array("db".utf8), Array("password".utf8))
    let name = RecordName(service: service.span.bytes, key: key.span.bytes)
    let found = forger.content.find(name)
    return try #require(found)
  }

  /// The next section with that one record as it is, but for its extension field.
  private static func section(_ forger: KeyHolder, _ record: Record, _ field: [UInt8]) -> SectionDraft {
    var draft = SectionDraft(generation: forger.content.generation + 1)
    draft.records[0].revision = record.revision
    draft.records[0].sealed = record.sealedValue.copy
    draft.records[0].extensionField = field
    return draft
  }

  @Test(
    arguments: [
      (nil, []), (0, []), (1, [8]), (3, [8, 6, 5]), (4, [8, 6, 5, 4]), (5, [8, 6, 5, 4, 3]),
      (65535, [8, 6, 5, 4, 3, 1]),
    ] as [(UInt16?, [UInt64])])
  func `the list is cut to the depth that the record has`(depth: UInt16?, revisions: [UInt64]) throws {
    try SampleFiles.with(Self.file(depth: depth)) { vault, _ throws in
      try #require(try Self.password(vault).previous.map(\.revision) == [5, 4, 3, 1])
      try vault.set("changed", forKey: "password")
      try vault.set("changed again", forKey: "password")

      let values = [8: "changed", 6: "value 4", 5: "value 3", 4: "value 2", 3: "value 1", 1: "s3cret"]
      #expect(try Self.password(vault).previous.map(\.revision) == revisions)
      #expect(try Self.kept(vault) == revisions.map { values[Int($0)] })
    }
  }

  @Test func `row 75: earlier values that changed places are tampered on use, and stop a rotation that keeps them`()
    throws
  {
    let file = try Self.file(depth: 4)
    let forger = try KeyHolder(file)
    let record = try Self.record(forger)
    var items: [(head: [UInt8], sealed: [UInt8])] = []
    var fields = Extension.Items(record.extensionField)
    while let item = try fields.next() {
      guard item.tag == 5 else { continue }
      let sealed = try PreviousValue(item.data).sealed.copy
      items.append((item.data.extracting(droppingLast: sealed.count).copy, sealed))
    }
    try #require(items.count == 4 && items[0].sealed.count == items[1].sealed.count)
    (items[0].sealed, items[1].sealed) = (items[1].sealed, items[0].sealed)
    var parts = try Parts(file)
    parts.sections[0].sealed = try forger.section(
      Self.section(forger, record, items.flatMap { extensionItem(5, $0.head + $0.sealed) } + extensionItem(6, [4, 0])))

    try SampleFiles.with(parts.file) { vault, path throws in
      let (record, group) = (try Self.password(vault), try vault.group())
      for (revision, code) in [(5, .tampered), (4, .tampered), (3, nil), (1, nil)] as [(UInt64, VaultError.Code?)] {
        #expect(refusal { try vault.withValue(of: record, previous: revision, in: group) { _, _ in } } == code)
      }
      #expect(try vault.text("password") == "value 4")
      try expectRefused(.tampered, at: path) { try vault.rotate(group) }
      try vault.rotate(group, droppingHistory: true)
      #expect(try vault.text("password") == "value 4")
    }
  }

  @Test func `an earlier value that is not kept is nil`() throws {
    try VectorFile.with("history-extensions.spv") { path in
      let vault = try VectorFile.open(path)
      let (record, group) = (try Self.password(vault), try vault.group())

      #expect(try vault.withValue(of: record, previous: 2, in: group) { _, _ in } == nil)
      #expect(try vault.withValue(of: record, previous: record.revision + 1, in: group) { _, _ in } == nil)
    }
  }

  @Test func `history is carried by the group's holder too`() throws {
    let file = try Self.file(depth: 4)
    try SampleFiles.with(file) { vault, path throws in
      try vault.addSlot(NewSlot(.key(.sample(from: 40))), granting: vault.group())
      let holder = try Vault.open(
        in: stored(path), credential: .key(.sample(from: 40)), options: .sample(seed: "holder"))
      try holder.set("by the holder", forKey: "password")
      try holder.compact()

      #expect(try Self.kept(vault) == ["value 4", "value 3", "value 2", "value 1"])
      #expect(try Vault.opened(at: path).text("password") == "by the holder")
    }
  }
}
