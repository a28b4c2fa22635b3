import Foundation
import Testing

/// Dotenv files: what an import reads, and what node, python-dotenv and bash read.
struct DotenvImportTests {
  /// Assignments to A.
  static let lines: [String] = [
    "x y", "x#y", "x #y", "'x#y'", "\"x#y\"", "a\\b", "a\\nb", "\"a\\nb\"", "\"a\\tb\"", "\"a\\rb\"", "\"a\\\"b\"",
    "\"a\\\\b\"", "\"a\\$b\"", "\"\\`\"", "\"a\\'b\"", "\"\\a\"", "\"\\u00e9\"", "'a\\nb'", "'a\\\\b'", "`x y`",
    "`x\ny`",
    "'it'\\''s'", "\"it\"'s'", "'a'b", "a'b'", "a\"b\"", "a'b", "x\\", "$X", "${X}", "\"$X\"", "'$X'", "'${X}'",
    "\"${X}\"",
    "a$", "a$1", "$(x)", "\"a\nb\"", "'a\nb'", "a=b", " x", "\"x\" # c", "", "\"\"", "#x", " #x", "x\t#y", "*", "~",
    "~/a",
    "a:~", "a;b", "a&b", "(a)", "a>b", "<x", "a|b", "\"a`b`\"", "a`b`", "!x", "\"a!b\"", "{a,b}", "a\\ b", "é", "[x]",
    "?",
    "\"x\"y", "%20", "'a\"b'", "a\\\\b", "a\"b", "x'", "x\\#y", "x \\# y", "\"a#b\" #c\"", "'''x'''", "\"\"\"x\"\"\"",
    "$'a'", "\"a\\\nb\"", "-x", "x y #z", "\"$\"", "a$-b",
    "'x';", "\"x\";", "'x' ;", "'x'; # c", "'x';y", "'x'&", "'x')", "'x'>f", "'a'|b", "'x';;", "x;",
  ]

  /// What each program reads as A, in the order of ``lines``; `nil` if it reads none.
  private func read(_ program: String, in scene: ExchangeScene) throws -> [String?] {
    let outcome = try scene.shell(program)
    try #require(outcome.exit == 0, "\(outcome.errorText)")
    return try JSONDecoder().decode([String?].self, from: Data(outcome.text.utf8))
  }

  private static let node = """
    node -e '
    const { parseEnv } = require("util"), lines = JSON.parse(require("fs").readFileSync("lines"))
    const own = line => { const all = parseEnv(line); return Object.hasOwn(all, "A") ? all.A : null }
    console.log(JSON.stringify(lines.map(own)))'
    """
  private static let python = """
    python3 -c '
    import json, logging, dotenv
    logging.disable(logging.CRITICAL)
    def own(line):
        open("one", "w", newline="").write(line)
        return dotenv.dotenv_values("one").get("A")
    print(json.dumps([own(line) for line in json.load(open("lines"))]))'
    """
  private static let bash = """
    python3 -c '
    import json, subprocess
    def own(line):
        open("one", "w", newline="").write(line)
        shell = ["bash", "--norc", "--noprofile", "-c", ". ./one 2>/dev/null; printf \\"${A+set}%s\\" \\"$A\\""]
        text = subprocess.run(shell, env={"PATH": "/nonexistent"}, executable="/bin/bash", capture_output=True).stdout.decode()
        return text[3:] if text.startswith("set") else None
    print(json.dumps([own(line) for line in json.load(open("lines"))]))'
    """

  static func has(_ words: String) -> Bool { (try? Tool.shell(words, in: Scratch()).exit) == 0 }
  static let hasReaders = has(
    "node -e 'require(\"util\").parseEnv.name' && bash --version && python3 -c 'import dotenv'")

  @Test(.enabled(if: DotenvImportTests.hasReaders))
  func `a value that node, python-dotenv or bash reads differently has a note`() throws {
    let scene = try ExchangeScene()
    let texts = Self.lines.map { "A=\($0)\n" }
    try scene.write(Array(try JSONEncoder().encode(texts)), to: "lines")
    let readings = try [Self.node, Self.python, Self.bash].map { try read($0, in: scene) }
    for (index, text) in texts.enumerated() {
      try scene.home.write(text, to: ".env")
      let outcome = try scene.shell("secretprefs import .env --service s\(index)")
      guard outcome.exit == 0 else {
        #expect(outcome.exit == 65, "\(text): \(outcome.errorText)")
        continue
      }
      let own = try scene.texts(service: "s\(index)")["A"]
      let isNoted = outcome.text.contains("\nnote: line 1, A: ")
      for reading in readings {
        guard let other = reading[index] else { continue }
        #expect(other == own || isNoted, "\(text): \(other), and here \(own ?? "")")
      }
    }
    // A note is no rule without exception.
    #expect(try !scene.shell("echo A=plain > p.env; secretprefs import p.env --dry-run").text.contains("note"))
  }

  @Test(arguments: [
    ("x #y", true), ("\"x\" # y", true), ("'x' # y", true), ("\"\" #y", true), ("`x`", true), ("x", false),
    ("'x # y'", false),
  ])
  func `a value that docker or systemd reads with its comment or backquotes has a note`(
    _ value: String, _ isNoted: Bool
  ) throws {
    let scene = try ExchangeScene()
    try scene.home.write("A=\(value)\n", to: ".env")
    let outcome = try scene.shell("secretprefs import .env --dry-run")
    #expect(outcome.exit == 0, "\(outcome.errorText)")
    #expect(outcome.text.contains("docker and systemd") == isNoted, "\(outcome.text)")
  }

