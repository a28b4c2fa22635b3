import Testing

@testable import secretprefs

/// `Docs/Decisions/0022`.
struct PassphraseRuleTests {
  @Test(arguments: [
    "", "hunter2", "fourteen chars", "ääääääääääääöü", "aaaaaaaaaaaaaaaaaaaa", "abcdabcdabcdabcd", "passwordpassword",
    "hunter2hunter2hunter2", "abcdefghijklmnopqrstuvwxyz", "ZYXWVUTSRQPONMLKJIHG", "12345678901234567890",
    "98765432109876543", "qwertyuiopasdfghjklzxcvbnm", "password1234567890", "aaaabbbbccccddddeeee",
    "abab bab abab aba",
  ])
  func `a passphrase that is short or a pattern is weak`(_ passphrase: String) {
    #expect(weakness(Array(passphrase.utf8)) != nil)
  }

  @Test(arguments: [
    "correct horse battery staple", "fast past of the master", "9f86d081884c7d659a2feaa0c55ad015", "830174926530174",
    "ÄÖÜäöüßéèêàâôûù", "another horse in another stable",
  ])
  func `another is not`(_ passphrase: String) { #expect(weakness(Array(passphrase.utf8)) == nil) }

  @Test func `what is no text counts by its bytes`() {
    #expect(weakness((0..<15).map { 0x80 + $0 * 7 % 64 }) == nil)
    #expect(weakness((0..<14).map { 0x80 + $0 * 7 % 64 }) != nil)
  }

  @Test func `the longest passphrases are judged`() {
    #expect(weakness([UInt8](repeating: 0x61, count: 4095) + [0x62]) != nil)
    #expect(weakness((0..<4096).map { UInt8(truncatingIfNeeded: $0 &* $0 / 7) }) == nil)
  }

  private func weakness(_ passphrase: [UInt8]) -> String? {
    passphrase.withUnsafeBytes { PassphraseRule.weakness(of: $0) }
  }
}
