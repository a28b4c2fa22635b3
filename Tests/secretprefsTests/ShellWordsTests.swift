import Foundation
import Testing

@testable import secretprefs

struct ShellWordsTests {
  /// What a shell makes of the text; `nil` if that has no end.
  private static func shell(_ text: String, in home: Scratch) throws -> [String]? {
    let outcome = try Running(
      ["/bin/sh", "-c", "eval \"printf '%s\\\\0' x $TEXT\""], in: home, input: "/dev/null", environment: ["TEXT": text]
    ).wait()
    guard outcome.exit == 0 else { return nil }
    return outcome.text.split(separator: "\0", omittingEmptySubsequences: false).dropFirst().dropLast().map(String.init)
  }

  @Test func `a command has the words that a shell reads`() throws {
    let home = try Scratch()
    var random = SeededRandom(13)
    var compared = 0
    for _ in 0..<300 {
      let letters = Int.random(in: 1...9, using: &random)
      let text = String((0..<letters).map { _ in "ab =/-'\"\\\t".randomElement(using: &random)! })
      let expected = try Self.shell(text, in: home)
      do {
        let words = try ShellWords.split(text, of: "it")
        guard words.first != "env" else { continue }
        #expect(words == expected, "\(text)")
        compared += 1
      } catch { #expect(expected == nil, "\(text)") }
    }
    #expect(compared > 50)
  }

  @Test(arguments: [
    ("vim -c 'set x'", ["vim", "-c", "set x"]), ("\"/a b/vim\" \"\\$x\"", ["/a b/vim", "$x"]),
    ("  a\t\\  ''", ["a", " ", ""]),
    ("TERM=x B= vim", ["env", "TERM=x", "B=", "vim"]), ("2=x vim", ["2=x", "vim"]), ("", []),
  ])
  func `quotes and variables are read`(_ text: String, _ words: [String]) throws {
    #expect(try ShellWords.split(text, of: "it") == words)
  }

  @Test(arguments: [
    "a|b", "a;b", "$x", "\"$x\"", "`a`", "\"`a`\"", "a>b", "a&", "(a)", "*", "a?", "[a]", "~x/y", "#a", "a\nb",
  ])
  func `what only a shell can do is refused`(_ text: String) {
    let error = #expect(throws: ToolError.self) { try ShellWords.split(text, of: "the variable EDITOR") }
    #expect(error?.status == .usage)
    #expect(error?.message.hasPrefix("the variable EDITOR contains ") == true)
  }

  @Test(arguments: ["'", "\"", "\"a\\", "'a\""])
  func `what has no end is refused`(_ text: String) {
    #expect(throws: ToolError.self) { try ShellWords.split(text, of: "it") }
  }
}
