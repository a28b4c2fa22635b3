import Testing
import VaultSealing

@testable import VaultCore

extension EveryStorage {
  /// Journal entries that a key holder sealed against the rules.
  struct ForgedEntryTests {}
}

extension EveryStorage.ForgedEntryTests {
  struct Forgery: CustomTestStringConvertible, Sendable {
    let testDescription: String
    let code: VaultError.Code?
    let forge: @Sendable (inout EntryDraft) -> Void

    init(_ id: String, _ code: VaultError.Code?, _ forge: @escaping @Sendable (inout EntryDraft) -> Void) {
      (testDescription, self.code, self.forge) = (id, code, forge)
    }

    private static func put(_ change: (inout RecordDraft) -> Void) -> [EntryDraft.Change] {
      var record = RecordDraft("user", revision: 2)
      change(&record)
      return [.put(record)]
    }

    static let all = [
      Forgery("nothing wrong", nil) { _ in },
      Forgery("put and remove in order", nil) { $0.changes.insert(.remove("password"), at: 0) },
      Forgery("generation + 2", .malformed) { $0.generation = 3 },
      Forgery("the same generation", .malformed) { $0.generation = 1 },
      Forgery("generation 0", .limitExceeded) { $0.generation = 0 },
      Forgery("generation 2^63", .limitExceeded) { $0.generation = 1 << 63 },
      Forgery("generation 2^63 - 1", .malformed) { $0.generation = 1 << 63 - 1 },
      Forgery("no changes", .malformed) { $0.changes = [] },
      Forgery("one change more than counted", .malformed) {
        $0.changes.insert(.remove("password"), at: 0)
        $0.count = 1
      },
      Forgery("one change less than counted", .malformed) { $0.count = 2 },
      Forgery("2^32 - 1 changes", .malformed) { $0.count = .max },
      Forgery("changes unsorted", .malformed) {
        $0.changes = [.put(RecordDraft("b", revision: 2)), .put(RecordDraft("a", revision: 2))]
      },
      Forgery("a put twice", .malformed) {
        $0.changes = [.put(RecordDraft("a", revision: 2)), .put(RecordDraft("a", revision: 2))]
      },
      Forgery("a remove behind a higher put", .malformed) { $0.changes.append(.remove("password")) },
      Forgery("a put and a remove of one record", .malformed) {
        $0.changes = [.put(RecordDraft("password", revision: 2)), .remove("password")]
      },
      Forgery("a remove and a put of one record", .malformed) {
        $0.changes = [.remove("password"), .put(RecordDraft("password", revision: 2))]
      },
      Forgery("operation 0", .malformed) { $0.changes = [.other(0)] },
      Forgery("operation 3", .malformed) { $0.changes = [.other(3)] },
      Forgery("a remove of an absent record", .malformed) { $0.changes = [.remove("nothing")] },
      Forgery("a remove twice", .malformed) { $0.changes = [.remove("password"), .remove("password")] },
      Forgery("a revision below the generation", .malformed) { $0.changes = put { $0.revision = 1 } },
      Forgery("a revision above the generation", .malformed) { $0.changes = put { $0.revision = 3 } },
      Forgery("bytes behind the end", .malformed) { $0.rest = [0] },
      Forgery("an invalid key", .invalidName) { $0.changes = put { $0.key = [0x7F] } },
      Forgery("an empty service", .invalidName) { $0.changes = put { $0.service = [] } },
      Forgery("a remove of an invalid name", .invalidName) { $0.changes = [.remove("a\u{9}")] },
      Forgery("kind 0", .malformed) { $0.changes = put { $0.kind = 0 } },
      Forgery("class 4", .malformed) {
        $0.changes = put { record in
          record.class = 4
          record.sealed = [UInt8](repeating: 0, count: 200)
        }
      },
      Forgery("a nonzero reserved field", .malformed) { $0.changes = put { $0.zero = 1 } },
      Forgery("a sealed value of 71 bytes", .malformed) {
        $0.changes = put { $0.sealed = [UInt8](repeating: 0, count: 71) }
      },
    ]
  }

