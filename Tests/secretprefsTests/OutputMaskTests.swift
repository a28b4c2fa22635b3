import Foundation
import Testing
import VaultSealing

@testable import secretprefs

struct OutputMaskTests {
  private static let value = "ghp_0123456789abcdef"

  private static func mask(_ values: String...) throws -> OutputMask {
    try OutputMask(try ValueSearchTests.search(values))
  }

  private static func add(_ text: some Sequence<UInt8>, to mask: OutputMask, _ output: GuardedBuffer) throws {
    try Array(text).withUnsafeBytes { text in Result { try mask.add(text, to: output) } }.get()
  }

  private static func text(_ output: GuardedBuffer) -> String {
    output.withUnsafeBytes { String(decoding: $0, as: UTF8.self) }
  }

  /// What is shown of a text that comes in parts of random lengths.
  static func shown(_ text: [UInt8], by search: ValueSearch, parts: ClosedRange<Int>) throws -> [UInt8] {
    let (mask, output) = (try OutputMask(search), try GuardedBuffer())
    var random = SeededRandom(UInt64(text.count))
    var rest = text[...]
    while !rest.isEmpty {
      let part = rest.prefix(Int.random(in: parts, using: &random))
      try add(part, to: mask, output)
      rest = rest.dropFirst(part.count)
    }
    try mask.end(to: output)
    return output.withUnsafeBytes { Array($0) }
  }

  /// What is shown of a text that comes in two parts, or byte by byte.
  private static func shown(_ text: String, split: Int?, _ mask: OutputMask) throws -> String {
    let output = try GuardedBuffer()
    if let split {
      try add(text.utf8.prefix(split), to: mask, output)
      try add(text.utf8.dropFirst(split), to: mask, output)
    } else {
      for byte in text.utf8 { try add([byte], to: mask, output) }
    }
    try mask.end(to: output)
    return Self.text(output)
  }

