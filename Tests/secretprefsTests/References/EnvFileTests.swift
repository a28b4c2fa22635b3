import Foundation
import Preferences
import Testing
import VaultCore
import VaultSealing

@testable import secretprefs

/// The parsers of files with references, on files that are not made for them.
struct EnvFileTests {
  private static let seeds = [
    "A=1\nB=secret://shop/db/password\n",
    "# c\nexport A = 'x y' # d\n\nB=\"two\\nlines\nthree\"\r\nC=secret://s/k?group=g\n",
    "\u{FEFF}A=op://v/i/f\nB=x secret://s/k\nA=secret://s\n", "LD_PRELOAD=secret://s/k\nSECRETPREFS_X=1\n'\n",
    "A=\nB='",
    "A=\"secret://s/k\"\nB='secret://s/a%20b'\nC=secret://s/k # d\n",
  ]

  /// `Scripts/references` sets the number of runs.
  @Test func `an env file is read as the dotenv reader of the package reads it`() throws {
    var random = SeededRandom(3)
    var whole = 0
    var references = 0
    for _ in 0..<SeededRandom.runs {
      let text = random.mutated(Self.seeds)
      var bytes = text
      let (entries, problems) = bytes.withUnsafeMutableBytes(EnvFile.parse)
      let lines = text.count { $0 == UInt8(ascii: "\n") } + 1
      guard (entries.map(\.line) + problems.map(\.line)).allSatisfy({ (1...lines).contains($0) }) else {
        Issue.record("lines of \(text)")
        return
      }
      guard problems.isEmpty else { continue }
      whole += 1
      var values: [String: String] = [:]
      for entry in entries {
        switch entry.content {
        case .plain(let range): values[entry.name] = String(decoding: bytes[range], as: UTF8.self)
        case .reference(let reference):
          references += 1
          values[entry.name] = reference.text
        }
      }
      guard let expected = Self.values(text) else { continue }
      let same = expected.mapValues { text in
        SecretReference.isMeant(text.utf8) ? (try? SecretReference(Array(text.utf8)).text) ?? "?" : text
      }
      guard values == same else {
        Issue.record("\(text): \(values) and not \(same)")
        return
      }
    }
    #expect(whole > SeededRandom.runs / 50 && references > SeededRandom.runs / 100)
  }

  /// `nil` for values that are not UTF-8, which a program gets as they are.
  private static func values(_ text: [UInt8]) -> [String: String]? {
    guard let values = try? DotenvFormat().values(from: text) else { return nil }
    return values.compactMapValues { if case .string(let text) = $0 { text } else { nil } }
  }

  @Test func `a problem of an env file has its line, and its file goes on behind it`() {
    var bytes = Array("A=secret://s\n'\nx\n'\nB=1\nbad\nC=secret://s/k\nD='open\n".utf8)
    let (entries, problems) = bytes.withUnsafeMutableBytes(EnvFile.parse)
    #expect(entries.map(\.name) == ["B", "C"])
    #expect(problems.map(\.line) == [1, 2, 3, 4, 6, 8])
    #expect(problems.map(\.error.status) == Array(repeating: .badFile, count: 6))
  }

  /// `Scripts/references` sets the number of runs.
  @Test func `all of a template that is no reference is passed on, whatever it has`() throws {
    var random = SeededRandom(4)
    let output = try GuardedBuffer()
    var found = 0
    for _ in 0..<SeededRandom.runs {
      let text = random.mutated([
        "a {{ secret://shop/db/password }} b\n{{secret://s/k?group=g}}", "{{ \"secret://s/k\" }}{{{secret://s/k}}}\n",
        "{{ secret://s }} {{ secret://s/k", "{{ .Values }} {{\n", "\r\n\0{{{{ secret://a/%20 }}\n}}",
        "{{- secret:/s/k -}} {{~SECRET://s/k}}",
      ])
      output.truncate(to: 0)
      let line = UInt8(ascii: "\n")
      var (end, matches, isInOrder) = (0, 0, true)
      try text.withUnsafeBytes { bytes in
        try Template.scan(bytes) { range in
          isInOrder = isInOrder && range.lowerBound >= end
          end = range.upperBound
        } reference: { match in
          isInOrder = isInOrder && match.line == 1 + text[..<match.text.lowerBound].count { $0 == line }
          if case .success = match.result { end = match.text.upperBound } else { end = match.text.lowerBound }
          matches += 1
        }
        do {
          let count = try Template.fill(bytes, into: output) { try output.append($0.text) }
          isInOrder = isInOrder && count <= matches
        } catch { isInOrder = isInOrder && matches > 0 }
      }
      found += matches
      guard isInOrder, matches > 0 || output.withUnsafeBytes({ $0.elementsEqual(text) }) else {
        Issue.record("\(text)")
        return
      }
    }
    #expect(found > SeededRandom.runs / 4)
  }

