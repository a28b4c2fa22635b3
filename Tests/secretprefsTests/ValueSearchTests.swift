import ArgumentParser
import Foundation
import Testing
import VaultSealing

@testable import secretprefs

struct ValueSearchTests {
  private static let value = "p/ss w\"rd+K\u{E4}se <42>\u{1}~!\\"

  static func search(_ values: [String]) throws -> ValueSearch {
    try search(values.map { Array($0.utf8) })
  }

  static func search(_ values: [[UInt8]], takesAllLines: Bool = true) throws -> ValueSearch {
    let patterns = try ValuePatterns(takesAllLines: takesAllLines)
    for (number, value) in values.enumerated() {
      _ = try value.withUnsafeBytes { value in Result { try patterns.add(value, as: number) } }.get()
    }
    return try ValueSearch(patterns)
  }

  /// What is found in a text that comes in blocks of `size` bytes, as `value:form:line:column`.
  static func found(_ text: Data, by search: ValueSearch, blocks size: Int = 4096) throws -> [String] {
    let scanner = try TextScanner(search)
    for start in stride(from: 0, to: text.count, by: size) {
      text[start..<min(start + size, text.count)].withUnsafeBytes { scanner.add($0) }
    }
    return scanner.finish().map { "\($0.value):\($0.form.rawValue):\($0.line):\($0.column)" }
  }

  private static func percent(_ kept: String) -> String {
    let kept = CharacterSet(charactersIn: "a"..."z").union(CharacterSet(charactersIn: "A"..."Z"))
      .union(CharacterSet(charactersIn: "0123456789-._" + kept))
    return value.addingPercentEncoding(withAllowedCharacters: kept)!
  }

  private static func hex(_ format: String) -> String {
    value.utf8.map { String(format: format, $0) }.joined()
  }

