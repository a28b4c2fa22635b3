import Testing
import VaultSealing

@testable import VaultCore

extension EveryStorage {
  /// Extension fields: what is unknown is kept, what is broken is refused.
  struct ExtensionTests {}
}

extension EveryStorage.ExtensionTests {
  struct Field: CustomTestStringConvertible, Sendable {
    let testDescription: String
    let code: VaultError.Code?
    let bytes: [UInt8]

    init(_ id: String, _ code: VaultError.Code?, _ items: [UInt8]...) {
      (testDescription, self.code, bytes) = (id, code, items.flatMap { $0 })
    }

    static let all = [
      Field("empty", nil),
      Field(
        "unknown tags, equal neighbours", nil, extensionItem(0, []), extensionItem(70, [1]),
        extensionItem(70, [])),
      Field("the highest tag", nil, extensionItem(.max, [1])),
      Field("falling tags", .malformed, extensionItem(71, []), extensionItem(70, [])),
      Field("a cut head", .malformed, [1, 0, 0]),
      Field("a length beyond the end", .malformed, [70, 0, 2, 0, 0, 0, 1]),
      Field("a length of 2^32 - 1", .malformed, [70, 0, 255, 255, 255, 255, 1]),
      Field("a label", nil, extensionItem(1, Array("é".utf8))),
      Field("an empty label", nil, extensionItem(1, [])),
      Field("two labels", .malformed, extensionItem(1, []), extensionItem(1, [])),
      Field("a label of invalid UTF-8", .malformed, extensionItem(1, [0xFF])),
      Field("two comments", .malformed, extensionItem(2, []), extensionItem(2, [])),
      Field("a comment of invalid UTF-8", .malformed, extensionItem(2, [0xC2])),
      Field("an expiry", nil, extensionItem(3, [UInt8](repeating: 255, count: 8))),
      Field("an expiry of 7 bytes", .malformed, extensionItem(3, [UInt8](repeating: 0, count: 7))),
      Field("an expiry of 9 bytes", .malformed, extensionItem(3, [UInt8](repeating: 0, count: 9))),
      Field("an attribute", nil, extensionItem(4, [1, 0, 0x61, 0xFF])),
      Field("two attributes", nil, extensionItem(4, [1, 0, 0x61]), extensionItem(4, [1, 0, 0x61])),
      Field("an empty attribute", .malformed, extensionItem(4, [])),
      Field("an attribute that ends in its name", .malformed, extensionItem(4, [2, 0, 0x61])),
      Field("an attribute without a name", .invalidName, extensionItem(4, [0, 0])),
      Field("an attribute with a control character", .invalidName, extensionItem(4, [1, 0, 0x0A])),
      Field("previous values that fall", nil, previous(2), previous(1)),
      Field("previous values that do not fall", .malformed, previous(1), previous(1)),
      Field("previous values that rise", .malformed, previous(1), previous(2)),
      Field("a previous value as new as the record", .malformed, previous(3)),
      Field("a previous value of kind 0", .malformed, previous(1, kind: 0)),
      Field("a previous value of 71 sealed bytes", .malformed, previous(1, count: 71)),
      Field("an empty previous value", .malformed, extensionItem(5, [])),
      Field("bytes behind a previous value", .malformed, previous(1, rest: [0])),
      Field("a history depth", nil, extensionItem(6, [2, 0])),
      Field("a history depth of one byte", .malformed, extensionItem(6, [2])),
      Field("two history depths", .malformed, extensionItem(6, [2, 0]), extensionItem(6, [2, 0])),
    ]

    private static func previous(
      _ revision: UInt64, kind: UInt8 = 1, count: Int = 72, rest: [UInt8] = []
    ) -> [UInt8] {
      var data: [UInt8] = []
      data += withUnsafeBytes(of: revision.littleEndian) { Array($0) }
      data += [UInt8](repeating: 0, count: 8) + [kind]
      data += withUnsafeBytes(of: UInt32(count).littleEndian) { Array($0) }
      return extensionItem(5, data + [UInt8](repeating: 0, count: count) + rest)
    }
  }

  @Test(arguments: Field.all)
  func `row 70: a record's extension is accepted or refused by its rule`(field: Field) throws {
    let file = try SampleFiles.snapshot()
    var parts = try Parts(file)
    var draft = SectionDraft(generation: 3)
    (draft.records[0].revision, draft.records[0].extensionField) = (3, field.bytes)
    parts.sections[0].sealed = try KeyHolder(file).section(draft)

    #expect(try SampleFiles.refusal(opening: parts.file) == field.code)
  }

  @Test(arguments: Field.all)
  func `row 70: an entry's extension is judged like a section's`(field: Field) throws {
    let file = try SampleFiles.journal(1)
    var parts = try Parts(file)
    var record = RecordDraft("user", revision: 3)
    record.extensionField = field.bytes
    parts.entries.append(try KeyHolder(file).entry(EntryDraft(generation: 3, changes: [.put(record)])))

    #expect(try SampleFiles.refusal(opening: parts.file) == field.code)
  }

