import Foundation
import Testing

@testable import secretprefs

/// Archives that no program has written.
struct HostileArchiveTests {
  private static func record(_ members: String) -> String {
    #"{"format":"secretprefs-archive","version":1,"exported":"x","groups":[{"group":"g","records":["#
      + #"{"service":"s","key":"k","created":"1 ms","modified":"2 ms","kind":"string","value":"v"\#(members)}"#
      + #"],"removed":[]}],"unopened":[]}"#
  }

  static let bad: [(text: String, reason: String)] = [
    ("", "no object and no list"), ("{}", "no archive"), ("[]", "no archive"), ("{", "expected a name"),
    (#"{"format":"secretprefs-archive"}"#, "no \"version\""),
    (#"{"format":"secretprefs-archive","version":2,"groups":[]}"#, "a later version of secretprefs reads it"),
    (#"{"format":"secretprefs-archive","version":0,"groups":[]}"#, "no \"version\""),
    (#"{"format":"secretprefs-archive","version":1}"#, "no \"groups\""),
    (#"{"format":"secretprefs-archive","version":1,"groups":{}}"#, "no list where one belongs"),
    (#"{"format":"secretprefs-archive","version":1,"groups":[1]}"#, "no object where one belongs"),
    (#"{"format":"secretprefs-archive","version":1,"groups":[{}]}"#, "a group without \"group\""),
    (#"{"format":"secretprefs-archive","version":1,"groups":[{"group":"g","records":{}}]}"#, "no list where"),
    (#"{"format":"secretprefs-archive","version":1,"version":1,"groups":[]}"#, "a repeated member"),
    (record("") + "x", "text after the archive"), (record(#","value":"w""#), "a repeated member"),
    (record(#","base64":"AA==""#), "a record without a value, or with two"),
    (record(#","previous":[{"kind":"string","value":"w"}]"#), "a record without \"modified\""),
    (record(#","previous":[{"kind":"string","value":"w","modified":"1 ms","x":1}]"#), "an earlier value with a member"),
    (record(#","previous":{}"#), "no list where one belongs"), (record(#","historyDepth":65536"#), "is no number"),
    (record(#","historyDepth":-1"#), "is no number"), (record(#","expiry":"99999999999999999999 ms""#), "is no time"),
    (record(#","accessibility":"always""#), "an accessibility that is not known"),
    (record(#","attributes":[{"name":"a\u0000","text":""}]"#), "an attribute with a bad name"),
    (record("").replacing("\"g\"", with: "\"\""), "not a key"),
    (record("").replacing("\"k\"", with: "\"\\n\""), "not a key"),
    (record("").replacing("1 ms", with: "1"), "\"created\" is no time"),
    (record("").replacing(#""created":"1 ms","#, with: ""), "a record without \"created\""),
    (record("").replacing(#""kind":"string""#, with: #""kind":"kind-0""#), "a kind that is not known"),
    (
      record("").replacing(#""removed":[]"#, with: #""removed":[{"service":"s","key":"r","created":"1 ms"}]"#),
      "a record without \"removed\""
    ),
  ]

  @Test(arguments: bad)
  func `a bad archive is refused with its reason, and nothing is imported`(text: String, reason: String) throws {
    let scene = try ExchangeScene()
    try scene.write(Array(text.utf8), to: "a.json")
    let before = try scene.file
    let outcome = try scene.shell("secretprefs import a.json --format archive")
    #expect(outcome.exit != 0)
    #expect(outcome.errorText.contains(reason), "\(outcome.errorText)")
    #expect(try scene.file == before)
  }

  @Test func `a bad record is named by its line, and --skip leaves it out`() throws {
    let scene = try ExchangeScene()
    let good =
      #"{"service":"s","key":"a","created":"1 ms","modified":"2 ms","kind":"string","value":"\n\n","previous":[]}"#
    let text = """
      {"format":"secretprefs-archive","version":1,"exported":"x","groups":[
      {"group":"default","records":[
      \(good),
      \(good.replacing("\"a\"", with: "\"b\"").replacing("2 ms", with: "2")),
      \(good.replacing("\"a\"", with: "\"c\""))],"future":1},
      {"group":"ops","records":[
      \(good.replacing("\"a\"", with: "\"d\"").replacing("2 ms", with: "2"))]}
      ]}
      """
    try scene.write(Array(text.utf8), to: "a.json")
    let refused = try scene.shell("secretprefs import a.json")
    #expect(refused.exit == 65)
    #expect(refused.errorText.contains("line 4, b: \"modified\" is no time"), "\(refused.errorText)")
    #expect(refused.errorText.contains("line 7, d: \"modified\" is no time"), "\(refused.errorText)")
    let taken = try scene.shell("secretprefs import a.json --skip 4,7; secretprefs info a --service s | grep -e ed")
    #expect(taken.exit == 0, "\(taken.errorText)")
    #expect(taken.text.contains("not imported: line 2, default, future: a member that is not known\n"), "\(taken.text)")
    #expect(taken.text.contains("created     1970-01-01T00:00:00.001Z\nmodified    1970-01-01T00:00:00.002Z\n"))
    #expect(try scene.texts(service: "s") == ["a": "\n\n", "c": "\n\n"])
  }

  @Test func `a changed archive is parsed or refused, and what is parsed is within it`() throws {
    let whole = Array(try ArchiveScene().archive())
    let short = Array(
      Self.record(
        #","previous":[{"kind":"data","base64":"AAAA","modified":"1 ms"}],"attributes":[{"name":"a","text":"b"}]"#
      ).utf8)
    var random = SeededRandom(33)
    var parsed = 0
    for round in 0..<4000 {
      var bytes = round.isMultiple(of: 20) ? whole : short
      for _ in 0..<Int.random(in: 1...3, using: &random) { mutate(&bytes, &random) }
      let count = bytes.count
      bytes.withUnsafeMutableBytes { buffer in
        do {
          let records = try PlainFormat.parse(buffer, as: .archive, path: "a.json").records
          parsed += 1
          for value in records.values {
            #expect(value.bytes.lowerBound >= 0 && value.bytes.upperBound <= count)
            #expect(value.record?.times != nil && value.record?.group != nil)
            for earlier in value.record?.earlier ?? [] { #expect(earlier.bytes.upperBound <= count) }
          }
        } catch { #expect(error is PlainFault, "\(error)") }
      }
    }
    #expect(parsed > 100)
  }

  private func mutate(_ bytes: inout [UInt8], _ random: inout SeededRandom) {
    guard !bytes.isEmpty else { return }
    let place = Int.random(in: bytes.indices, using: &random)
    let length = Int.random(in: 1...40, using: &random)
    let part = Array(bytes[place..<min(place + length, bytes.count)])
    switch Int.random(in: 0..<6, using: &random) {
    case 0: bytes[place] = UInt8.random(in: 0...255, using: &random)
    case 1: bytes[place] = Array("{}[]\",:\\0-9ntf u".utf8).randomElement(using: &random)!
    case 2: bytes.removeSubrange(place..<min(place + length, bytes.count))
    case 3: bytes.insert(contentsOf: part, at: Int.random(in: bytes.indices, using: &random))
    case 4: bytes.removeSubrange(place...)
    default: bytes.insert(contentsOf: Array("\\u0000\\ud800".utf8), at: place)
    }
  }
}
