import Glibc
import Testing
import VaultSealing

@testable import VaultCore

/// Sections that a key holder sealed against the rules: the seal is right, the body is not.
struct ForgedSectionTests {
  /// One way to break a section, and what it is refused as.
  struct Forgery: CustomTestStringConvertible, Sendable {
    let testDescription: String
    let code: VaultError.Code?
    let forge: @Sendable (inout SectionDraft) -> Void

    init(_ id: String, _ code: VaultError.Code?, _ forge: @escaping @Sendable (inout SectionDraft) -> Void) {
      (testDescription, self.code, self.forge) = (id, code, forge)
    }
  }

  private static func outcome(_ file: [UInt8], limits: Vault.Limits = .format, _ draft: SectionDraft) throws
    -> VaultError.Code?
  {
    var parts = try Parts(file)
    parts.sections[0].sealed = try KeyHolder(file).section(draft)
    return try SampleFiles.refusal(opening: parts.file, limits: limits)
  }

  private static let row30: [Forgery] = [
    Forgery("nothing wrong", nil) { _ in },
    Forgery("no records", nil) { $0.records = [] },
    Forgery("records in order", nil) { $0.records = [RecordDraft("a"), RecordDraft("b")] },
    Forgery("records out of order", .malformed) { $0.records = [RecordDraft("b"), RecordDraft("a")] },
    Forgery("services out of order", .malformed) {
      $0.records = [RecordDraft("a"), RecordDraft("b")]
      $0.records[0].service = [0x7A]
    },
    Forgery("a duplicate record", .malformed) { $0.records = [RecordDraft("a"), RecordDraft("a")] },
    Forgery("one record more than counted", .malformed) { $0.count = 0 },
    // What remains is shorter than the shortest record (Docs/Format.md section 4, step 3).
    Forgery("one record less than counted", .malformed) { $0.count = 2 },
    Forgery("2^20 records counted", .malformed) { $0.count = 1 << 20 },
    Forgery("2^20 + 1 records counted", .limitExceeded) { $0.count = 1 << 20 + 1 },
    Forgery("2^32 - 1 records counted", .limitExceeded) { $0.count = .max },
    Forgery("a key of invalid UTF-8", .invalidName) { $0.records[0].key = [0xC3, 0x28] },
    Forgery("a service of a surrogate's bytes", .invalidName) { $0.records[0].service = [0xED, 0xA0, 0x80] },
    Forgery("a control character", .invalidName) { $0.records[0].key = [0x61, 0x09] },
    Forgery("U+0085", .invalidName) { $0.records[0].key = [0xC2, 0x85] },
    Forgery("an empty key", .invalidName) { $0.records[0].key = [] },
    Forgery("an empty service", .invalidName) { $0.records[0].service = [] },
    Forgery("a key of 1024 bytes", nil) { $0.records[0].key = .init(repeating: 0x61, count: 1024) },
    Forgery("a key of 1025 bytes", .invalidName) { $0.records[0].key = .init(repeating: 0x61, count: 1025) },
    Forgery("an invalid group name", .invalidName) { $0.name = [0x0A] },
    Forgery("an empty group name", .invalidName) { $0.name = [] },
    Forgery("kind 0", .malformed) { $0.records[0].kind = 0 },
    Forgery("kind 255", nil) { $0.records[0].kind = 255 },
    Forgery("class 4", .malformed) {
      $0.records[0].class = 4
      $0.records[0].sealed = [UInt8](repeating: 0, count: 200)
    },
    Forgery("a nonzero reserved field", .malformed) { $0.records[0].zero = 0x100 },
    Forgery("a revision above the generation", .malformed) { $0.records[0].revision = 3 },
    Forgery("a revision of the generation", nil) { $0.records[0].revision = 2 },
    Forgery("revision 0", .malformed) { $0.records[0].revision = 0 },
    Forgery("base_generation above vault_generation", .tampered) { $0.baseGeneration = 2 },
    Forgery("base_generation 0", .limitExceeded) { $0.baseGeneration = 0 },
    Forgery("base_generation 2^63", .limitExceeded) { $0.baseGeneration = 1 << 63 },
    Forgery("base_tag of another manifest", .tampered) { $0.baseTag = .zero },
    Forgery("generation 0", .limitExceeded) { $0.generation = 0 },
    Forgery("generation 2^63", .limitExceeded) { $0.generation = 1 << 63 },
    Forgery("the floor's generation and another tag", .tampered) { $0.generation = 1 },
    Forgery("generation floor + 2^32", nil) { $0.generation = 1 + 1 << 32 },
    Forgery("generation floor + 2^32 + 1", .tampered) { $0.generation = 2 + 1 << 32 },
    Forgery("another group name", .tampered) { $0.name = Array("renamed".utf8) },
    Forgery("bytes behind the end", .malformed) { $0.rest = [0] },
    Forgery("a sealed value of 71 bytes", .malformed) {
      $0.records[0].sealed = [UInt8](repeating: 1, count: 71)
    },
    Forgery("a sealed value of 143 bytes in class 2", .malformed) {
      $0.records[0].class = 2
      $0.records[0].sealed = [UInt8](repeating: 1, count: 143)
    },
    Forgery("a sealed value of 144 bytes in class 3", nil) {
      $0.records[0].class = 3
      $0.records[0].sealed = [UInt8](repeating: 1, count: 144)
    },
    Forgery("negative times", nil) { ($0.records[0].created, $0.records[0].modified) = (-1, .min) },
  ]

