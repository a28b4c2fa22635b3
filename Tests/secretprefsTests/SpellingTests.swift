import Foundation
@testable import Preferences
import Testing
import VaultCore
import VaultSealing

@testable import secretprefs

/// Random values in everything that this package writes: each is found, and each is hidden, however the output is
/// divided. `Scripts/spellings` does the same with the quoting of other programs.
struct SpellingTests {
  /// What a writer may change.
  private static let pieces = [
    "'", "\"", "\\", "\\n", "\\x41", "\\u00e9", "%41", "%", "&amp;", "&", "<", ">", "$HOME", "`", "\n", "\r\n", "\t",
    "  ", "=", "+", "/", "é", "日本", "🦊", "\u{A0}", "\u{85}", "\u{2028}", "\u{1B}[31m", "\u{7F}", "{", "}", "#", ";",
    "''", "\"\"", "\\'", "\\\"", "\\\\",
  ]

  private static func word(_ random: inout some RandomNumberGenerator) -> String {
    String(
      (0..<Int.random(in: 1...6, using: &random)).map { _ in
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789".randomElement(using: &random)!
      })
  }

  private static func text(_ random: inout some RandomNumberGenerator) -> String {
    switch Int.random(in: 0..<3, using: &random) {
    case 0: String((0..<40).map { _ in Character(Unicode.Scalar(UInt8.random(in: 33...126, using: &random))) })
    case 1: String(repeating: word(&random) + pieces.randomElement(using: &random)! + word(&random), count: 30)
    default:
      word(&random) + "1234567"
        + (0..<20).map { _ in pieces.randomElement(using: &random)! + word(&random) }.joined()
    }
  }

  /// Everything that writes values in plain text, with the names of its formats.
  private static func written(_ value: [UInt8]) throws -> [(name: String, text: [UInt8])] {
    var written: [(String, [UInt8])] = []
    for format in ExportFormat.allCases {
      // systemd-creds encrypts: nothing is in plain text. Records have the strings of JSON and the base64 of manifests.
      if format == .systemd || format == .records || format == .archive { continue }
      let output = try SecretOutput(isCollecting: true)
      let isWritten = try value.withUnsafeBytes { value in
        Result {
          guard format.allows(value: value) else { return false }
          try format.writeStart("name", to: output)
          try format.write("KEY", .string, value, isFirst: true, to: output)
          return true
        }
      }.get()
      if isWritten { written.append((format.rawValue, output.withBytes { Array($0) })) }
    }
    guard let text = String(validating: value, as: UTF8.self) else { return written }
    written.append(("JSON of the tool", Array(JSON.object([("value", .string(text))]).text.utf8)))
    let formats: [any PreferenceFileFormat] = [JSONFormat(), PropertyListFormat(), DotenvFormat()]
    for format in formats {
      // XML has no control characters.
      let bytes = Result { () throws(PreferencesError) in try format.bytes(of: ["key": .string(text)], replacing: nil) }
      if case .failure(let error) = bytes, error.code == .unsupportedByFormat { continue }
      written.append(("\(type(of: format))", try bytes.get()))
    }
    return written
  }

  @Test func `every writer's spelling of random values is found and hidden`() throws {
    var random = SeededRandom(13)
    for number in 0..<60 {
      let value =
        number % 10 == 9
        ? (0..<50).map { _ in UInt8.random(in: 1...255, using: &random) } : Array(Self.text(&random).utf8)
      let search = try ValueSearchTests.search([value], takesAllLines: false)
      for (name, text) in try Self.written(value) {
        let found = try ValueSearchTests.found(Data(text), by: search, blocks: Int.random(in: 1...99, using: &random))
        #expect(found.contains { !$0.contains(":line:") }, "\(name) of \(value): \(text)")
        let shown = try OutputMaskTests.shown(text, by: search, parts: 1...9)
        #expect(shown.count { $0 == UInt8(ascii: "*") } >= value.count { $0 & 0xC0 != 0x80 && !$0.isIgnored } / 2)
        // Names, quotes and the last bits of base64 are shown.
        let rest = Set(shown.indices.dropLast(7).map { Array(shown[$0..<$0 + 8]) })
        let leaked = text.indices.dropLast(7).count { start in
          let part = Array(text[start..<start + 8])
          return rest.contains(part) && value.indices.dropLast(7).contains { Array(value[$0..<$0 + 8]) == part }
        }
        #expect(leaked == 0, "\(name) of \(value): \(shown)")
        #expect(try OutputMaskTests.shown(text, by: search, parts: 50...5000) == shown)
      }
    }
  }

