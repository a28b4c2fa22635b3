import Foundation
import Testing

@testable import secretprefs

/// Lines that an open quote takes along are named with it, in every format with quotes over several lines.
struct SwallowedLineTests {
  private struct Part: Decodable {
    let line: Int
    var lastLine: Int?
  }

  private struct Report: Decodable {
    let notImported: [Part]
    let notes: [Part]
  }

  /// Rows with quotes at random places. Each has a key of its own.
  private static func text(_ format: String, _ random: inout SeededRandom) -> [String] {
    let values = ["v", "\"v\"", "\"v", "v\"", "\"", "\"v\"w", "\"v \"\"w\"", "'v", "'v'"]
    let rows = (1...8).map { row in
      let value = values.randomElement(using: &random)!
      return format == "csv" ? "key\(row),\(value)" : "key\(row)=\(value)"
    }
    return format == "csv" ? ["key,value"] + rows : rows
  }

  @Test(arguments: ["csv", "dotenv"]) func `each line is imported or named`(format: String) throws {
    var random = SeededRandom(10)
    for _ in 0..<40 {
      let lines = Self.text(format, &random)
      let text = lines.joined(separator: "\n") + (Bool.random(using: &random) ? "\n" : "")
      let scene = try ExchangeScene()
      try scene.home.write(text, to: "plain")
      let outcome = try scene.shell("secretprefs import plain --format \(format) --skip --json")
      guard outcome.exit == 0 else {
        #expect(outcome.exit == 1 && outcome.errorText.contains("there is nothing to import"), "\(text)")
        continue
      }
      let report = try JSONDecoder().decode(Report.self, from: outcome.output)
      let imported = Set(try scene.texts(service: "default").keys)
      let named = Set((report.notImported + report.notes).flatMap { Array($0.line...($0.lastLine ?? $0.line)) })
      for (index, line) in lines.enumerated() where line.hasPrefix("key") && line != "key,value" {
        let key = String(line.prefix { $0 != "," && $0 != "=" })
        let isInNotedValue = report.notes.contains { $0.line <= index + 1 }
        #expect(
          imported.contains(key) || named.contains(index + 1) || isInNotedValue, "line \(index + 1) of\n\(text)")
      }
    }
  }

  @Test(arguments: [
    (
      "csv", "key,value\na,1\nb,\"x\nc,2\nd,\"y\ne,3\nf\n",
      "lines 3 to 5: text behind a quoted field\n  line 7", "3-5,7"
    ),
    ("dotenv", "A=1\nB=\"x\nC=2\nD=3\nE\n", "lines 2 to 5: a quote that is not closed", "2-5"),
    ("dotenv", "A='x\r\nB=2\r\n", "lines 1 to 2: a quote that is not closed", "1-2"),
    ("dotenv", "A=1\nB=\"x\nC=\" y\nE\n", "lines 2 to 3: text behind the value\n  line 4: not NAME=value", "2-3,4"),
    (
      "records", "{\"key\":\"a\",\"service\":\"s\",\"kind\":\"string\",\"value\":\"v\"}\n{bad\nworse\n{\"key\":1}\n",
      "lines 2 to 3: expected a name\n  line 4", "2-3,4"
    ),
  ])
  func `the error says from which line to which, and its list leaves that out`(
    _ format: String, _ text: String, _ named: String, _ list: String
  ) throws {
    let scene = try ExchangeScene()
    try scene.home.write(text, to: "plain")
    let outcome = try scene.shell("secretprefs import plain --format \(format)")
    #expect(outcome.exit == 65 && outcome.errorText.contains(named), "\(outcome.errorText)")
    #expect(outcome.errorText.contains("hint: --skip \(list) leaves"), "\(outcome.errorText)")
    let dry = try scene.shell("secretprefs import plain --format \(format) --skip \(list) --dry-run")
    #expect(dry.exit == (text.hasPrefix("A='") ? 1 : 0), "\(dry.errorText)")
  }

  @Test(arguments: [
    ("csv", "name,url,password\na,h,\"x\nb,h,y\"\n", "line 2, a/password: a line of the value looks like a row"),
    ("dotenv", "A=\"x\nB=y\"\n", "line 1, A: a line of the value looks like an entry"),
    (
      "dotenv", "A=\"x\nB=$Y\"\n",
      "line 1, A: a line of the value looks like an entry: a quote may be missing before it; $ is text here"
    ),
  ])
  func `a quote that a later line closes by chance has a note`(_ format: String, _ text: String, _ note: String) throws
  {
    let scene = try ExchangeScene()
    try scene.home.write(text, to: "plain")
    let outcome = try scene.shell("secretprefs import plain --format \(format)")
    #expect(outcome.text.contains("note: \(note)"), "\(outcome.text)")
  }

  @Test func `a key in PEM has no such note`() throws {
    let scene = try ExchangeScene()
    try scene.home.write("KEY=\"-----BEGIN X-----\nMIIBVQ\nMIIBVQ==\n-----END X-----\"\n", to: ".env")
    let outcome = try scene.shell("secretprefs import .env")
    #expect(outcome.exit == 0 && !outcome.text.contains("note:"), "\(outcome.text)")
  }

  @Test func `a label that is too long does not hide other bad lines`() throws {
    let scene = try ExchangeScene()
    let long = "otpauth://totp/" + String(repeating: "a", count: 4000) + "?secret=ABCD"
    try scene.home.write("\(long)\notpauth://totp/x?secret=ABCD\nbad\n", to: "codes")
    let outcome = try scene.shell("secretprefs import codes --format otpauth")
    #expect(outcome.errorText.contains("hint: --skip 1,3 leaves them out"), "\(outcome.errorText)")
  }

  @Test func `the lines of a macro are named`() throws {
    let scene = try ExchangeScene()
    try scene.home.write(
      "machine h login u password p\nmacdef init\nput\nmachine z\n\nmachine y login v password q\n", to: ".netrc")
    let outcome = try scene.shell("secretprefs import .netrc")
    #expect(outcome.text.contains("not imported: lines 2 to 4, init: a macro\n"), "\(outcome.text)")
  }

  @Test func `after a list that is too short, the next one has all bad lines`() throws {
    let scene = try ExchangeScene()
    try scene.home.write("key,value\na,1\nb\nc\nd\n", to: "a.csv")
    let outcome = try scene.shell("secretprefs import a.csv --skip 4")
    #expect(outcome.errorText.contains("hint: --skip 3,4,5 leaves them out"), "\(outcome.errorText)")
    #expect(try scene.shell("secretprefs import a.csv --skip 3,4,5").exit == 0)
    let wrong = try scene.shell("secretprefs import a.csv --skip 2-5,9 --prefix x")
    #expect(wrong.errorText.contains("--skip names line 9, which is not bad"), "\(wrong.errorText)")
  }

  @Test func `a later line of a value meets a condition if one of all its lines does`() {
    var random = SeededRandom(11)
    for _ in 0..<2000 {
      var bytes = (0..<Int.random(in: 0...12, using: &random)).map { _ in Array("\nab".utf8).randomElement()! }
      let lines = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).dropFirst()
      for wanted in ["", "a", "ab", "b"] {
        let found = bytes.withUnsafeMutableBytes { bytes in
          hasLaterLine(0..<bytes.count, in: bytes) { $0.elementsEqual(wanted.utf8) }
        }
        #expect(found == lines.contains { $0.elementsEqual(wanted.utf8) })
      }
    }
  }
}
