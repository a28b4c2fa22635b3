import Preferences
import Secrets
import SecretsTesting
import Testing

/// Random passwords that a program makes and stores.
struct PasswordTests {
  private static func text(_ rule: PasswordRule) throws -> String { try rule.secret().withValue { $0 } }

  @Test(arguments: [["0123456789"], ["abc", "XY", "7"], [PasswordRule.lowercase, PasswordRule.symbols]])
  func `item 123: a password has the length, the alphabet and each kind of character`(_ kinds: [String]) throws {
    for length in [8, 40, 1024] {
      let text = try Self.text(try PasswordRule(length: length, kinds: kinds))
      #expect(text.utf8.count == length)
      #expect(text.allSatisfy(kinds.joined().contains))
      for kind in kinds { #expect(text.contains(where: kind.contains), "\(kind)") }
    }
  }

  @Test func `item 123: a password is stored without a copy in ordinary memory, and the next one is different`() throws
  {
    let secrets = try ThrowawayVault().preferences()
    let key = PreferenceKey<Secret<String>?>("database")
    let rule = try PasswordRule()
    try secrets.set(rule.secret(), for: key)
    let first = try secrets.required(key).withValue { $0 }
    #expect(first.utf8.count == 24)
    try secrets.set(rule.secret(), for: key)
    #expect(try secrets.required(key).withValue { $0 } != first)
    #expect("\(try rule.secret())" == "<redacted>")
  }

  @Test func `all texts with each kind count for the strength`() throws {
    // Three digits of which at least one is 0 and one is not: 1000 − 729 − 1.
    let rule = try PasswordRule(length: 3, kinds: ["0", "123456789"])
    #expect(abs(rule.bits - 8.0768) < 0.0001)
  }

  @Test(
    arguments: [
      (0, ["abc"]), (-1, ["abc"]), (1025, ["abc"]), (8, []), (8, [""]), (8, ["abc", ""]), (8, ["abc", "cd"]),
      (8, ["aa"]),
      (8, ["a b"]), (8, ["é"]), (8, ["a\n"]), (1, ["ab", "12"]),
      (3, ["a", "b", "c", "defghijklmnopqrstuvwxyz0123456789"]),
      (100, (0..<9).map { "\($0)" }), (8, ["a", "b", "c", "d", "e", "f", PasswordRule.uppercase]),
    ] as [(Int, [String])])
  func `item 123: a rule without a password, or with hardly one, is refused`(_ length: Int, _ kinds: [String]) {
    let error = #expect(throws: PreferencesError.self) { try PasswordRule(length: length, kinds: kinds) }
    #expect(error?.code == .outOfRange)
  }
}