  /// Quoting that needs no other program.
  @Test(arguments: [
    ("it's-a-Secret-0123456789", #"'it'\''s-a-Secret-0123456789'"#), ("it's \"x\" 12345", #"'it'\''s "x" 12345'"#),
    ("it's-a-Secret-0123456789", "'it''s-a-Secret-0123456789'"), ("a\"b\"c 12345678", "\"a\"\"b\"\"c 12345678\""),
    ("a&b<c>'d\" 123", "a&amp;b&lt;c&gt;&#39;d&quot; 123"), ("a&b<c>'d\" 123", "a&#38;b&#x3C;c&#62;&apos;d&#34; 123"),
    ("a&b<c>'d\" 123", "a&amp;amp;b&amp;lt;c&amp;gt;&amp;#39;d&amp;quot; 123"), ("käse-brot", "k\\xe4se-brot"),
    ("käse-brot", "k\\xc3\\xa4se-brot"), ("käse-brot", "k\\303\\244se-brot"), ("käse-brot", "k&auml;se-brot"),
    ("käse-brot", "k%E4se-brot"), ("\u{1F98A}fox-fox", #"\ud83e\udd8afox-fox"#),
    ("\u{1F98A}fox-fox", #"\U0001f98afox-fox"#), ("\u{1F98A}fox-fox", #"\u{1f98a}fox-fox"#),
    ("{\n  \"a\": 1,\n  \"b\": 23456\n}", "{ \"a\": 1, \"b\": 23456 }"),
    ("{\n  \"a\": 1,\n  \"b\": 23456\n}", "{\r\n\t\t\"a\": 1,\r\n\t\t\"b\": 23456\r\n\t}  "),
    ("{\"a\": 1, \"b\": 23456}", #""{\\\"a\\\": 1, \\\"b\\\": 23456}""#),
    ("one two three \n", "one   two\n\tthree"), ("onetwothree", "one\\\n  twothree"),
    ("line one\nline two\n", #"line one\nline two\n"#), ("line one\nline two\n", #"line one\\nline two\\n"#),
    ("p ss+w%rd/12", "p+ss%2Bw%25rd%2F12"), ("p ss+w%rd/12", "p%252520ss%25252Bw%252525rd%25252F12"),
    ("%4\\x41-12345", "%254\\x41-12345"), ("%4\\x41-12345", "\\x25\\x34\\x5c\\x78\\x34\\x31-12345"),
    ("%4\\x41-12345", "&#37;&#52;&#92;&#120;&#52;&#49;-12345"), ("&am\\x70;lt;-12345", "%26am%5cx70%3blt;-12345"),
    ("x%df\u{85}-12345", "x%df\\x85-12345"), ("käse-brot", "k\\äse-brot"),
    ("one\ntwo12345$", #""one\ntwo12345$""#), (#"one\44two\n123\\44"#, #""one\\44two\\n123\\\\44""#),
    (#"C:\new\x41-1234"#, #"C:\\new\\x41-1234"#), (#"C:\new\x41-1234"#, #"'C:\new\x41-1234'"#),
    ("50%41-&amp;-12345", "50%2541-%26amp%3B-12345"), ("50%41-&amp;-12345", "50%41-&amp;amp;-12345"),
    ("12345=ä€6", "12345=3D=C3=A4=E2=82=AC6"), ("a$'b'12345678", #"a\$\'b\'12345678"#),
    ("one\u{1B}\\Ntwo123", "one\u{1B}\\\\Ntwo123"), ("one\u{1B}\"two1234", "one\u{1B}\\\"two1234"),
    ("one\u{1B}\ntwo1234", "one\u{1B}\\ntwo1234"), ("one\u{1B}\\two1234", "one\u{1B}\\\\two1234"),
    ("one\ntwo12345", #"one$'\n'two12345"#), ("one\u{85}two345", #"one\Ntwo345"#),
    ("a&b|c<%PATH%>-12345", "a^&b^|c^<%%PATH%%^>-12345"), ("50%41-&amp;-12345", "50%%41-&amp;-12345"),
    ("50%%41%-12345", "50%%%%41%%-12345"), ("ä b \ncde-12345", "=C3=A4 b=20\ncde-12345"),
  ])
  func `a value is found as other programs quote it, in any parts`(_ value: String, _ text: String) throws {
    let search = try ValueSearchTests.search([value])
    for size in [1, 2, 3, 1000] {
      let found = try ValueSearchTests.found(Data("x: \(text)\n".utf8), by: search, blocks: size)
      #expect(found.contains { !$0.contains(":line:") }, "\(found)")
    }
  }

  /// What terminals, wrapping at a width in bytes, and quoting put between the bytes of a character.
  @Test(arguments: ["日本-geheim-1", "k\u{E4}se\u{1B}[31m-brot", "\u{1F98A}fox-%41-fox", "plain-12345"])
  func `a value is found in UTF-16, in both orders of its bytes`(_ value: String) throws {
    let search = try ValueSearchTests.search([value])
    for isBigEndian in [false, true] {
      let text = "<\(value)>\n".utf16.flatMap { unit in
        let bytes = [UInt8(truncatingIfNeeded: unit), UInt8(unit >> 8)]
        return isBigEndian ? bytes.reversed() : bytes
      }
      #expect(try ValueSearchTests.found(Data(text), by: search, blocks: 3).count == 1)
      let shown = try OutputMaskTests.shown(text, by: search, parts: 1...9)
      #expect(shown.count { $0 == UInt8(ascii: "*") } >= value.utf16.count)
    }
  }

  @Test(arguments: [
    "\u{1B}[31m", "\u{1B}[0m\u{1B}[K", "\n", "\r\n    ", "'\"'\"'", "\u{1B}]8;;http://a\u{7}", "+", " \u{8}",
  ])
  func `a value is found whose characters are interrupted`(_ interruption: String) throws {
    let search = try ValueSearchTests.search(["one\nkäse-日本-\u{1F98A}"])
    for text in ["one\nkäse-日本-\u{1F98A}", #"one\nkäse-日本-\ud83e\udd8a"#] {
      let bytes = Array(text.utf8)
      for place in bytes.indices where bytes[place] & 0xC0 == 0x80 {
        let interrupted = Data(bytes[..<place]) + Data(interruption.utf8) + Data(bytes[place...])
        for size in [1, 1000] {
          let found = try ValueSearchTests.found(interrupted, by: search, blocks: size)
          #expect(found.contains { !$0.contains(":line:") }, "\(place), \(size)")
        }
      }
    }
  }

  @Test func `a text is decoded in the same way however it is divided`() throws {
    var random = SeededRandom(14)
    let pieces: [[UInt8]] =
      Self.pieces.map { Array($0.utf8) } + [
        [0xC3], [0xA9], [0xE2], [0x80], [0xF0], [0x9F], [0xFF], [0], Array("%C3".utf8), Array("\\xa9".utf8),
        Array("a".utf8),
      ]
    for _ in 0..<300 {
      let text = (0..<12).flatMap { _ in pieces.randomElement(using: &random)! }
      let whole = try Self.decoded(text, blocks: text.count)
      for size in [1, 3] { #expect(try Self.decoded(text, blocks: size) == whole, "\(size): \(text)") }
    }
  }

  private static func decoded(_ text: [UInt8], blocks size: Int) throws -> [UInt8] {
    let output = try SearchedText(capacity: 1000)
    let decoder = try SpellingDecoder(into: output)
    for start in stride(from: 0, to: text.count, by: size) {
      text[start..<min(start + size, text.count)].withUnsafeBytes { decoder.add($0, from: UInt32(start)) }
    }
    decoder.finish()
    return output.withBytes { Array($0) }
  }

  @Test(arguments: ["pass1234word", "it's-0123", #"{"a": 1, "b": 23456}"#])
  func `a part of a value, and a different value, are not found`(_ value: String) throws {
    let search = try ValueSearchTests.search([value])
    for text in [
      String(value.dropLast()), String(value.dropFirst()), value.replacing("1", with: "2"), value.uppercased(),
      value.replacing("1", with: "1-"), String(value.reversed()),
    ] where text != value {
      #expect(try ValueSearchTests.found(Data(" \(text) ".utf8), by: search).isEmpty, "\(text)")
    }
  }
}

extension UInt8 {
  fileprivate var isIgnored: Bool { " \t\r\n'\"\\`+$".utf8.contains(self) }
}