  @Test(arguments: Forgery.all)
  func `row J12: a forged entry is refused by the class of its fault`(forgery: Forgery) throws {
    let file = try SampleFiles.snapshot()
    var (parts, draft) = (try Parts(file), EntryDraft())
    forgery.forge(&draft)
    parts.entries = [try KeyHolder(file).entry(draft)]

    #expect(try SampleFiles.refusal(opening: parts.file) == forgery.code)
  }

  @Test(arguments: ForgedSectionTests.Padding.wrong)
  func `row J12: bad padding inside a valid entry is malformed`(padding: ForgedSectionTests.Padding) throws {
    let file = try SampleFiles.snapshot()
    let holder = try KeyHolder(file)
    var parts = try Parts(file)
    parts.entries = [holder.entry(padded: padding.pad(try EntryDraft().body(holder)))]

    #expect(try SampleFiles.refusal(opening: parts.file) == .malformed)
  }

  @Test(arguments: [(2, nil), (1, VaultError.Code.limitExceeded)])
  func `row J12: records beyond the limit after applying an entry exceed it`(
    records: Int, code: VaultError.Code?
  ) throws {
    let file = try SampleFiles.snapshot()
    var (parts, limits) = (try Parts(file), Vault.Limits.format)
    parts.entries = [try KeyHolder(file).entry(EntryDraft())]
    limits.records = records

    #expect(try SampleFiles.refusal(opening: parts.file, limits: limits) == code)
  }

  @Test func `row J12: a put and a remove in one entry leave the number of records`() throws {
    let file = try SampleFiles.snapshot()
    var (parts, limits) = (try Parts(file), Vault.Limits.format)
    parts.entries = [
      try KeyHolder(file).entry(
        EntryDraft(changes: [.remove("password"), .put(RecordDraft("user", revision: 2))]))
    ]
    limits.records = 1

    #expect(try SampleFiles.refusal(opening: parts.file, limits: limits) == nil)
  }

  @Test func `a refused entry refuses its group alone, at each use`() throws {
    let file = try SampleFiles.twoGroups()
    var parts = try Parts(file)
    let holder = try KeyHolder(file, group: 0)
    parts.entries.append(try holder.entry(EntryDraft(generation: 9)))
    let names = try MemoryVault(file, key: .sample()).state.groups.map { $0.floor!.name.text }

    try SampleFiles.with(parts.file) { vault, _ throws in
      #expect(refusal { try vault.text("password", in: names[0]) } == .malformed)
      #expect(refusal { try vault.set("new", forKey: "password", in: names[0]) } == .malformed)
      #expect(refusal { try vault.status() } == .malformed)
      #expect(try vault.text("password", in: names[1]) == "s3cret")
      try vault.set("new", forKey: "password", in: names[1])
      #expect(try vault.text("password", in: names[1]) == "new")
    }
  }

  @Test func `a group that does not verify blocks an owner's fold and leaves the file unchanged`() throws {
    let file = try SampleFiles.twoGroups()
    var parts = try Parts(file)
    parts.entries.append(try KeyHolder(file, group: 0).entry(EntryDraft(generation: 9)))
    let sound = try MemoryVault(file, key: .sample()).state.groups[1].floor!.name.text

    try SampleFiles.with(parts.file) { vault, path throws in
      // Too long for an entry, so that nothing but a full write would do.
      var options = Vault.Options.sample()
      options.limits.writtenValueBytes = 16 << 20
      let writer = try Vault.opened(at: path, options: options)
      let error = refusal {
        try writer.transaction(service: Vault.Name("db"), in: writer.group(named: sound)) { batch throws(VaultError) in
          for key in ["a", "b"] { try batch.set([UInt8](repeating: 1, count: 16 << 20), forKey: key) }
        }
      }
      #expect(error == .malformed)
      #expect(try VaultBytes.read(path) == parts.file)
    }
  }
}
