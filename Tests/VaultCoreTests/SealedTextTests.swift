import Foundation
import Testing
import VaultCore
import VaultSealing

/// Single values sealed outside a vault (`Docs/Format.md` annex C).
struct SealedTextTests {
  /// `sealed-texts.json`, which the second implementation writes.
  struct Manifest: Decodable {
    let key: String
    let texts: [Text]

    struct Text: Decodable, Sendable, CustomTestStringConvertible {
      let name, context, text: String
      let random, hex, error: String?
      let kind: UInt8?
      let limit: Int?
      var testDescription: String { name }
    }

    static let shared: Result<Manifest, any Error> = Result {
      let path = try #require(Bundle.module.resourcePath) + "/Vectors/faults/sealed-texts.json"
      return try JSONDecoder().decode(Manifest.self, from: Data(contentsOf: URL(filePath: path)))
    }
  }

  static func texts(_ isValid: Bool) throws -> [Manifest.Text] {
    let texts = try Manifest.shared.get().texts.filter { ($0.error == nil) == isValid }
    try #require(texts.count > 15)
    return texts
  }

  private static func bytes(_ hex: String) -> [UInt8] {
    stride(from: 0, to: hex.count, by: 2).map { offset in
      let start = hex.index(hex.startIndex, offsetBy: offset)
      return UInt8(hex[start..<hex.index(start, offsetBy: 2)], radix: 16)!
    }
  }

  /// Calls `body` with a sealer whose key is that of the vectors.
  private static func withSealer<R>(
    options: Vault.Options = .sample(seed: "opened"), _ body: (ValueSealer) throws -> R
  ) throws -> R {
    try TemporaryDirectory.with { directory in
      let key = try KeyText.parse(Array(Manifest.shared.get().key.utf8).span.bytes)
      try Vault.sample(at: directory + "/vault.spv").set(key.withUnsafeBytes { Array($0) }, forKey: "key")
      return try body(try sealer(in: try .opened(at: directory + "/vault.spv", options: options)))
    }
  }

  /// Calls `body` with a new vault without a sealing key.
  private static func withVault<R>(_ body: (Vault, ValueSealer) throws -> R) throws -> R {
    try TemporaryDirectory.with { directory in
      let vault = try Vault.sample(at: directory + "/vault.spv")
      return try body(vault, try sealer(in: vault))
    }
  }

  private static func sealer(_ key: String = "key", in vault: Vault) throws -> ValueSealer {
    ValueSealer(key: key, service: try Vault.Name("db"), in: try vault.group(), of: vault)
  }

  private static func seal(
    _ value: String, context: String = "here", with sealer: ValueSealer
  ) throws(VaultError) -> String {
    let (value, context) = (Array(value.utf8), Array(context.utf8))
    return try sealer.seal(value.span.bytes, kind: .string, context: context.span.bytes)
  }

  private static func open(
    _ text: String, context: String = "here", with sealer: ValueSealer
  ) throws(VaultError) -> String {
    let context = Array(context.utf8)
    return try sealer.withOpened(text, context: context.span.bytes) { _, value in
      value.withUnsafeBytes { String(decoding: $0, as: UTF8.self) }
    }
  }

  private static func code<R>(_ body: () throws -> R) -> VaultError.Code? {
    do {
      _ = try body()
      return nil
    } catch { return (error as? VaultError)?.code }
  }

  // MARK: Vectors

  /// The options of a reader with the limit of the text.
  private static func options(_ text: Manifest.Text) -> Vault.Options {
    var options = Vault.Options.sample(seed: "opened")
    if let limit = text.limit { options.limits.valueBytes = limit }
    return options
  }