  @Test(arguments: row30)
  func `row 30: a forged section is refused by the class of its fault`(forgery: Forgery) throws {
    var draft = SectionDraft()
    forgery.forge(&draft)

    #expect(try Self.outcome(SampleFiles.snapshot(), draft) == forgery.code)
  }

  @Test func `row 30: the first deviation from left to right decides`() throws {
    var draft = SectionDraft()
    draft.records = [RecordDraft("b"), RecordDraft("a")]
    draft.records[1].service = [0x09]
    draft.rest = [0]

    #expect(try Self.outcome(SampleFiles.snapshot(), draft) == .invalidName)
  }

  @Test func `a section of more records than the caller's limit exceeds it`() throws {
    var (draft, limits) = (SectionDraft(), Vault.Limits.format)
    draft.records = [RecordDraft("a"), RecordDraft("b"), RecordDraft("c")]
    limits.records = 2

    #expect(try Self.outcome(SampleFiles.snapshot(), limits: limits, draft) == .limitExceeded)
  }

  @Test(arguments: [(100, nil), (101, VaultError.Code.limitExceeded)])
  func `a value longer than the caller's limit exceeds it on load`(count: Int, code: VaultError.Code?) throws {
    var (draft, limits) = (SectionDraft(), Vault.Limits.format)
    draft.records[0].value = [UInt8](repeating: 0x61, count: count)
    limits.valueBytes = 100

    #expect(try Self.outcome(SampleFiles.snapshot(), limits: limits, draft) == code)
  }

  @Test func `a caller lowers the limits of the format and cannot raise them`() throws {
    var (draft, limits) = (SectionDraft(), Vault.Limits.format)
    draft.count = 1 << 20 + 1
    limits.records = .max

    #expect(try Self.outcome(SampleFiles.snapshot(), limits: limits, draft) == .limitExceeded)
  }

