import Foundation
import Secrets
import Testing
import VaultMemorySearching
import VaultSealing

@testable import secretprefs

/// Generated passphrases: their words, their strength, and that none is more probable than another.
struct WordRuleTests {
  private static let words = "\(WordList.text)".split { $0 == " " || $0 == "\n" }.map(String.init)

  private static func text(_ rule: WordRule, from random: RandomSource = .system) throws -> String {
    try rule.password(from: random).withUnsafeBytes { String(decoding: $0, as: UTF8.self) }
  }

  @Test func `the list has 7776 different words of letters and hyphens, in order`() {
    #expect(Set(Self.words).count == 7776)
    #expect(Self.words == Self.words.sorted())
    #expect(Self.words.first == "abacus")
    #expect(Self.words.last == "zoom")
    #expect(Self.words.allSatisfy { $0.wholeMatch(of: /[a-z]+(-[a-z]+)?/) != nil })
    #expect(Self.words.map(\.utf8.count).max() == WordList.longestWord)
  }

  @Test(arguments: [0, 1, 2, 15, 16, 100, 3888, 7774, 7775]) func `a word is found by its number`(_ index: Int) {
    #expect(WordList.withWord(index) { String(decoding: $0, as: UTF8.self) } == Self.words[index])
  }

  @Test func `no word is the beginning of another, so that words are told apart without a separator`() {
    // In this order, a word that is one would be right in front of one that begins with it.
    for (word, next) in zip(Self.words, Self.words.dropFirst()) { #expect(!next.hasPrefix(word)) }
  }

  @Test(arguments: [3, 6, 20], ["-", "", " ", "·", "0123456789abcdef"])
  func `a passphrase has the number of words, and the separator between them`(
    _ count: Int, _ separator: String
  ) throws {
    let text = try Self.text(try WordRule(count: count, separator: separator))
    var rest = text[...]
    for index in 0..<count {
      if index > 0 {
        #expect(rest.hasPrefix(separator))
        rest = rest.dropFirst(separator.count)
      }
      let word = try #require(Self.words.first(where: rest.hasPrefix))
      rest = rest.dropFirst(word.count)
    }
    #expect(rest.isEmpty)
  }

  @Test func `each word is drawn for equally many numbers`() throws {
    // The numbers from 0 to 65,535 in order, in two bytes each.
    let all = try SecretBytes(
      count: 131_072,
      from: RandomSource { buffer in
        for index in 0..<65_536 {
          buffer.storeBytes(of: UInt16(index).bigEndian, toByteOffset: 2 * index, as: UInt16.self)
        }
      })
    let given = Given(all)
    var numbers = try RandomNumbers(RandomSource(given.fill))
    var counts = [Int](repeating: 0, count: WordList.count)
    for _ in 0..<8 * WordList.count { counts[numbers.next(below: WordList.count)] += 1 }
    #expect(counts.allSatisfy { $0 == 8 })
  }

  @Test(arguments: [(3, 38), (6, 77), (10, 129), (100, 1292)]) func `the strength is that of the draws`(
    _ count: Int, _ bits: Int
  ) throws {
    #expect(Int(try WordRule(count: count, separator: "").bits) == bits)
  }

  @Test func `two passphrases differ`() throws {
    let rule = try WordRule(count: 6, separator: "-")
    #expect(try Self.text(rule) != Self.text(rule))
  }

  @Test(arguments: [Int.min, 0, 2, 101, Int.max]) func `another number of words is refused`(_ count: Int) {
    #expect(throws: ToolError.self) { try WordRule(count: count, separator: "-") }
  }

  @Test(arguments: ["\n", "\u{1B}", "\u{202E}", "12345678901234567"]) func `another separator is refused`(
    _ text: String
  ) {
    #expect(throws: ToolError.self) { try WordRule(count: 6, separator: text) }
  }

  @Test func `a generated passphrase is in guarded memory alone`() throws {
    let search = MemorySearch()
    let password = Kept(try WordRule(count: 20, separator: "").password(from: .system))
    try search.note { search in password.bytes.withUnsafeBytes { search.add("passphrase", $0) } }
    // Single words of eight letters are in the list. Fifteen bytes are found wherever they are.
    let finds = try search.finds().filter { $0.count > 9 }
    withExtendedLifetime(password) {}
    #expect(!finds.isEmpty)
    for find in finds { #expect(Mapping.flags(at: find.address).contains("dd"), "\(find)") }
  }
}

/// Gives bytes one after the other.
private final class Given: @unchecked Sendable {
  // Unchecked: used by one thread.
  private let bytes: SecretBytes
  private var used = 0

  init(_ bytes: consuming SecretBytes) { self.bytes = bytes }

  @Sendable func fill(_ buffer: UnsafeMutableRawBufferPointer) {
    bytes.withUnsafeBytes { bytes in
      for index in buffer.indices {
        buffer[index] = bytes[used % bytes.count]
        used += 1
      }
    }
  }
}
