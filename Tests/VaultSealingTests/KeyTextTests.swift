import Testing
import VaultSealing

struct KeyTextTests {
  private static let digits = "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f"

  @Test func `written key text reads as the same key`() throws {
    let key = try SealingKey(from: .system)
    let text = try KeyText.write(key)

    let read = try text.withSpan { text throws(VaultError) in try KeyText.parse(text) }

    #expect(text.count == 74)
    #expect(read.copy == key.copy)
  }

  @Test(arguments: ["", "\n"]) func `key text reads with one line feed or none`(_ end: String) throws {
    let key = try KeyText.parse(Array("spv-key-1:\(Self.digits)\(end)".utf8).span.bytes)

    #expect(key.copy == run(32))
  }

  @Test func `every byte value is written and read`() throws {
    for first in stride(from: 0, to: 256, by: 32) {
      let key = try SealingKey.of(Array(UInt8(first)...UInt8(first + 31)))
      let text = try KeyText.write(key)

      #expect(Array(text.copy.dropFirst(10)) == Array(lowerCaseHex(key.copy).utf8))
      #expect(try KeyText.parse(text.copy.span.bytes).copy == key.copy)
    }
  }

  @Test(arguments: BadKeyText.table) func `any other text is refused`(_ row: BadKeyText) {
    #expect(refusal { try KeyText.parse(row.bytes.span.bytes) } == .invalidKeyText)
  }

  @Test(arguments: [10, 11, 72, 73]) func `only lower-case hex digits are digits`(_ place: Int) {
    let accepted = (UInt8.min...UInt8.max).filter { byte in
      var text = Array("spv-key-1:\(Self.digits)".utf8)
      text[place] = byte
      return refusal { try KeyText.parse(text.span.bytes) } == nil
    }

    #expect(accepted == Array("0123456789abcdef".utf8))
  }

  @Test func `every changed character of the prefix is refused`() {
    for place in 0..<10 {
      var text = Array("spv-key-1:\(Self.digits)".utf8)
      text[place] ^= 0x20
      #expect(refusal { try KeyText.parse(text.span.bytes) } == .invalidKeyText)
    }
  }

  @Test(arguments: ["X", "\r\n", "0", " "]) func `a refusal repeats nothing of the text`(_ end: String) throws {
    let secret = "5e471e15ec2e7b0d1e55ca11ab1ec0de5e471e15ec2e7b0d1e55ca11ab1ec0de"
    var shown = ""

    do {
      _ = try KeyText.parse(Array("spv-key-1:\(secret)\(end)".utf8).span.bytes)
      Issue.record("the text was accepted")
    } catch {
      shown = "\(error) \(error.message)"
      dump(error, to: &shown)
    }

    let parts = (0...60).map { secret.dropFirst($0).prefix(4) }
    #expect(!shown.isEmpty)
    #expect(parts.allSatisfy { !shown.contains($0) })
  }
}

/// Texts that are not a key.
struct BadKeyText: Row {
  let id: String
  let bytes: [UInt8]

  init(_ id: String, _ text: String) {
    self.init(id, Array(text.utf8))
  }

  init(_ id: String, _ bytes: [UInt8]) {
    self.id = id
    self.bytes = bytes
  }

  private static let digits = "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f"
  private static let good = "spv-key-1:" + digits

  static let table = [
    BadKeyText("empty", ""),
    BadKeyText("a line feed", "\n"),
    BadKeyText("the prefix alone", "spv-key-1:"),
    BadKeyText("the digits alone", digits),
    BadKeyText("CRLF", good + "\r\n"),
    BadKeyText("CR", good + "\r"),
    BadKeyText("LF CR", good + "\n\r"),
    BadKeyText("two line feeds", good + "\n\n"),
    BadKeyText("two lines", good + "\n" + good),
    BadKeyText("upper-case digits", "spv-key-1:" + digits.uppercased()),
    BadKeyText("one upper-case digit", "spv-key-1:" + digits.dropLast() + "F"),
    BadKeyText("63 digits", String(good.dropLast())),
    BadKeyText("63 digits and a line feed", good.dropLast() + "\n"),
    BadKeyText("65 digits", good + "0"),
    BadKeyText("66 digits", good + "00"),
    BadKeyText("a leading space", " " + good),
    BadKeyText("a trailing space", good + " "),
    BadKeyText("a leading line feed", "\n" + good),
    BadKeyText("a space behind the prefix", "spv-key-1: " + digits),
    BadKeyText("a byte order mark", "\u{FEFF}" + good),
    BadKeyText("a NUL behind", good + "\0"),
    BadKeyText("raw bytes", run(32)),
    BadKeyText("32 raw bytes behind the prefix", Array("spv-key-1:".utf8) + run(32)),
    BadKeyText("another version", "spv-key-2:" + digits),
    BadKeyText("another prefix", "xpv-key-1:" + digits),
    BadKeyText("an upper-case prefix", "SPV-KEY-1:" + digits),
    BadKeyText("a sign among the digits", "spv-key-1:+" + digits.dropFirst()),
    BadKeyText("digits of another script", "spv-key-1:" + digits.dropLast(2) + "\u{0661}"),
  ]
}

private func lowerCaseHex(_ bytes: [UInt8]) -> String {
  bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
}