  @Test func `row 70: a section's broken extension is malformed`() throws {
    let file = try SampleFiles.snapshot()
    var parts = try Parts(file)
    parts.sections[0].sealed = try KeyHolder(file).section(
      SectionDraft(extensionField: extensionItem(2, []) + extensionItem(1, [])))

    #expect(try SampleFiles.refusal(opening: parts.file) == .malformed)
  }

  @Test func `row 70: unknown extensions of record, section and manifest survive writes and folds`() throws {
    let file = try SampleFiles.snapshot()
    let holder = try KeyHolder(file)
    var parts = try Parts(file)
    let (inRecord, inSection, inManifest) = (
      extensionItem(900, [1]), extensionItem(901, [2]), extensionItem(902, [3])
    )
    var manifest = try holder.manifestBody(parts)
    manifest.replaceSubrange(136..<140, with: [7, 0, 0, 0] + inManifest)
    holder.replaceManifest(&parts, padded: KeyHolder.padded(manifest, step: 1024))
    var draft = SectionDraft(baseTag: parts.manifestTag, extensionField: inSection)
    draft.records[0].extensionField = inRecord
    parts.sections[0].sealed = try holder.section(draft)

    try SampleFiles.with(parts.file) { vault, path throws in
      try vault.set("new", forKey: "password")
      try vault.fold()

      let state = try MemoryVault(VaultBytes.read(path), key: .sample()).state
      #expect(state.manifest?.extensionField == inManifest)
      #expect(try state.content(state.groups[0].id).extensionField == inSection)
      let record = try #require(try vault.records(in: vault.group()).last)
      #expect(record.extensionItems.map(\.tag) == [900])
      #expect(record.extensionItems.map(\.data) == [[1]])
      #expect(try vault.text("password") == "new")
    }
  }

  @Test func `a set drops the expiry and keeps label, comment, attributes and history depth`() throws {
    let file = try SampleFiles.snapshot()
    var parts = try Parts(file)
    var draft = SectionDraft()
    draft.records[0].extensionField =
      extensionItem(1, [0x61]) + extensionItem(2, [0x62]) + extensionItem(3, [UInt8](repeating: 0, count: 8))
      + extensionItem(4, [1, 0, 0x63]) + extensionItem(6, [0, 0])
    parts.sections[0].sealed = try KeyHolder(file).section(draft)

    try SampleFiles.with(parts.file) { vault, _ throws in
      try vault.set("new", forKey: "password")
      #expect(try vault.records(in: vault.group())[0].extensionItems.map(\.tag) == [1, 2, 4, 6])
    }
  }

  @Test func `row 75: a history depth of 2 keeps the two newest of four earlier values`() throws {
    let file = try SampleFiles.snapshot()
    var parts = try Parts(file)
    var draft = SectionDraft()
    draft.records[0].extensionField = extensionItem(6, [2, 0]) + extensionItem(900, [7])
    parts.sections[0].sealed = try KeyHolder(file).section(draft)

    try SampleFiles.with(parts.file) { vault, _ throws in
      for number in 1...4 { try vault.set("value \(number)", forKey: "password") }

      let record = try vault.records(in: vault.group())[0]
      #expect(record.previous.map(\.revision) == [5, 4])
      #expect(record.extensionItems.map(\.tag) == [6, 900])
      let kept = try record.previous.map { previous in
        try vault.withValue(of: record, previous: previous.revision, in: vault.group()) { _, bytes in
          String(bytes)
        }
      }
      #expect(kept == ["value 3", "value 2"])
      #expect(try vault.text("password") == "value 4")
    }
  }

  @Test func `row 75: a previous value moved to another revision is tampered on use`() throws {
    let file = try SampleFiles.snapshot()
    let holder = try KeyHolder(file)
    var parts = try Parts(file)
    var draft = SectionDraft(generation: 3)
    let classKey = try holder.sealer.deriveKey("class-key", from: holder.groupKey) { $0.add(UInt8(0)) }
    let record = draft.records[0]
    let sealed = holder.seal(
      [0x61], with: classKey,
      as: .previous(service: record.service.span.bytes, key: record.key.span.bytes, kind: 1, revision: 1))
    func item(_ revision: UInt8) -> [UInt8] {
      extensionItem(5, [revision] + [UInt8](repeating: 0, count: 15) + [1, 73, 0, 0, 0] + sealed)
    }
    draft.records[0].revision = 3
    draft.records[0].extensionField = item(2) + item(1)
    parts.sections[0].sealed = try holder.section(draft)

    try SampleFiles.with(parts.file) { vault, _ throws in
      let (info, group) = (try vault.records(in: vault.group())[0], try vault.group())
      #expect(refusal { try vault.withValue(of: info, previous: 2, in: group) { _, _ in } } == .tampered)
      #expect(try vault.withValue(of: info, previous: 1, in: group) { _, bytes in bytes.copy } == [0x61])
    }
  }
}
