import Foundation
import Testing

@testable import secretprefs

struct OutputMaskTests {
  private static let value = "ghp_0123456789abcdef"

  private static func mask(_ values: String...) throws -> OutputMask {
    let patterns = try ValuePatterns(minimum: OutputMask.minimum, takesAllLines: true)
    for (number, value) in values.enumerated() {
      _ = try Array(value.utf8).withUnsafeBytes { value in Result { try patterns.add(value, as: number) } }.get()
    }
    return try OutputMask(try ValueSearch(patterns))
  }

  private static func add(_ text: some Sequence<UInt8>, to mask: OutputMask, _ output: inout [UInt8]) {
    Array(text).withUnsafeBytes { mask.add($0, to: &output) }
  }

  /// What is shown of a text that comes in two parts, or byte by byte.
  private static func shown(_ text: String, split: Int?, _ mask: OutputMask) -> String {
    var output: [UInt8] = []
    if let split {
      add(text.utf8.prefix(split), to: mask, &output)
      add(text.utf8.dropFirst(split), to: mask, &output)
    } else {
      for byte in text.utf8 { add([byte], to: mask, &output) }
    }
    mask.end(to: &output)
    return String(decoding: output, as: UTF8.self)
  }

  @Test(arguments: [
    ("a ghp_0123456789abcdef b", "a ******************** b"),
    ("ghp_ghp_0123456789abcdefghp_012345678", "ghp_********************ghp_012345678"),
    ("\u{1B}[31mghp_\u{1B}[0m0123\r\n456789abcdef\u{1B}[K.", "\u{1B}[31m****\u{1B}[0m****\r\n************\u{1B}[K."),
    ("6768705f30313233343536373839616263646566", "****************************************"),
    ("xZ2hwXzAxMjM0NTY3ODlhYmNkZWY=", "x**************************Y="),
    ("pässwörd!", "*********"), ("first line\nsecond\n", "**********\n******\n"), ("second", "******"),
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
      let mask = try Self.mask(Self.value, "pässwörd!", "first line\nsecond")
      #expect(Self.shown(text, split: split, mask) == expected)
    }
  }

  @Test func `a value that has the bytes of escape sequences is hidden`() throws {
    for value in ["ABCDEFGH\u{1B}IJKLMNOPQRSTUV", "tok\u{1B}[31mSECRETVALUE", "\u{1B}]abcdefgh", "abcdefgh\u{1B}"] {
      for split in [nil] + (0...value.utf8.count).map(Optional.some) {
        let stars = String(repeating: "*", count: value.utf8.count)
        #expect(Self.shown(value, split: split, try Self.mask(value)) == stars)
      }
    }
  }

  @Test func `random bytes are hidden whatever they are`() throws {
    var random = SystemRandomNumberGenerator()
    for _ in 0..<200 {
      let value = (0..<64).map { _ in UInt8.random(in: 0x20...0xFF, using: &random) }
      // Many escapes, and no line ends.
      let bytes = value.map { $0 < 0x30 ? 0x1B : $0 }
      let patterns = try ValuePatterns(minimum: OutputMask.minimum, takesAllLines: true)
      _ = try bytes.withUnsafeBytes { bytes in Result { try patterns.add(bytes, as: 0) } }.get()
      let mask = try OutputMask(try ValueSearch(patterns))
      var output: [UInt8] = []
      for byte in bytes { Self.add([byte], to: mask, &output) }
      mask.end(to: &output)
      #expect(output.allSatisfy { $0 == UInt8(ascii: "*") }, "\(bytes)")
    }
  }

  @Test func `in a random stream exactly the values are hidden`() throws {
    var random = SystemRandomNumberGenerator()
    let (values, mask) = (["abab", "babba"], try Self.mask("abab", "babba"))
    let text = (0..<20_000).map { _ in "abc".randomElement(using: &random)! }
    var isHidden = [Bool](repeating: false, count: text.count)
    for value in values.map(Array.init) {
      for start in 0...text.count - value.count where text[start..<start + value.count].elementsEqual(value) {
        for index in start..<start + value.count { isHidden[index] = true }
      }
    }
    var (output, rest) = ([UInt8](), text.map { $0.asciiValue! }[...])
    while !rest.isEmpty {
      let count = min(Int.random(in: 1...9, using: &random), rest.count)
      Self.add(rest.prefix(count), to: mask, &output)
      rest = rest.dropFirst(count)
    }
    mask.end(to: &output)
    #expect(String(decoding: output, as: UTF8.self) == String(zip(text, isHidden).map { $1 ? "*" : $0 }))
  }

  @Test func `the end of a prompt appears after a pause, and a value that goes on after it is hidden`() throws {
    let mask = try Self.mask(Self.value)
    var output: [UInt8] = []
    Self.add("Name: gh".utf8, to: mask, &output)
    #expect(output == Array("Name: ".utf8))
    #expect(mask.isWaiting)
    mask.pause(to: &output)
    #expect(output == Array("Name: gh".utf8))
    #expect(!mask.isWaiting)
    for byte in Self.value.utf8.dropFirst(2) {
      Self.add([byte], to: mask, &output)
      mask.pause(to: &output)
    }
    // One more byte than the pause above: up to three are shown.
    #expect(String(decoding: output, as: UTF8.self) == "Name: ghp*****************")
  }

  @Test func `four bytes of a value wait for the next output`() throws {
    let mask = try Self.mask(Self.value)
    var output: [UInt8] = []
    Self.add("ghp_\r\n".utf8, to: mask, &output)
    mask.pause(to: &output)
    #expect(output.isEmpty)
    Self.add(">".utf8, to: mask, &output)
    #expect(output == Array("ghp_\r\n>".utf8))
  }

  @Test func `endless line ends inside of a value are not collected`() throws {
    let mask = try Self.mask(Self.value)
    var output: [UInt8] = []
    Self.add(Self.value.utf8.prefix(10), to: mask, &output)
    for _ in 0..<100 { Self.add([UInt8](repeating: 0x0A, count: OutputMask.blockSize), to: mask, &output) }
    #expect(output.count > 50 * OutputMask.blockSize)
  }

  @Test func `without a value that is long enough everything passes`() throws {
    #expect(Self.shown("abc\n", split: 1, try Self.mask("abc")) == "abc\n")
  }
}
