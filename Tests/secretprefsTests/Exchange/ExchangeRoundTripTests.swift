import Foundation
import Secrets
import Testing
import VaultCore

struct ExchangeRoundTripTests {
  /// Text that some program would change.
  static let texts: [String: [UInt8]] = Dictionary(
    uniqueKeysWithValues: [
      "", "plain", " blanks ", "\ttab\t", "one\ntwo\n", "\n", "cr\r", "crlf\r\nend", "a=b=c", "x # y", "#x", "it's",
      "\"", "'\"", "'\n\\n$HOME`id`$(id)\"\\", "\\", "ends with \\", "`", "$x", "${x}", "é 🦊 \u{202E}",
      "\u{7F}\u{1B}[2J",
      "\u{FEFF}bom", "null", "true", String(repeating: "long' \"\\\n", count: 10_000),
    ].enumerated().map { ("KEY_\($0)", Array($1.utf8)) })

  static let bytes: [String: [UInt8]] = ["BIN": [0xFF, 0x27, 0x0A, 0xC3], "HALF": [0xED, 0xA0, 0x80, 0x22, 0x5C]]

  @Test(arguments: [("dotenv", texts.merging(bytes) { $1 }), ("json", texts.merging(["NUL": [0x78, 0]]) { $1 })])
  func `an export that is imported gives the same values`(_ format: String, _ values: [String: [UInt8]]) throws {
    let scene = try ExchangeScene()
    try scene.store(values, service: "a")
    let outcome = try scene.shell(
      """
      secretprefs export --service a --format \(format) > plain &&
      secretprefs import plain --service b --format \(format) &&
      secretprefs export --service a --format \(format) --to file && cmp plain file
      """)
    #expect(outcome.exit == 0, "\(outcome.errorText)")
    #expect(try scene.values(service: "b") == values)
  }

  @Test func `what is not UTF-8 becomes data, and anything else text`() throws {
    let scene = try ExchangeScene()
    try scene.write(Array("TEXT='\u{E9}'\nBIN='".utf8) + [0xFF, 0x27], to: ".env")
    #expect(try scene.shell("secretprefs import .env").exit == 0)
    let name = try Vault.Name("default")
    #expect(try scene.vault.kind(service: name, key: "TEXT", in: scene.group) == .string)
    #expect(try scene.vault.kind(service: name, key: "BIN", in: scene.group) == .data)
  }

  @Test func `a shell that evaluates an export has the same values`() throws {
    let scene = try ExchangeScene()
    let values = Self.texts.merging(Self.bytes) { $1 }
    try scene.store(values, service: "a")
    let outcome = try scene.shell("eval \"$(secretprefs export --service a --format shell)\" && env -0 > variables")
    #expect(outcome.exit == 0, "\(outcome.errorText)")
    let lines = try Data(contentsOf: URL(filePath: scene.home.file("variables"))).split(separator: 0)
    for (key, value) in values { #expect(lines.contains(Data(key.utf8 + [0x3D] + value)), "\(key)") }
  }

  @Test func `a Kubernetes manifest has every byte in base64`() throws {
    let scene = try ExchangeScene()
    let values = Self.texts.merging(Self.bytes) { $1 }.merging(["tls.key": [0, 1]]) { $1 }
    try scene.store(values, service: "shop")
    let manifest = try scene.shell("secretprefs export --service shop --format kubernetes").text
    let start = "apiVersion: v1\nkind: Secret\nmetadata:\n  name: \"shop\"\ntype: Opaque\ndata:\n"
    #expect(manifest.hasPrefix(start))
    let lines = manifest.dropFirst(start.count).split(separator: "\n").map(String.init)
    #expect(Set(lines) == Set(values.map { "  \"\($0)\": \"\(Data($1).base64EncodedString())\"" }))
    // As kubectl prints it after it was applied.
    let metadata = #""metadata":{"name":"shop","uid":"x"},"type":"Opaque""#
    try scene.home.write(
      #"{"apiVersion":"v1","data":{\#(lines.joined(separator: ","))},"kind":"Secret",\#(metadata)}"#, to: "s.json")
    let outcome = try scene.shell("secretprefs import s.json --service back")
    #expect(outcome.exit == 0, "\(outcome.errorText)")
    #expect(try scene.values(service: "back") == values)
  }

  @Test(arguments: [
    ("dotenv", "A", [0x61, 0]), ("shell", "A", [0]), ("json", "A", [0xFF]), ("shell", "PATH", [0x61]),
    ("shell", "ld.preload", [0x61]), ("kubernetes", String(repeating: "/", count: 254), [0x61]),
  ])
  func `what a format cannot hold is named, and nothing is written`(
    _ format: String, _ key: String, _ value: [UInt8]
  ) throws {
    let scene = try ExchangeScene()
    try scene.store(["OK": [0x78], key: value], service: "a")
    let export = "secretprefs export --service a --format \(format)"
    let outcome = try scene.shell("\(export); \(export) --to f; ls f")
    #expect(outcome.output.isEmpty)
    #expect(outcome.errorText.contains("nothing was exported: \(format) cannot have "))
    #expect(outcome.errorText.contains(" \(key)\n"))
  }

  @Test func `exactly the values that an import has a note on are named by an export to dotenv`() throws {
    let scene = try ExchangeScene()
    let parts = ["a", "'", "\"", "\\", "$", "{B}", "B", "\r", "\n", " ", "#", "`", "~", ";"]
    var random = SeededRandom(14)
    var values: [String: [UInt8]] = [
      "CR": Array("a\rb".utf8), "UNC": Array(#"\\srv\share"#.utf8), "NAME": Array("x${HOME}y".utf8),
      "PLAIN": Array("plain".utf8), "QUOTED": Array("it is $5 #1".utf8),
    ]
    for index in 0..<60 {
      let text = (0..<Int.random(in: 1...5, using: &random)).map { _ in parts.randomElement(using: &random)! }.joined()
      values["R\(index)"] = Array(text.utf8)
    }
    try scene.store(values, service: "a")
    let written = try scene.shell("secretprefs export --service a --to .env")
    let read = try scene.shell("secretprefs import .env --service b")
    #expect(written.exit == 0 && read.exit == 0)
    #expect(try scene.values(service: "b") == values)
    let names = { (text: String, start: String) in
      Set(
        text.split(separator: "\n").filter { $0.contains(start) }
          .flatMap { $0.split { !$0.isLetter && !$0.isNumber }.map(String.init) }
          .filter { values[$0] != nil })
    }
    let named = names(written.errorText, "read these values, or lines behind them, differently")
    #expect(named.isSuperset(of: ["CR", "UNC", "NAME"]) && named.isDisjoint(with: ["PLAIN", "QUOTED"]))
    #expect(named == names(read.text, "note: line"))
  }

  @Test func `a Kubernetes Secret of more than 1 MiB is refused`() throws {
    let scene = try ExchangeScene()
    let half = [UInt8](repeating: 0x78, count: 1 << 19)
    try scene.store(["A": half, "B": half], service: "a")
    #expect(try scene.shell("secretprefs export --service a --format kubernetes").exit == 0)
    try scene.store(["C": [0x78]], service: "a")
    let outcome = try scene.shell("secretprefs export --service a --format kubernetes")
    #expect(outcome.exit == 64 && outcome.output.isEmpty)
  }
}