  @Test(arguments: [
    ("a ghp_0123456789abcdef b", "a ******************** b"),
    ("ghp_ghp_0123456789abcdefghp_012345678", "ghp_*********************************"),
    ("\u{1B}[31mghp_\u{1B}[0m0123\r\n456789abcdef\u{1B}[K.", "\u{1B}[31m****\u{1B}[0m****\r\n************\u{1B}[K."),
    ("6768705f30313233343536373839616263646566", "****************************************"),
    ("xZ2hwXzAxMjM0NTY3ODlhYmNkZWY=", "x**************************Y="),
    ("pässwörd!", "*********"), ("first line\nsecond one\n", "**********\n**********\n"),
    ("second  one", "***********"),
    // As "less" writes it where its screen ends.
    ("ghp_0123 \u{8}456789abcdef", "*********\u{8}************"),
    // Not the shortest value's length.
    ("ghp_ghp_012", "ghp_ghp_012"), ("ghp_ghp_0123", "ghp_********"), ("ghp_0123456\n", "***********\n"),
    ("ghp_0123456.", "ghp_0123456."), ("a 'ghp_'\\''", "a 'ghp_'\\''"),
    ("p%C3%A4ssw%C3%B6rd%21", "*********************"), (#""p\u00e4ssw\u00f6rd!""#, "\"*******************\""),
    // A terminal takes the first byte behind an unfinished sequence; a file has the whole value.
    ("\u{1B}ghp_0123456789abcdef", "\u{1B}********************"),
    ("\u{1B}[ghp_0123456789abcdef", "\u{1B}[********************"),
    // The bold text and its end as terminfo has them for xterm, and a link.
    ("ghp_\u{1B}[1m01234\u{1B}(B\u{1B}[m56789abcdef", "****\u{1B}[1m*****\u{1B}(B\u{1B}[m***********"),
    ("ghp_\u{1B}]8;;http://a\u{1B}\\0123456789abcdef", "****\u{1B}]8;;http://a\u{1B}\\****************"),
    ("ghp_\u{1B}]0;title\u{07}0123456789abcdef", "****\u{1B}]0;title\u{07}****************"),
    // A sequence over a line end, and a value after a link without an end.
    ("ghp_\u{1B}[3\n1m0123456789abcdef", "****\u{1B}[3\n1m****************"),
    ("\u{1B}]8;;http://a\nghp_\u{1B}[1m0123456789abcdef", "\u{1B}]8;;http://a\n****\u{1B}[1m****************"),
  ])
  func `a value is hidden however its bytes arrive, and nothing else`(_ text: String, _ expected: String) throws {
    for split in [nil] + (0...text.utf8.count).map(Optional.some) {
      let mask = try Self.mask(Self.value, "pässwörd!", "first line\nsecond one")
      #expect(try Self.shown(text, split: split, mask) == expected)
    }
  }

  @Test func `what is not compared counts at the end, where a value begins`() throws {
    for value in ["a    b    c    d    e    f    g    h", "a b c d e f g h i j k l m n o", #"abc"def\ghi jkl-mno"#] {
      for count in 8..<value.utf8.count {
        let text = String(value.prefix(count))
        guard let last = text.lastIndex(where: \.isLetter), text[...last].utf8.count >= 8 else { continue }
        let hidden = try Self.shown(text, split: nil, try Self.mask(value))
        // What is not compared behind the last letter may be of anything.
        #expect(!hidden.contains { $0.isLetter } && hidden.hasPrefix("********"), "\(text) \(hidden)")
      }
    }
  }

  @Test func `a value that has the bytes of escape sequences is hidden`() throws {
    for value in ["ABCDEFGH\u{1B}IJKLMNOPQRSTUV", "tok\u{1B}[31mSECRETVALUE", "\u{1B}]abcdefgh", "abcdefgh\u{1B}"] {
      for split in [nil] + (0...value.utf8.count).map(Optional.some) {
        let stars = String(repeating: "*", count: value.utf8.count)
        #expect(try Self.shown(value, split: split, try Self.mask(value)) == stars)
      }
    }
  }

  @Test func `random bytes are hidden whatever they are`() throws {
    var random = SeededRandom(8)
    for _ in 0..<200 {
      let value = (0..<64).map { _ in UInt8.random(in: 0x20...0xFF, using: &random) }
      // Many escapes, and nothing that is ignored at the ends.
      let bytes = [0x41] + value.map { $0 < 0x30 ? 0x1B : $0 } + [0x41]
      let output = try Self.shown(bytes, by: try ValueSearchTests.search([bytes]), parts: 1...1)
      #expect(output.allSatisfy { $0 == UInt8(ascii: "*") }, "\(bytes)")
    }
  }

  @Test func `in a random stream exactly the values are hidden`() throws {
    var random = SeededRandom(9)
    let (values, mask) = (["abababab", "babbababb"], try Self.mask("abababab", "babbababb"))
    let text = (0..<20_000).map { _ in "aaabbbbc".randomElement(using: &random)! }
    var isHidden = [Bool](repeating: false, count: text.count)
    for value in values.map(Array.init) {
      for start in 0...text.count - value.count where text[start..<start + value.count].elementsEqual(value) {
        for index in start..<start + value.count { isHidden[index] = true }
      }
    }
    let output = try GuardedBuffer()
    var rest = (text.map { $0.asciiValue! } + [0x63])[...]
    while !rest.isEmpty {
      let count = min(Int.random(in: 1...9, using: &random), rest.count)
      try Self.add(rest.prefix(count), to: mask, output)
      rest = rest.dropFirst(count)
    }
    try mask.end(to: output)
    #expect(Self.text(output).dropLast() == String(zip(text, isHidden).map { $1 ? "*" : $0 }))
  }

  @Test func `the end of a prompt appears after a pause, and a value that goes on after it is hidden`() throws {
    let mask = try Self.mask(Self.value)
    let output = try GuardedBuffer()
    try Self.add("Name: gh".utf8, to: mask, output)
    #expect(Self.text(output) == "Name: ")
    #expect(mask.isWaiting)
    try mask.pause(to: output)
    #expect(Self.text(output) == "Name: gh")
    #expect(!mask.isWaiting)
    for byte in Self.value.utf8.dropFirst(2) {
      try Self.add([byte], to: mask, output)
      try mask.pause(to: output)
    }
    // One more byte than the pause above: up to three are shown.
    #expect(Self.text(output) == "Name: ghp*****************")
  }

  @Test func `four bytes of a value wait for the next output`() throws {
    let mask = try Self.mask(Self.value)
    let output = try GuardedBuffer()
    try Self.add("ghp_\r\n".utf8, to: mask, output)
    try mask.pause(to: output)
    #expect(output.count == 0)
    try Self.add(">".utf8, to: mask, output)
    #expect(Self.text(output) == "ghp_\r\n>")
  }

  @Test func `endless line ends inside of a value are not collected, and the value is hidden nevertheless`() throws {
    let mask = try Self.mask(Self.value)
    let output = try GuardedBuffer()
    try Self.add(Self.value.utf8.prefix(10), to: mask, output)
    for _ in 0..<20 { try Self.add([UInt8](repeating: 0x0A, count: OutputMask.blockSize), to: mask, output) }
    #expect(output.count > 10 * OutputMask.blockSize)
    try Self.add(Self.value.utf8.dropFirst(10), to: mask, output)
    try mask.end(to: output)
    #expect(Self.text(output).replacing("\n", with: "") == String(repeating: "*", count: 20))
  }

  @Test func `a periodic value of 100 kB is hidden as a whole`() throws {
    let value = String(repeating: "abcdefghij", count: 10_000)
    let shown = try Self.shown(Array("x\(value)y\n".utf8), by: try ValueSearchTests.search([value]), parts: 1...9999)
    #expect(shown == Array("x\(String(repeating: "*", count: value.count))y\n".utf8))
  }

  @Test func `without a value that is long enough everything passes`() throws {
    #expect(try Self.shown("abc\n", split: 1, try Self.mask("abc")) == "abc\n")
  }
}
