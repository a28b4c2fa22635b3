import DurableFiles
import Secrets
import Synchronization
import Testing
import VaultSealing

@testable import secretprefs

/// Generated passwords: their characters, their strength, and that none is more probable than another.
struct PasswordRuleTests {
  private static func rule(
    _ length: Int, noUppercase: Bool = false, noDigits: Bool = false, noSymbols: Bool = false, noSimilar: Bool = false
  ) throws -> PasswordRule {
    try PasswordRule(
      length: length, noUppercase: noUppercase, noDigits: noDigits, noSymbols: noSymbols, noSimilar: noSimilar)
  }

  private static func text(_ rule: PasswordRule, from random: RandomSource = .system) throws -> String {
    try rule.password(from: random).withUnsafeBytes { String(decoding: $0, as: UTF8.self) }
  }

  @Test(arguments: [8, 24, 1024], 0..<16)
  func `a password has the length, at least one character of each kind, and no others`(
    _ length: Int, _ choice: Int
  ) throws {
    let rule = try Self.rule(
      length, noUppercase: choice & 1 != 0, noDigits: choice & 2 != 0, noSymbols: choice & 4 != 0,
      noSimilar: choice & 8 != 0)
    let expected = [
      "abcdefghijklmnopqrstuvwxyz", choice & 1 != 0 ? "" : "ABCDEFGHIJKLMNOPQRSTUVWXYZ",
      choice & 2 != 0 ? "" : "0123456789", choice & 4 != 0 ? "" : "*+,-./:=?@^_~",
    ].map { $0.filter { choice & 8 == 0 || !"0O1Ilo".contains($0) } }.filter { !$0.isEmpty }
    for _ in 0..<20 {
      let text = try Self.text(rule)
      #expect(text.count == length)
      #expect(text.allSatisfy(expected.joined().contains))
      for kind in expected { #expect(text.contains(where: kind.contains)) }
    }
  }

  @Test func `all characters are equally probable`() throws {
    // Every byte once in each 256: with a remainder instead of a rejection, some characters would occur 4 times.
    let next = Atomic<Int>(0)
    let bytes = RandomSource { buffer in
      for index in buffer.indices {
        buffer[index] = UInt8(truncatingIfNeeded: next.wrappingAdd(1, ordering: .relaxed).oldValue)
      }
    }
    let text = try Self.text(try Self.rule(225), from: bytes)
    let counts = Dictionary(grouping: text, by: \.self).mapValues(\.count)
    #expect(counts.count == 75)
    #expect(counts.values.allSatisfy { $0 == 3 })
  }

  @Test func `a password without one of the kinds is drawn again`() throws {
    // First only the letter a, then other bytes.
    let draws = Atomic<Int>(0)
    let bytes = RandomSource { buffer in
      let draw = draws.wrappingAdd(1, ordering: .relaxed).oldValue
      for index in buffer.indices { buffer[index] = draw == 0 ? 0 : UInt8(index * 7 % 225) }
    }
    let text = try Self.text(try Self.rule(32), from: bytes)
    #expect(text != String(repeating: "a", count: 32))
    #expect(draws.load(ordering: .relaxed) == 2)
  }

  @Test func `the strength is the logarithm of the number of passwords`() throws {
    let letters = try Self.rule(8, noUppercase: true, noDigits: true, noSymbols: true)
    #expect(abs(letters.bits - 8 * log2(26)) < 1e-9)
    // Letters and digits, at least one of each: 36^8 − 26^8 − 10^8.
    let digits = try Self.rule(8, noUppercase: true, noSymbols: true)
    #expect(abs(digits.bits - log2(2_821_109_907_456 - 208_827_064_576 - 100_000_000)) < 1e-9)
    #expect(try Self.rule(24).bits.rounded(.down) == 149)
  }

  @Test func `two passwords differ`() throws {
    let rule = try Self.rule(24)
    #expect(try Self.text(rule) != Self.text(rule))
  }

  @Test(arguments: [Int.min, -1, 0, 7, 1025, Int.max])
  func `another length is refused`(_ length: Int) { #expect(throws: ToolError.self) { try Self.rule(length) } }
}
