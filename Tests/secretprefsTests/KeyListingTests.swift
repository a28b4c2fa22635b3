import Testing

@testable import secretprefs

/// The patterns and the tree of `list`.
struct KeyListingTests {
  @Test(
    arguments: [
      ("*", ["", "a", "a.b", "é"], []), ("a", ["a"], ["", "A", "aa", "a."]), ("?", ["a", "é", ".", "*"], ["", "ab"]),
      ("db.*", ["db.", "db.a", "db.a.b"], ["db", "dbx", "xdb.a"]), ("*.key", [".key", "a.b.key"], ["key", "a.keys"]),
      ("a*b*c", ["abc", "aXbYc", "abbcc", "a.b.b.c"], ["ab", "ac", "abcd", "acb"]),
      ("**", ["", "a"], []), ("*?", ["a", "ab"], [""]), ("a?c*", ["abc", "a.cd"], ["ac", "abbc"]),
      (#"\*"#, ["*"], ["a", #"\*"#]), (#"a\?\\"#, [#"a?\"#], [#"ab\"#]), (#"\a"#, ["a"], [#"\a"#]),
      ("[a]", ["[a]"], ["a"]), ("{a,b}", ["{a,b}"], ["a"]), ("e\u{301}", ["\u{E9}"], ["e"]),
      ("*a*a*a*a*b", [String(repeating: "a", count: 1000) + "b"], [String(repeating: "a", count: 1000)]),
    ] as [(String, [String], [String])])
  func `a pattern matches whole keys`(_ pattern: String, _ matching: [String], _ others: [String]) throws {
    let pattern = try KeyPattern(pattern)
    for key in matching { #expect(pattern.matches(key), "\(key)") }
    for key in others { #expect(!pattern.matches(key), "\(key)") }
  }

  @Test(arguments: ["", #"a\"#, "a\n", String(repeating: "*", count: 1025)])
  func `a pattern that can match no key is refused`(_ pattern: String) {
    #expect(throws: (any Error).self) { try KeyPattern(pattern) }
  }

  @Test(
    arguments: [
      ([], ""), (["a"], "a\n"), (["a", "a.b", "a.c.d", "b.c.d"], "a\na.\n  b\n  c.\n    d\nb.\n  c.\n    d\n"),
      (["db", "db-x", "db.a"], "db\ndb-x\ndb.\n  a\n"), ([".", ".a", "..a"], "\\u{2E}\n.\n  a\n  .\n    a\n"),
      (["a.", "a..", "a.b"], "a\\u{2E}\na.\n  \\u{2E}\n  b\n"), (["a.\u{202E}b"], "a.\n  \\u{202E}b\n"),
      (["db.a/b", "db/a", "db/b.c", "db/b/"], "db.\n  a/\n    b\ndb/\n  a\n  b.\n    c\n  b\\u{2F}\n"),
      (["\u{E9}.a", "e\u{301}.a"], "\u{E9}.\n  a\ne\u{301}.\n  a\n"), ([".\u{301}"], ".\n  \u{301}\n"),
    ] as [([String], String)])
  func `a tree shows each branch once, and each key`(_ keys: [String], _ text: String) {
    #expect(KeyTree.text(of: keys) == text)
  }
}