  @Test(arguments: ["A=op://v/i/f", "A=LONG", "A='x' y", "A=\"x"])
  func `an earlier line of a name is not imported if the last one is left out or skipped`(_ last: String) throws {
    let scene = try ExchangeScene()
    let line = last.replacing("LONG", with: String(repeating: "x", count: 16_777_217))
    try scene.home.write("B=1\nA=old\n\(line)\n", to: ".env")
    let outcome = try scene.shell("secretprefs import .env --skip")
    #expect(outcome.text.contains("not imported: line 2, A: a later line has the same name\n"), "\(outcome.errorText)")
    #expect(outcome.text.matches(of: /not imported: line 3/).count == 1, "\(outcome.text)")
    #expect(try scene.texts(service: "default") == ["B": "1"])
  }

  @Test(arguments: ["A=op://v/i/f", "A='x' y"])
  func `the last line of a name is imported if an earlier one is left out or skipped`(_ first: String) throws {
    let scene = try ExchangeScene()
    try scene.home.write("\(first)\nA=new\n", to: ".env")
    let outcome = try scene.shell("secretprefs import .env --skip")
    #expect(outcome.text.matches(of: /not imported/).count == 1, "\(outcome.errorText)")
    #expect(try scene.texts(service: "default") == ["A": "new"])
  }

  @Test(arguments: [
    ("KEY=\"l1\r\nl2\"\r\nB='x\r\ny'\r\n", ["KEY": "l1\nl2", "B": "x\ny"]), ("A=`x \"y\" 'z'`", ["A": "x \"y\" 'z'"]),
    ("A: x\nB: 'y z'\nexport C: no=1", ["A": "x", "B": "y z", "C": "no=1"]), ("A='it'\\''s' # c\n", ["A": "it's"]),
    ("A=x\nexport A\nexport B # c\n", ["A": "x"]), ("A=C:\\dir\\\nB=1\n", ["A": "C:\\dir\\", "B": "1"]),
    ("A=\"x\"'y'z\\ w\n", ["A": "xyz w"]), ("A='x';\nexport B=\"y\"; # c\nC='z'&\n", ["A": "x", "B": "y"]),
  ])
  func `forms that only some programs have are read`(_ text: String, _ keys: [String: String]) throws {
    let scene = try ExchangeScene()
    try scene.home.write(text, to: ".env")
    let outcome = try scene.shell("secretprefs import .env --skip")
    #expect(outcome.exit == 0, "\(outcome.errorText)")
    #expect(try scene.texts(service: "default") == keys)
  }

  @Test func `what is between the quotes of a bad line is not taken for other lines`() throws {
    let scene = try ExchangeScene()
    try scene.home.write("A=1\nbad\nB=\"x\nC=2\nD=3\n", to: ".env")
    let outcome = try scene.shell("secretprefs import .env")
    #expect(outcome.errorText.contains("\n  line 2: not NAME=value\n  lines 3 to 5: a quote that is not closed\n"))
    #expect(outcome.errorText.contains("hint: --skip 2,3-5 leaves them out"))
    #expect(try scene.shell("secretprefs import .env --skip 2,3").exit == 0)
    #expect(try scene.texts(service: "default") == ["A": "1"])
  }

  @Test(arguments: ["A=x\0", "A=\"x\0\" # c", "A=\"x\n\0\"", "A='\0'\r"])
  func `the line behind a value with a NUL byte is not lost with it`(_ bad: String) throws {
    let scene = try ExchangeScene()
    try scene.home.write("\(bad)\nB=2\n", to: ".env")
    let outcome = try scene.shell("secretprefs import .env --skip 1")
    #expect(outcome.exit == 0 && outcome.text.contains(": a NUL byte\n"), "\(outcome.errorText)")
    #expect(try scene.texts(service: "default") == ["B": "2"])
  }

  @Test func `values that sops or dotenvx has sealed are left out, and what they add`() throws {
    let scene = try ExchangeScene()
    try scene.home.write(
      "A=ENC[AES256_GCM,data:x,type:str]\nB_unencrypted=b\nsops_mac=ENC[AES256_GCM,x]\nsops_version=3.8.1\n",
      to: "s.env")
    try scene.home.write(
      "DOTENV_PUBLIC_KEY_CI=\"03ab\"\nC=\"encrypted:BN4x\"\nD=d\nsops_version=mine\n", to: "x.env")
    try scene.home.write(
      #"{"E":"ENC[AES256_GCM,x]","F_unencrypted":"f","l":["ENC[AES256_GCM,x]"],"sops":{"age":[{"x":"y"}],"mac":"ENC[AES256_GCM,x]"}}"#,
      to: "j.json")
    for file in ["s.env", "x.env", "j.json"] {
      let outcome = try scene.shell("secretprefs import \(file)")
      #expect(outcome.exit == 0, "\(outcome.errorText)")
      #expect(
        outcome.text.contains(file == "x.env" ? "the public key of dotenvx" : "metadata of sops"), "\(outcome.text)")
    }
    #expect(
      try scene.texts(service: "default") == [
        "B_unencrypted": "b", "D": "d", "sops_version": "mine", "F_unencrypted": "f",
      ])
  }
}