  static let written: [(String, String)] =
    [
      ("plain", value), ("hex", hex("%02x")), ("hex", hex("%02X")), ("percent", hex("%%%02X")),
      ("percent", percent("~")), ("percent", percent("~/")), ("percent", percent("~!*'()")),
      ("percent", percent("*").replacing("%20", with: "+")),
      ("percent", percent("~").replacing(/%[0-9A-F]{2}/) { $0.output.lowercased() }),
      ("json", #"p/ss w\"rd+Käse <42>\u0001~!\\"#), ("json", #"p\/ss w\"rd+K\u00e4se <42>\u0001~!\\"#),
      ("json", #"p/ss w\"rd+Käse \u003c42\u003e\u0001~!\\"#.replacing("+", with: "\\u002b")),
      ("json", #"p/ss w\"rd\u002BK\u00E4se \u003C42\u003E\u0001~!\\"#),
      // Go, PHP with JSON_HEX_QUOT, and .NET.
      ("json", #"p/ss w\"rd+Käse \u003c42\u003e\u0001~!\\"#),
      ("json", #"p\/ss w\u0022rd+K\u00e4se <42>\u0001~!\\"#),
      ("json", #"p/ss w\u0022rd\u002BK\u00E4se \u003C42\u003E\u0001~!\\"#),
    ]
    + ["", "a", "ab", "abc"].flatMap { before in
      ["", "z", "zz", "\u{FF}z"].map { after in
        ("base64", Data((before + value + after).utf8).base64EncodedString())
      }
    }

  @Test(arguments: written) func `a value is found in each form`(_ form: String, _ text: String) throws {
    let search = try Self.search([Self.value])
    for text in form == "base64" ? [text, text.replacing("+", with: "-").replacing("/", with: "_")] : [text] {
      let found = try Self.found(Data("\n<\(text)>".utf8), by: search)
      #expect(found.count == 1, "\(found)")
      #expect(found.first?.hasPrefix("0:\(form):2:") == true)
    }
  }

  @Test(arguments: ["é", "\u{4225}", "🦊", "\u{85}", "e", "\\é"])
  func `a percent-encoded value is found whatever follows a backslash in it`(_ character: String) throws {
    for end: [UInt8] in [[], [0xFF]] {
      let value = Array("\\\(character)5uP8kQz2".utf8) + end
      let search = try Self.search([value])
      let once = value.map { String(format: "%%%02X", $0) }.joined()
      for text in [once, once.replacing("%", with: "%25")] {
        #expect(try Self.found(Data("<\(text)>".utf8), by: search) == ["0:percent:1:2"])
      }
    }
  }

  @Test func `a quotation mark and a backquote are found as digits`() throws {
    let found = try Self.found(Data(#"{"a": "p\u0060ssword\u00221"}"#.utf8), by: try Self.search(["p`ssword\"1"]))
    #expect(found == ["0:json:1:8"])
  }

  @Test func `a value is found across any border of blocks and with any line ends inside`() throws {
    let search = try Self.search([Self.value])
    for (form, text) in [("plain", Self.value), ("base64", Data(Self.value.utf8).base64EncodedString())] {
      for end in ["\n", "\r\n"] {
        let wrapped = text.utf8.enumerated().reduce(into: Data()) { wrapped, byte in
          if byte.offset % 7 == 3 { wrapped += Data(end.utf8) }
          wrapped.append(byte.element)
        }
        for size in 1...60 {
          let found = try Self.found(Data("one\r\ntwo: ".utf8) + wrapped, by: search, blocks: size)
          #expect(found == ["0:\(form):2:6"])
        }
      }
    }
  }

  @Test func `of many values, those that are there are found, and nothing else`() throws {
    var random = SeededRandom(6)
    let values = (0..<300).map { _ in (0..<12).map { _ in String(UInt8.random(in: 33...126, using: &random)) }.joined()
    }
    let search = try Self.search(values)
    var text = Data((0..<1 << 18).map { _ in UInt8.random(in: 0...255, using: &random) })
    #expect(try Self.found(text, by: search).isEmpty)
    text += Data("\n\(values[299])\n\(values[0])\n\(values[150].dropLast())".utf8)
    let found = try Self.found(text, by: search).map { $0.split(separator: ":").prefix(2).joined(separator: ":") }
    #expect(found == ["299:plain", "0:plain"])
  }

  @Test func `a value inside of a longer one, and two equal ones, are all found`() throws {
    let search = try Self.search(["password", "password1234", "word1234", "password"])
    let found = try Self.found(Data("password1234".utf8), by: search)
    #expect(Set(found) == ["0:plain:1:1", "1:plain:1:1", "3:plain:1:1", "2:plain:1:5"])
  }

  @Test func `the lines of a value are one finding, also if they are indented or some are missing`() throws {
    let lines = (0..<4).map { "\($0)" + String(repeating: "abcdefgh", count: 4) }
    let search = try Self.search([lines.joined(separator: "\n")])
    let whole = lines.joined(separator: "\r\n")
    #expect(try Self.found(Data("x\n\(whole)\n".utf8), by: search) == ["0:plain:2:1"])
    let indented = lines.dropFirst().map { "  \($0)\n" }.joined()
    #expect(try Self.found(Data((indented + "\n\n" + indented).utf8), by: search) == ["0:line:1:3", "0:line:6:3"])
  }

  @Test func `a value whose ESC is taken for a sequence is found as a whole, where its first line begins`() throws {
    let line = "\u{1B}\u{D5}" + String(repeating: "abcdefgh", count: 3)
    let search = try Self.search([line + "\rone"])
    #expect(try Self.found(Data("\n<\(line)\\rone>".utf8), by: search) == ["0:plain:2:2"])
  }

  @Test func `a value that is too short is left out`() throws {
    let patterns = try ValuePatterns(takesAllLines: false)
    for (value, isAdded) in [
      ("1234567", false), ("1234\n567\n", false), ("8080", false), ("12345678", true), ("1'3\"5678", true),
      ("' 1 2 3 4 5 '", false), ("\\\\\\\\\\\\\\\\\\", false),
    ] {
      let added = try Array(value.utf8).withUnsafeBytes { value in Result { try patterns.add(value, as: 0) } }.get()
      #expect(added == isAdded, "\(value)")
    }
  }

  @Test func `every part of a long value is found`() throws {
    let value = (0..<3000).map { "\($0)," }.joined()
    let search = try Self.search([value])
    let base64 = Data(value.utf8).base64EncodedString()
    for text in [value, base64] {
      var covered = HiddenRanges()
      var count = 0
      let stream = try StreamSearch(search)
      Array(text.utf8).withUnsafeBytes { stream.add($0) { covered.add($0.range) { count += $0.count } } }
      #expect(count >= text.utf8.count - 3)
    }
  }

  @Test func `matches that overlap are one finding`() throws {
    let search = try Self.search([String(repeating: "ab", count: 4)])
    let text = Data(String(repeating: "ab", count: 50_000).utf8)
    #expect(try Self.found(text, by: search, blocks: 1000) == ["0:plain:1:1"])
  }

  @Test func `the search finds what comparing each place finds`() throws {
    var random = SeededRandom(7)
    for _ in 0..<40 {
      // Few letters, so that patterns contain each other and overlap.
      let values = (0..<6).map { _ in
        (0..<Int.random(in: 8...14, using: &random)).map { _ in "xy".randomElement(using: &random)! }
      }
      let patterns = try ValuePatterns(takesAllLines: false)
      for (number, value) in values.enumerated() {
        _ = try Array(String(value).utf8).withUnsafeBytes { value in Result { try patterns.add(value, as: number) } }
          .get()
      }
      let stream = try StreamSearch(try ValueSearch(patterns))
      let text = (0..<3000).map { _ in "xy".randomElement(using: &random)! }
      var found = Set<[Int]>()
      var rest = Array(String(text).utf8)[...]
      while !rest.isEmpty {
        let part = Array(rest.prefix(Int.random(in: 1...40, using: &random)))
        rest = rest.dropFirst(part.count)
        part.withUnsafeBytes {
          stream.add($0) { match in
            guard match.pattern.form == .plain else { return }
            // One match is several places of a value that overlap.
            for place in match.range { found.insert([match.pattern.value, place]) }
          }
        }
      }
      var expected = Set<[Int]>()
      for (number, value) in values.enumerated() {
        for start in 0...text.count - value.count where text[start..<start + value.count].elementsEqual(value) {
          for place in start..<start + value.count { expected.insert([number, place]) }
        }
      }
      #expect(found == expected)
    }
  }

  @Test func `a value with very many line ends inside is found at its beginning`() throws {
    let search = try Self.search(["abcdefghijkl"])
    let text = Data("\n\n abcdefg".utf8) + Data(repeating: 0x0A, count: 1 << 19) + Data("hijkl\n abcdefghijkl".utf8)
    #expect(try Self.found(text, by: search, blocks: 60_000) == ["0:plain:3:2", "0:plain:524292:2"])
  }

  @Test func `the help of scan names every form`() {
    for form in ValueForm.allCases { #expect(Scan.configuration.discussion.contains("\n  \(form.rawValue) ")) }
  }
}