  @Test func `a value limit without bound does not end the process`() async {
    await #expect(processExitsWith: .exitCode(42)) {
      var limits = Vault.Limits.format
      limits.valueBytes = .max
      exit(try SampleFiles.refusal(opening: SampleFiles.snapshot(), limits: limits) == nil ? 42 : 1)
    }
  }

  struct Padding: CustomTestStringConvertible, Sendable {
    let testDescription: String
    let pad: @Sendable ([UInt8]) -> [UInt8]

    static let wrong = [
      Padding(testDescription: "no mark") { body in body + zeros(1024 - body.count) },
      Padding(testDescription: "another mark") { body in body + [0x81] + zeros(1023 - body.count) },
      Padding(testDescription: "a byte behind the mark") { body in
        body + [0x80] + zeros(1022 - body.count) + [1]
      },
      Padding(testDescription: "a step too much") { body in body + [0x80] + zeros(2047 - body.count) },
      Padding(testDescription: "zeros alone") { _ in zeros(1024) },
    ]

    private static func zeros(_ count: Int) -> [UInt8] { [UInt8](repeating: 0, count: count) }
  }

  @Test(arguments: Padding.wrong)
  func `row 31: bad padding inside a valid section is malformed`(padding: Padding) throws {
    let file = try SampleFiles.snapshot()
    let holder = try KeyHolder(file)
    var parts = try Parts(file)
    parts.sections[0].sealed = holder.section(padded: padding.pad(try SectionDraft().body(holder)))

    #expect(try SampleFiles.refusal(opening: parts.file) == .malformed)
  }

  @Test(arguments: Padding.wrong)
  func `row 31: bad padding inside a valid manifest is malformed`(padding: Padding) throws {
    let file = try SampleFiles.snapshot()
    let holder = try KeyHolder(file)
    var parts = try Parts(file)
    holder.replaceManifest(&parts, padded: padding.pad(try holder.manifestBody(parts)))

    #expect(try SampleFiles.refusal(opening: parts.file) == .malformed)
  }

  // MARK: Manifests

  struct ManifestForgery: CustomTestStringConvertible, Sendable {
    let testDescription: String
    let code: VaultError.Code?
    let forge: @Sendable (inout [UInt8]) -> Void

    init(_ id: String, _ code: VaultError.Code?, _ forge: @escaping @Sendable (inout [UInt8]) -> Void) {
      (testDescription, self.code, self.forge) = (id, code, forge)
    }

    // n_groups 0 | id 2, epoch 18, floor 22, tag 30, name 62: 2 + 7 | n_slots 71 | id 73, KEK 89, created 121,
    // label 129: 2 + 5 | extension 136
    static let all = [
      ManifestForgery("nothing wrong", nil) { _ in },
      ManifestForgery("1025 groups", .limitExceeded) { $0.store(UInt16(1025), at: 0) },
      ManifestForgery("1024 groups", .malformed) { $0.store(UInt16(1024), at: 0) },
      ManifestForgery("another group id", .tampered) { $0[2] ^= 1 },
      ManifestForgery("another epoch", .tampered) { $0[18] ^= 2 },
      ManifestForgery("floor 0", .limitExceeded) { $0.store(UInt64(0), at: 22) },
      ManifestForgery("floor 2^63", .limitExceeded) { $0.store(UInt64(1) << 63, at: 22) },
      ManifestForgery("a higher floor", .tampered) { $0.store(UInt64(2), at: 22) },
      ManifestForgery("another floor tag", .tampered) { $0[30] ^= 1 },
      ManifestForgery("another name", .tampered) { $0[64] ^= 1 },
      ManifestForgery("an invalid name", .invalidName) { $0[64] = 9 },
      ManifestForgery("65 slots", .limitExceeded) { $0.store(UInt16(65), at: 71) },
      ManifestForgery("another slot id", .tampered) { $0[73] ^= 1 },
      ManifestForgery("an owner slot with a KEK", .malformed) { $0[89] = 1 },
      ManifestForgery("a negative time", nil) { $0.store(Int64.min, at: 121) },
      ManifestForgery("a label of invalid UTF-8", .malformed) { $0[131] = 0xFF },
      ManifestForgery("a label of 1025 bytes", .malformed) {
        $0.replaceSubrange(129..<136, with: [0x01, 0x04] + [UInt8](repeating: 0x61, count: 1025))
      },
      ManifestForgery("a label of 1024 bytes", nil) {
        $0.replaceSubrange(129..<136, with: [0x00, 0x04] + [UInt8](repeating: 0x61, count: 1024))
      },
      ManifestForgery("an empty label", nil) { $0.replaceSubrange(129..<136, with: [0, 0]) },
      ManifestForgery("an unknown extension", nil) {
        $0.replaceSubrange(136..<140, with: [9, 0, 0, 0] + extensionItem(900, [1, 2, 3]))
      },
      ManifestForgery("a broken extension", .malformed) {
        $0.replaceSubrange(136..<140, with: [5, 0, 0, 0, 1, 0, 0, 0, 0])
      },
      ManifestForgery("bytes behind the end", .malformed) { $0.append(0) },
      ManifestForgery("an end within the extension", .malformed) { $0.removeLast() },
    ]
  }

  @Test(arguments: ManifestForgery.all)
  func `row 30: a forged manifest is refused by the class of its fault`(forgery: ManifestForgery) throws {
    let file = try SampleFiles.snapshot()
    let holder = try KeyHolder(file)
    var parts = try Parts(file)
    var body = try holder.manifestBody(parts)
    forgery.forge(&body)
    holder.replaceManifest(&parts, padded: KeyHolder.padded(body, step: 1024))

    // A new manifest has a new tag; the section is at its floor, so it does not matter.
    #expect(try SampleFiles.refusal(opening: parts.file) == forgery.code)
  }

  // MARK: Values

  private static func text(of draft: SectionDraft) throws -> Result<String?, VaultError> {
    let file = try SampleFiles.snapshot()
    var parts = try Parts(file)
    parts.sections[0].sealed = try KeyHolder(file).section(draft)
    return try SampleFiles.with(parts.file) { vault, _ throws in
      Result { () throws(VaultError) in try vault.text("password") }
    }
  }

  @Test func `row 14: two sealed values swapped inside a section are tampered on get`() throws {
    let file = try SampleFiles.snapshot()
    let holder = try KeyHolder(file)
    var (draft, parts) = (SectionDraft(), try Parts(file))
    draft.records = [RecordDraft("a"), RecordDraft("b")]
    let values = try draft.records.map { record in
      try holder.value(record.value, service: record.service, key: record.key, kind: 1, class: 0)
    }
    (draft.records[0].sealed, draft.records[1].sealed) = (values[1], values[0])
    parts.sections[0].sealed = try holder.section(draft)

    try SampleFiles.with(parts.file) { vault, _ throws in
      #expect(try vault.allKeys() == ["a", "b"])
      #expect(refusal { try vault.text("a") } == .tampered)
      #expect(refusal { try vault.text("b") } == .tampered)
      // Loading opens no value; verification opens every one.
      #expect(refusal { try vault.status() } == nil)
      #expect(refusal { try vault.verify() } == .tampered)
    }
  }

  @Test func `row 14: two sealed values swapped inside an entry are tampered on get`() throws {
    let file = try SampleFiles.snapshot()
    let holder = try KeyHolder(file)
    var parts = try Parts(file)
    var records = [RecordDraft("a", revision: 2), RecordDraft("b", revision: 2)]
    let values = try records.map { record in
      try holder.value(record.value, service: record.service, key: record.key, kind: 1, class: 0)
    }
    (records[0].sealed, records[1].sealed) = (values[1], values[0])
    parts.entries = [try holder.entry(EntryDraft(changes: records.map { .put($0) }))]

    try SampleFiles.with(parts.file) { vault, _ throws in
      #expect(refusal { try vault.text("a") } == .tampered)
      #expect(refusal { try vault.text("b") } == .tampered)
      #expect(try vault.text("password") == "s3cret")
    }
  }

  @Test(arguments: ["kind", "class", "service", "key"])
  func `row 15: a value whose record was relabelled by a key holder is tampered on get`(field: String) throws {
    let file = try SampleFiles.snapshot()
    let holder = try KeyHolder(file)
    var (draft, parts) = (SectionDraft(), try Parts(file))
    var record = draft.records[0]
    record.sealed = try holder.value(
      record.value, service: field == "service" ? [0x61] : record.service,
      key: field == "key" ? [0x61] : record.key, kind: field == "kind" ? 2 : 1,
      class: field == "class" ? 1 : 0)
    draft.records = [record]
    parts.sections[0].sealed = try holder.section(draft)

    try SampleFiles.with(parts.file) { vault, _ throws in
      #expect(refusal { try vault.text("password") } == .tampered)
    }
  }

  @Test func `a forged record that breaks no rule is readable`() throws {
    #expect(try Self.text(of: SectionDraft()).get() == "s3cret")
  }

  struct Body: CustomTestStringConvertible, Sendable {
    let testDescription: String
    let kind: UInt8
    let value: [UInt8]

    static let unfit = [
      Body(testDescription: "string, not UTF-8", kind: 1, value: [0xFF]),
      Body(testDescription: "string, a surrogate", kind: 1, value: [0xED, 0xA0, 0x80]),
      Body(testDescription: "bool of 2", kind: 3, value: [2]),
      Body(testDescription: "empty bool", kind: 3, value: []),
      Body(testDescription: "bool of two bytes", kind: 3, value: [0, 0]),
      Body(testDescription: "integer of 7 bytes", kind: 4, value: [0, 0, 0, 0, 0, 0, 0]),
      Body(testDescription: "unsigned integer of 9 bytes", kind: 5, value: [UInt8](repeating: 0, count: 9)),
      Body(testDescription: "empty double", kind: 6, value: []),
      Body(testDescription: "date of 4 bytes", kind: 7, value: [0, 0, 0, 0]),
      Body(testDescription: "URL, not UTF-8", kind: 8, value: [0xC3]),
      Body(testDescription: "JSON, not UTF-8", kind: 9, value: [0x80]),
    ]
  }

  @Test(arguments: Body.unfit)
  func `row 74: a body that does not fit its kind is malformed on get`(body: Body) throws {
    var draft = SectionDraft()
    (draft.records[0].kind, draft.records[0].value) = (body.kind, body.value)

    #expect(refusal { try Self.text(of: draft).get() } == .malformed)
  }

  @Test(arguments: Body.unfit)
  func `row 74: a value that does not fit its kind is not written`(body: Body) throws {
    try TemporaryDirectory.with { directory in
      let vault = try Vault.sample(at: directory + "/vault.spv")

      #expect(
        refusal { try vault.set(body.value, kind: ValueKind(rawValue: body.kind), forKey: "a") }
          == .typeMismatch)
      #expect(try vault.allKeys() == ["password"])
    }
  }
}
