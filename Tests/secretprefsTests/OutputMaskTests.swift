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
  ])
  func `a value is hidden however its bytes arrive, and nothing else`(_ text: String, _ expected: String) throws {
    for split in [nil] + (0...text.utf8.count).map(Optional.some) {
      let mask = try Self.mask(Self.value, "pässwörd!", "first line\nsecond")
      #expect(Self.shown(text, split: split, mask) == expected)
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
