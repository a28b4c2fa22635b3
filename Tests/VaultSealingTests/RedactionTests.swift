import Testing
import VaultSealing

/// Looks for a sentinel in everything that printing, dumping and mirrors show.
///
/// `SecretBytes` and `Transcript` need no row: they cannot be copied, so they cannot be printed either.
struct RedactionTests {
  private static let sentinel = Array("qXz7#Jw9!vKp$Gy4&Rf2+Bh6=Zc8?Mu5".utf8)

  @Test func `row 66: a sealing key shows none of its bytes`() throws {
    let key = try SealingKey.of(Self.sentinel)

    #expect(revealed(in: shown(key)).isEmpty)
  }

  @Test func `a mirror of a sealing key hands out no bytes`() throws {
    let key = try SealingKey.of(Self.sentinel)

    for child in Mirror(reflecting: key).children {
      #expect(!(child.value is [UInt8]))
      #expect(revealed(in: shown(child.value)).isEmpty)
    }
  }

  @Test func `a sealer that is lending a value shows none of it`() throws {
    let sealer = try Sealer()
    let key = try SealingKey.of(Self.sentinel)
    let sealed = sealer.sealed(Self.sentinel, with: key) { $0.add(Self.sentinel) }

    var text: String?
    _ = try sealed.withUnsafeBytes { sealed in
      try sealer.withOpened(sealed, with: key, context: { $0.add(Self.sentinel) }) { _ in text = shown(sealer) }
    }

    #expect(revealed(in: try #require(text)).isEmpty)
  }

  @Test func `a wiped buffer shows none of its bytes`() {
    let buffer = WipedBuffer(count: 32)
    buffer.bytes.copyBytes(from: Self.sentinel)

    #expect(revealed(in: shown(buffer)).isEmpty)
  }

  @Test func `a random source shows nothing of its sequence`() {
    #expect(revealed(in: shown(RandomSource.fixed(Self.sentinel))).isEmpty)
  }

  @Test func `the search finds what is shown`() {
    // The control of the tests before.
    #expect(revealed(in: shown(Self.sentinel)) == ["decimal", "one number a line"])
    #expect(revealed(in: String(decoding: Self.sentinel, as: UTF8.self)) == ["text"])
    #expect(revealed(in: Self.sentinel.map { String($0, radix: 16) }.joined()).contains("hex"))
  }

  private func shown(_ value: Any) -> String {
    var text = "\(value) \(String(reflecting: value)) \(Mirror(reflecting: value).children.map { "\($0)" })"
    dump(value, to: &text)
    return text
  }

  /// The ways of writing in which four bytes in a row occur in `text`.
  private func revealed(in text: String) -> [String] {
    let parts = (0...28).map { Array(Self.sentinel[$0..<$0 + 4]) }
    let forms: [(name: String, write: ([UInt8]) -> String)] = [
      ("text", { String(decoding: $0, as: UTF8.self) }),
      ("hex", { $0.map { String($0, radix: 16) }.joined() }),
      ("upper-case hex", { $0.map { String($0, radix: 16, uppercase: true) }.joined() }),
      ("decimal", { $0.map { "\($0)" }.joined(separator: ", ") }),
      ("one number a line", { $0.map { "  - \($0)" }.joined(separator: "\n") }),
    ]
    return forms.filter { form in parts.contains { text.contains(form.write($0)) } }.map(\.name)
  }
}