  @Test(arguments: ["/dev/zero", "/dev/full", "."])
  func `what is no env file ends with an error, and not in memory`(_ path: String) throws {
    let home = try RunTests.prepared()
    for arguments in [["run", "--env-file", path, "--key-file", "k", "--", "true"], ["check", "--syntax", path]] {
      let outcome = try Tool.run(arguments, in: home)
      #expect([65, 74].contains(outcome.exit))
      #expect(outcome.errorText.hasPrefix("secretprefs: error: \(path): "), "\(outcome.errorText)")
    }
  }

  @Test(
    arguments: ["x#y", "\"$HOME\"", "x\\y", "a\"b\"", "~/x", "\"x\\ty\"", "x #y"],
    ["check .env", "check --syntax .env"])
  func `a plain value that other programs read differently is named in a warning`(
    _ value: String, _ command: String
  ) throws {
    let home = try RunTests.prepared()
    try home.write("OTHER=x\nA=\(value)\n", to: ".env")
    let outcome = try Tool.shell("SECRETPREFS_KEY_FILE=k secretprefs \(command)", in: home)
    #expect(outcome.exit == 0)
    let start = "secretprefs: warning: other programs read these lines differently: .env:2: A ("
    #expect(outcome.errorText.hasPrefix(start), "\(outcome.errorText)")
    #expect(outcome.errorText.count { $0 == "\n" } == 1, "\(outcome.errorText)")
  }

  @Test(
    arguments: ["x", "'x # y'", "\"x\"", "'$HOME'", "secret://default/token?group=default"],
    ["run --env-file .env -- true", "check .env"])
  func `a value that all programs read alike has no warning`(_ value: String, _ command: String) throws {
    let home = try RunTests.prepared()
    try home.write("# $HOME\nA=\(value)\n", to: ".env")
    let outcome = try Tool.shell("SECRETPREFS_KEY_FILE=k secretprefs \(command)", in: home)
    #expect(outcome.exit == 0 && outcome.errorText.isEmpty, "\(outcome.errorText)")
  }

  @Test func `an env file may be a pipe`() throws {
    let home = try RunTests.prepared()
    let outcome = try Tool.shell(
      """
      mkfifo f; printf 'A=secret://default/token\\n' > f &
      secretprefs run --env-file f --key-file k -- printenv A
      """, in: home)
    #expect(outcome.text == "CANARY-7f3a\n", "\(outcome.errorText)")
  }

  @Test func `run, export and references name the same keys in the same way`() throws {
    let home = try RunTests.prepared()
    var random = SeededRandom(5)
    var keys: [String: String] = ["TOKEN": "token"]
    while keys.count < 40 {
      let key = try random.name().text
      let name = VariableName.derived(from: key)
      guard keys[name] == nil, !ProgramVariables.contains(name), !VariableName.isReserved(name),
        !key.contains("\u{202E}")
      else { continue }
      keys[name] = key
      try home.write(name, to: "value")
      let stored = try Tool.run(["set", "--file", "value", "--key-file", "k", "--", key], in: home)
      try #require(stored.exit == 0, "\(key): \(stored.errorText)")
    }
    try home.write("TOKEN", to: "value")
    try #require(Tool.run(["set", "token", "--file", "value", "--key-file", "k"], in: home).exit == 0)

    let run = try Tool.shell(
      "exec env -i HOME=$HOME \"$(command -v secretprefs)\" run --key-file k -- /usr/bin/env -0", in: home)
    let passed = Set(run.text.split(separator: "\0").map(String.init)).subtracting(["HOME=\(home.path)"])
    #expect(passed == Set(keys.keys.map { "\($0)=\($0)" }), "\(run.errorText)")
    let export = try Tool.run(["export", "--variables", "--key-file", "k"], in: home)
    #expect(Set(export.text.split(separator: "\n").map(String.init)) == passed, "\(export.errorText)")

    // Each reference leads to the key of its name, in an env file and in a template.
    let list = try Tool.run(["list", "--references", "--key-file", "k"], in: home)
    let references = list.text.split(separator: "\n").map(String.init)
    #expect(references.count == keys.count)
    let lines = try references.map { text in
      (VariableName.derived(from: try SecretReference(Array(text.utf8)).key), text)
    }
    try home.write(lines.map { "\($0)=\($1)\n" }.joined(), to: ".env")
    try home.write(lines.map { "\($0)={{ \($1) }}\n" }.joined(), to: "template")
    let file = try Tool.shell(
      "exec env -i HOME=$HOME \"$(command -v secretprefs)\" run --env-file .env --key-file k -- /usr/bin/env -0",
      in: home)
    #expect(
      Set(file.text.split(separator: "\0").map(String.init)).subtracting(["HOME=\(home.path)"]) == passed,
      "\(file.errorText)")
    let inject = try Tool.run(["inject", "--in", "template", "--key-file", "k"], in: home)
    #expect(Set(inject.text.split(separator: "\n").map(String.init)) == passed, "\(inject.errorText)")
    #expect(try Tool.run(["check", ".env", "template", "--key-file", "k"], in: home).exit == 0)
  }
}
