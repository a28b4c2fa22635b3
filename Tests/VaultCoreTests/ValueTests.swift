import Foundation
import Testing
import VaultSealing

@testable import VaultCore

extension EveryStorage {
  /// Values, names and times as a caller gives them, and as they come back.
  struct ValueTests {}
}

extension EveryStorage.ValueTests {
  private func withVault<R>(_ body: (Vault) throws -> R) throws -> R {
    try TemporaryDirectory.with { directory in try body(try .sample(at: directory + "/vault.spv")) }
  }

  @Test(arguments: [ValueKind.string, .data, .url, .json])
  func `row 32: an empty value is stored and is not a missing one`(kind: ValueKind) throws {
    try withVault { vault throws in
      try vault.set([], kind: kind, forKey: "empty")

      #expect(try vault.bytes("empty") == [])
      #expect(try vault.kind(service: Vault.Name("db"), key: "empty", in: vault.group()) == kind)
      #expect(try vault.bytes("missing") == nil)
      #expect(try vault.kind(service: Vault.Name("db"), key: "missing", in: vault.group()) == nil)
    }
  }

  @Test func `row 33: a value of 16 MiB is stored, one byte more and 64 MiB are too large`() throws {
    try TemporaryDirectory.with { directory in
      var options = Vault.Options.sample()
      options.limits.writtenValueBytes = .max
      let vault = try Vault.sample(at: directory + "/vault.spv", options: options)
      let value = [UInt8](repeating: 0xA5, count: 16 << 20)

      #expect(refusal { try vault.set(value + [0], forKey: "long") } == .valueTooLarge)
      #expect(
        refusal { try vault.set([UInt8](repeating: 0, count: 64 << 20), forKey: "long") } == .valueTooLarge)
      try vault.set(value, forKey: "long")
      let found = try Vault.opened(at: directory + "/vault.spv").bytes("long")
      let isEqual = found == value
      #expect(isEqual)
    }
  }

  @Test func `row 33: without a raised limit a value has at most 1 MiB`() throws {
    try withVault { vault throws in
      try vault.set([UInt8](repeating: 1, count: 1 << 20), forKey: "long")

      #expect(
        refusal { try vault.set([UInt8](repeating: 1, count: 1 << 20 + 1), forKey: "long") } == .valueTooLarge
      )
      #expect(try vault.bytes("long")?.count == 1 << 20)
    }
  }

  @Test(arguments: [0, 1, 100, 3584, 3585, 5000])
  func `a value of any length comes back, on both sides of the scratch page`(count: Int) throws {
    try withVault { vault throws in
      let value = (0..<count).map { UInt8(truncatingIfNeeded: $0 * 7) }
      try vault.set(value, forKey: "value")

      #expect(try vault.bytes("value") == value)
    }
  }

  @Test func `row 34: data with NUL and invalid UTF-8 comes back byte for byte`() throws {
    try withVault { vault throws in
      let value: [UInt8] = [0, 0xFF, 0xC3, 0x28, 0, 0xED, 0xA0, 0x80]
      try vault.set(value, forKey: "data")

      #expect(try vault.bytes("data") == value)
    }
  }

  @Test func `row 34: a string with NUL comes back`() throws {
    try withVault { vault throws in
      try vault.set("a\u{0}b", forKey: "text")

      #expect(try vault.text("text") == "a\u{0}b")
    }
  }

  // MARK: Names

  static let invalidNames = [
    "", String(repeating: "n", count: 1025), "a\u{0}", "\t", "a\u{85}", "\u{7F}", "\u{1F}", "\u{80}",
    "\u{9F}",
  ]

  @Test(arguments: invalidNames)
  func `row 35: an invalid name is refused wherever one is given`(name: String) throws {
    try withVault { vault throws in
      let (group, service) = (try vault.group(), try Vault.Name("db"))

      #expect(refusal { _ = try Vault.Name(name) } == .invalidName)
      #expect(refusal { try vault.set("value", forKey: name) } == .invalidName)
      #expect(refusal { try vault.remove(name) } == .invalidName)
      #expect(refusal { try vault.text(name) } == .invalidName)
      #expect(refusal { try vault.kind(service: service, key: name, in: group) } == .invalidName)
      #expect(refusal { try vault.group(named: name) } == .invalidName)
      #expect(try vault.allKeys() == ["password"])
    }
  }

  @Test(
    arguments: [[], [0xED, 0xA0, 0x80], [0xC3, 0x28], [0xFF], [0xC0, 0x80], [0xF4, 0x90, 0x80, 0x80]]
      as [[UInt8]])
  func `row 35: bytes that are no UTF-8 are no name`(bytes: [UInt8]) {
    #expect(refusal { _ = try Vault.Name(verbatim: bytes) } == .invalidName)
  }

  @Test(arguments: [
    String(repeating: "n", count: 1024), String(repeating: "é", count: 512), " ", "\u{A0}", "~", "\u{10FFFF}",
  ])
  func `row 35: a name of up to 1024 bytes is stored`(name: String) throws {
    try withVault { vault throws in
      try vault.set("value", forKey: name, service: name)

      #expect(try vault.text(name, service: name) == "value")
    }
  }

  @Test func `row 35: a batch with one invalid name changes nothing`() throws {
    try withVault { vault throws in
      let error = refusal {
        try vault.transaction(service: Vault.Name("db"), in: vault.group()) { batch throws(VaultError) in
          try batch.set("value", forKey: "good")
          try batch.set("value", forKey: "bad\n")
        }
      }

      #expect(error == .invalidName)
      #expect(try vault.allKeys() == ["password"])
    }
  }

  @Test func `row 36: precomposed and decomposed é name one record`() throws {
    try withVault { vault throws in
      try vault.set("one", forKey: "caf\u{E9}", service: "e\u{301}")
      try vault.set("two", forKey: "cafe\u{301}", service: "\u{E9}")

      #expect(try vault.text("caf\u{E9}", service: "\u{E9}") == "two")
      #expect(try vault.text("cafe\u{301}", service: "e\u{301}") == "two")
      #expect(
        try vault.keys(service: Vault.Name("\u{E9}"), in: vault.group()).map { Array($0.utf8) }
          == [Array("caf\u{E9}".utf8)])
    }
  }

  @Test func `row 36: in the format the two spellings are two records`() throws {
    let file = try SampleFiles.snapshot()
    var parts = try Parts(file)
    parts.sections[0].sealed = try KeyHolder(file).section(
      SectionDraft(records: [RecordDraft("e\u{301}"), RecordDraft("\u{E9}")]))

    try SampleFiles.with(parts.file) { vault, _ throws in
      let records = try vault.records(in: vault.group())
      #expect(records.map(\.key.utf8) == [[0x65, 0xCC, 0x81], [0xC3, 0xA9]])
      for record in records {
        #expect(try vault.withValue(of: record, in: vault.group()) { _, bytes in bytes.byteCount } == 6)
      }
      #expect(try vault.text("e\u{301}") == "s3cret")
    }
  }

  @Test(arguments: ["🔑", "\u{202E}evil", "a\u{200D}b", "👩‍👩‍👧", "\u{FEFF}"])
  func `row 37: emoji, overrides and joiners are stored in names`(name: String) throws {
    try withVault { vault throws in
      try vault.set("value", forKey: name)

      #expect(try vault.text(name) == "value")
      #expect(try vault.allKeys().contains(name))
    }
  }

  @Test func `records come in the order of their bytes, service first`() throws {
    try withVault { vault throws in
      for (service, key) in [("b", "a"), ("a", "\u{E9}"), ("a", "z"), ("a", "Z"), ("aa", "a"), ("a", "zz")] {
        try vault.set("value", forKey: key, service: service)
      }

      let names = try vault.records(in: vault.group()).map { "\($0.service.text)/\($0.key.text)" }
      #expect(names == ["a/Z", "a/z", "a/zz", "a/\u{E9}", "aa/a", "b/a", "db/password"])
      #expect(try vault.allKeys(service: "a") == ["Z", "z", "zz", "\u{E9}"])
      #expect(try vault.allKeys(service: "absent") == [])
    }
  }

  // MARK: Kinds

  struct Value: CustomTestStringConvertible, Sendable {
    let testDescription: String
    let kind: UInt8
    let bytes: [UInt8]

    static let all = [
      Value(testDescription: "string", kind: 1, bytes: Array("grüß".utf8)),
      Value(testDescription: "data", kind: 2, bytes: [0, 255]),
      Value(testDescription: "false", kind: 3, bytes: [0]),
      Value(testDescription: "true", kind: 3, bytes: [1]),
      Value(testDescription: "integer", kind: 4, bytes: [UInt8](repeating: 255, count: 8)),
      Value(testDescription: "unsigned integer", kind: 5, bytes: [UInt8](repeating: 255, count: 8)),
      Value(testDescription: "double, not a number", kind: 6, bytes: [0, 0, 0, 0, 0, 0, 0xF8, 0x7F]),
      Value(testDescription: "date", kind: 7, bytes: [UInt8](repeating: 0, count: 8)),
      Value(testDescription: "URL", kind: 8, bytes: Array("https://example.org".utf8)),
      Value(testDescription: "a text that is no URL", kind: 8, bytes: Array("::".utf8)),
      Value(testDescription: "JSON", kind: 9, bytes: Array("{}".utf8)),
      Value(testDescription: "a text that is no JSON", kind: 9, bytes: Array("{".utf8)),
      Value(testDescription: "kind 10", kind: 10, bytes: [1]),
      Value(testDescription: "kind 200", kind: 200, bytes: [1, 2, 3]),
      Value(testDescription: "kind 255", kind: 255, bytes: []),
    ]
  }

  @Test(arguments: Value.all)
  func `row 74: a value of every kind comes back with its kind`(value: Value) throws {
    try withVault { vault throws in
      let kind = ValueKind(rawValue: value.kind)
      try vault.set(value.bytes, kind: kind, forKey: "value")

      let found = try vault.withValue(service: Vault.Name("db"), key: "value", in: vault.group()) {
        ($0, $1.copy)
      }
      #expect(found?.0 == kind)
      #expect(found?.1 == value.bytes)
      #expect(try vault.kind(service: Vault.Name("db"), key: "value", in: vault.group()) == kind)
    }
  }

  @Test func `row 74: a value of kind 0 is not written`() throws {
    try withVault { vault throws in
      #expect(refusal { try vault.set([1], kind: ValueKind(rawValue: 0), forKey: "value") } == .typeMismatch)
    }
  }

  @Test func `row 74: another kind replaces the value and its kind`() throws {
    try withVault { vault throws in
      try vault.set([1], kind: .bool, forKey: "password")

      let found = try vault.withValue(service: Vault.Name("db"), key: "password", in: vault.group()) {
        ($0, $1.copy)
      }
      #expect(found?.0 == .bool)
      #expect(found?.1 == [1])
    }
  }

  // MARK: Clocks and random bytes

  @Test(arguments: [0, -1, Int64.min, Int64.max, 9_214_646_400_000])
  func `row 58: the clock shows in times and nowhere else`(time: Int64) throws {
    try TemporaryDirectory.with { directory in
      let path = directory + "/vault.spv"
      var options = Vault.Options.sample()
      options.now = { time }
      let vault = try Vault.sample(at: path, options: options)
      try vault.set("value", forKey: "a")
      try vault.fold()
      try vault.remove("a")
      try vault.set("value", forKey: "b")

      let record = try Vault.opened(at: path).records(in: vault.group())[0]
      #expect(record.created == time)
      #expect(record.modified == time)
      #expect(try vault.allKeys() == ["b", "long", "password"])
    }
  }

  @Test func `row 58: a clock that runs backwards changes only the time of modification`() throws {
    try TemporaryDirectory.with { directory in
      let path = directory + "/vault.spv"
      let vault = try Vault.sample(at: path)
      var options = Vault.Options.sample()
      options.now = { 5 }
      try Vault.opened(at: path, options: options).set("new", forKey: "password")

      let record = try vault.records(in: vault.group())[0]
      #expect(record.created == 1_700_000_000_000)
      #expect(record.modified == 5)
      #expect(record.revision == 2)
      #expect(try vault.text("password") == "new")
    }
  }

  @Test func `row 59: a random source that repeats gives other nonces for other messages`() throws {
    try TemporaryDirectory.with { directory in
      let path = directory + "/vault.spv"
      _ = try Vault.sample(at: path)
      var options = Vault.Options.sample()
      options.random = RandomSource { $0.copyBytes(from: [UInt8](repeating: 7, count: $0.count)) }
      let vault = try Vault.opened(at: path, options: options)
      var nonces: [[UInt8]] = []

      for text in ["one", "two"] {
        try vault.set(text, forKey: "password")
        let file = try VaultBytes.read(path)
        let content = try KeyHolder(file).content
        content.forEachInOrder { nonces.append($0.sealedValue.extracting(..<24).copy) }
        nonces.append(Array(try #require(Parts(file).entries.last)[24..<48]))
      }

      #expect(Set(nonces).count == 4)
      #expect(try vault.text("password") == "two")
    }
  }
}