  @Test(arguments: try texts(true))
  func `row 65: a text of the second implementation opens as what it says`(_ text: Manifest.Text) throws {
    try Self.withSealer(options: Self.options(text)) { sealer in
      let context = Self.bytes(text.context)
      let (kind, value) = try sealer.withOpened(text.text, context: context.span.bytes) { kind, value in
        (kind.rawValue, value.withUnsafeBytes { Array($0) })
      }

      #expect(kind == text.kind)
      #expect(hexadecimal(value) == text.hex)
    }
  }

  @Test(arguments: try texts(true))
  func `the same random bytes give the text of the second implementation`(_ text: Manifest.Text) throws {
    var options = Vault.Options.sample()
    let random = Self.bytes(try #require(text.random))
    options.random = RandomSource { $0.copyBytes(from: random.prefix($0.count)) }
    try Self.withSealer(options: options) { sealer in
      let (value, context) = (Self.bytes(try #require(text.hex)), Self.bytes(text.context))
      let kind = ValueKind(rawValue: try #require(text.kind))

      #expect(try sealer.seal(value.span.bytes, kind: kind, context: context.span.bytes) == text.text)
    }
  }

  @Test(arguments: try texts(false))
  func `row 65: a text of the second implementation is refused as it says`(_ text: Manifest.Text) throws {
    try Self.withSealer(options: Self.options(text)) { sealer in
      let context = Self.bytes(text.context)
      let refusal = Self.code { try sealer.withOpened(text.text, context: context.span.bytes) { _, _ in } }

      #expect(refusal?.rawValue == text.error)
    }
  }

  // MARK: Texts

  @Test func `every byte that changes is refused`() throws {
    try Self.withVault { _, sealer in
      try sealer.createSealingKey()
      let text = Array(try Self.seal("s3cret", with: sealer).utf8)
      for position in text.indices {
        for bit in 0..<7 {
          var changed = text
          changed[position] ^= 1 << UInt8(bit)
          let refusal = Self.code { try Self.open(String(decoding: changed, as: UTF8.self), with: sealer) }
          #expect([.malformed, .tampered].contains(refusal), "byte \(position), bit \(bit)")
        }
      }
    }
  }

  @Test func `every text that is cut off is refused`() throws {
    try Self.withVault { _, sealer in
      try sealer.createSealingKey()
      let text = try Self.seal("s3cret", with: sealer)
      for count in 0..<text.count {
        let refusal = Self.code { try Self.open(String(text.prefix(count)), with: sealer) }
        #expect([.malformed, .tampered].contains(refusal), "\(count) characters")
      }
    }
  }

  @Test func `a value is sealed differently each time, and contains nothing of it`() throws {
    try Self.withVault { _, sealer in
      try sealer.createSealingKey()
      let texts = try (0..<8).map { _ in try Self.seal("s3ntinel-5ecret", with: sealer) }

      #expect(Set(texts).count == texts.count)
      for text in texts {
        #expect(text.hasPrefix("spv-sealed-1:") && !text.contains("s3ntinel"))
        #expect(try Self.open(text, with: sealer) == "s3ntinel-5ecret")
      }
    }
  }

  @Test func `a value above the limit is neither sealed nor opened`() throws {
    var options = Vault.Options.sample()
    options.limits.writtenValueBytes = 16 << 20
    try Self.withSealer(options: options) { sealer in
      let longest = String(repeating: "v", count: 16 << 20)
      let text = try Self.seal(longest, with: sealer)

      #expect(try Self.open(text, with: sealer) == longest)
      #expect(Self.code { try Self.seal(longest + "v", with: sealer) } == .valueTooLarge)
      #expect(Self.code { try Self.open(text + "AAAA", with: sealer) } == .limitExceeded)
    }
    options.limits.valueBytes = 100
    try Self.withSealer(options: options) { sealer in
      let longest = try Self.seal(String(repeating: "v", count: 100), with: sealer)
      let longer = try Self.seal(String(repeating: "v", count: 101), with: sealer)

      #expect(try Self.open(longest, with: sealer).count == 100)
      #expect(Self.code { try Self.open(longer, with: sealer) } == .limitExceeded)
    }
  }

  @Test func `bytes that do not fit their kind are not sealed`() throws {
    try Self.withVault { _, sealer in
      try sealer.createSealingKey()
      for (kind, value) in [(0, [1]), (1, [0xFF]), (3, [2]), (4, [1])] as [(UInt8, [UInt8])] {
        let refusal = Self.code {
          try sealer.seal(value.span.bytes, kind: ValueKind(rawValue: kind), context: [UInt8]().span.bytes)
        }
        #expect(refusal == .typeMismatch, "kind \(kind)")
      }
    }
  }

  // MARK: The sealing key

  @Test func `only createSealingKey creates a sealing key, and only the first time`() throws {
    try Self.withVault { vault, sealer in
      #expect(Self.code { try Self.seal("s3cret", with: sealer) } == .notFound)
      #expect(Self.code { try sealer.renewSealingKey() } == .notFound)
      #expect(Self.code { try sealer.forgetPreviousSealingKeys() } == .notFound)
      #expect(try vault.keys(service: Vault.Name("db"), in: vault.group()) == ["password"])

      #expect(try sealer.createSealingKey())
      let text = try Self.seal("s3cret", with: sealer)
      #expect(try !sealer.createSealingKey())
      #expect(try Self.open(text, with: sealer) == "s3cret")
    }
  }

  @Test func `a lost sealing key is not replaced`() throws {
    try Self.withVault { vault, sealer in
      try sealer.createSealingKey()
      let text = try Self.seal("s3cret", with: sealer)
      try vault.transaction(service: Vault.Name("db"), in: vault.group()) { batch throws(VaultError) in
        try batch.remove("key")
      }

      #expect(Self.code { try Self.open(text, with: sealer) } == .notFound)
      #expect(Self.code { try Self.seal("new", with: sealer) } == .notFound)
      // A new sealing key does not open what the lost one has sealed.
      #expect(try sealer.createSealingKey())
      #expect(Self.code { try Self.open(text, with: sealer) } == .tampered)
    }
  }

  @Test func `a record that is not a sealing key is neither used nor changed`() throws {
    try Self.withVault { vault, _ in
      try vault.set([UInt8](repeating: 0x6B, count: 33), forKey: "long")
      try vault.set([UInt8](repeating: 0x6B, count: 32), kind: .string, forKey: "text")
      for key in ["password", "long", "text"] {
        let sealer = try Self.sealer(key, in: vault)
        let before = try vault.record(service: Vault.Name("db"), key: key, in: vault.group())?.revision

        #expect(Self.code { try Self.seal("s3cret", with: sealer) } == .typeMismatch, "\(key)")
        #expect(Self.code { try sealer.createSealingKey() } == .typeMismatch, "\(key)")
        #expect(Self.code { try sealer.renewSealingKey() } == .typeMismatch, "\(key)")
        #expect(Self.code { try sealer.forgetPreviousSealingKeys() } == .typeMismatch, "\(key)")
        #expect(try vault.record(service: Vault.Name("db"), key: key, in: vault.group())?.revision == before)
      }
    }
  }

  @Test func `a text opens with each sealing key that the record keeps, until they are forgotten`() throws {
    try Self.withVault { vault, sealer in
      try sealer.createSealingKey()
      var texts = [try Self.seal("0", with: sealer)]
      for number in 1...3 {
        try sealer.renewSealingKey()
        texts.append(try Self.seal("\(number)", with: sealer))
      }
      for (number, text) in texts.enumerated() { #expect(try Self.open(text, with: sealer) == "\(number)") }
      for text in texts { #expect(Self.code { try Self.open(text, context: "there", with: sealer) } == .tampered) }

      try sealer.forgetPreviousSealingKeys()

      #expect(try vault.record(service: Vault.Name("db"), key: "key", in: vault.group())?.previous.isEmpty == true)
      for text in texts.dropLast() { #expect(Self.code { try Self.open(text, with: sealer) } == .tampered) }
      #expect(try Self.open(texts[3], with: sealer) == "3")
      try sealer.renewSealingKey()
      #expect(try Self.open(texts[3], with: sealer) == "3")
    }
  }

  @Test func `a previous value that is not a sealing key is passed over`() throws {
    try Self.withVault { vault, sealer in
      try sealer.createSealingKey()
      let text = try Self.seal("s3cret", with: sealer)
      var edit = RecordEdit()
      edit.historyDepth = .set(2)
      for count in [33, 32] {
        let value = [UInt8](repeating: 0x6B, count: count)
        try vault.transaction(service: Vault.Name("db"), in: vault.group()) { batch throws(VaultError) in
          try batch.set(value.span.bytes, kind: .data, forKey: "key", edit: edit)
        }
      }

      #expect(try vault.record(service: Vault.Name("db"), key: "key", in: vault.group())?.previous.count == 2)
      #expect(try Self.open(text, with: sealer) == "s3cret")
    }
  }

  @Test func `the sealing key is renewed and forgotten asynchronously`() async throws {
    try await TemporaryDirectory.with { directory in
      let sealer = try Self.sealer(in: try Vault.sample(at: directory + "/vault.spv"))
      #expect(try await sealer.createSealingKey())
      let text = try Self.seal("s3cret", with: sealer)
      try await sealer.renewSealingKey()
      #expect(try Self.open(text, with: sealer) == "s3cret")
      try await sealer.forgetPreviousSealingKeys()
      #expect(Self.code { try Self.open(text, with: sealer) } == .tampered)
    }
  }

  @Test func `a locked vault seals and opens nothing`() throws {
    try Self.withVault { vault, sealer in
      try sealer.createSealingKey()
      let text = try Self.seal("s3cret", with: sealer)
      vault.lock()

      #expect(Self.code { try Self.open(text, with: sealer) } == .locked)
      #expect(Self.code { try Self.seal("s3cret", with: sealer) } == .locked)
      #expect(Self.code { try sealer.createSealingKey() } == .locked)
      #expect(Self.code { try sealer.renewSealingKey() } == .locked)
      try vault.unlock(with: .key(.sample()))
      #expect(try Self.open(text, with: sealer) == "s3cret")
    }
  }

  @Test func `a sealing key of afterFirstUnlock seals and opens while the vault is locked`() throws {
    try Self.withVault { vault, _ in
      let sealer = ValueSealer(
        key: "key", service: try Vault.Name("db"), accessibility: .afterFirstUnlock, in: try vault.group(), of: vault)
      try sealer.createSealingKey()
      let old = try Self.seal("old", with: sealer)
      try sealer.renewSealingKey()
      vault.lock()

      #expect(try Self.open(try Self.seal("s3cret", with: sealer), with: sealer) == "s3cret")
      #expect(try Self.open(old, with: sealer) == "old")
    }
  }

  @Test func `of sixteen handles that create the sealing key at once, one does, and all open the same texts`()
    async throws
  {
    try await TemporaryDirectory.with { directory in
      let path = directory + "/vault.spv"
      _ = try Vault.sample(at: path)
      let made = try await withThrowingTaskGroup(of: (Bool, String).self) { group in
        for _ in 0..<16 {
          group.addTask {
            let sealer = try Self.sealer(in: try .opened(at: path, options: .init()))
            let isNew = try await sealer.createSealingKey()
            return (isNew, try Self.seal("s3cret", with: sealer))
          }
        }
        return try await group.reduce(into: [(Bool, String)]()) { $0.append($1) }
      }
      let sealer = try Self.sealer(in: try .opened(at: path, options: .init()))

      #expect(made.count { $0.0 } == 1)
      for (_, text) in made { #expect(try Self.open(text, with: sealer) == "s3cret") }
    }
  }
}
