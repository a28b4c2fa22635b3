import Foundation
import Preferences
import Testing

/// What other programs write into a JSON file.
struct ForeignJSONTests {
  private func read(_ text: String) throws -> [String: PreferenceValue] {
    try JSONFormat().values(from: Array(text.utf8))
  }

  private func text(_ values: [String: PreferenceValue], over old: String) throws -> String {
    String(decoding: try JSONFormat().bytes(of: values, replacing: Array(old.utf8)), as: UTF8.self)
  }

  @Test(arguments: [
    #"{"$date": "2020-01-01"}"#, #"{"$data": "1/foo"}"#, #"{"$url": 5}"#, #"{"$unsigned": -1}"#, #"{"$double": "x"}"#,
    #"[1, null]"#, #"[[null]]"#, "1e999", "1e-999", "100000000000000000000", "123456789012345678901234567890",
    #"{"a": null}"#,
  ])
  func `one odd value does not make the others unreadable, and is kept by a write`(odd: String) throws {
    let file = #"{"fine": 1, "odd": \#(odd)}"#
    var values = try read(file)
    #expect(values["fine"] == 1)
    values["fine"] = 2
    let written = try text(values, over: file)
    let compact = written.filter { !$0.isWhitespace }
    #expect(compact == #"{"fine":2,"odd":\#(odd.filter { !$0.isWhitespace })}"#)
    #expect(try read(written)["odd"] == values["odd"])
  }

  @Test func `an odd value fails where its type is asked for, and is not the default`() throws {
    let store = DictionaryPreferences(try read(#"{"list": [1, null], "mark": {"$date": "2020"}}"#))
    #expect(preferencesError { _ = try store.value(for: PreferenceKey("list", default: [5])) }?.code == .typeMismatch)
    #expect(preferencesError { _ = try store.date(forKey: "mark") }?.code == .typeMismatch)
    #expect(try store.dictionary(forKey: "mark") == ["$date": "2020"])
  }

  @Test func `an odd value is listed under its name`() throws {
    try withTemporaryFolder { folder in
      try Data(#"{"list": [1, null], "big": 1e400, "a": {"x": [null], "y": 1}}"#.utf8).write(
        to: URL(filePath: folder + "/a"))
      #expect(try JSONPreferences(at: folder + "/a").keys() == ["a.x", "a.y", "big", "list"])
    }
  }

  @Test func `names that differ only in composition make that name alone unreadable`() throws {
    let file = "{\"fine\": 1, \"caf\u{E9}\": 2, \"cafe\u{301}\": 3, \"K\": 4, \"\u{212A}\": 5}"
    var values = try read(file)
    #expect(values["fine"] == 1)
    let store = DictionaryPreferences(values)
    #expect(preferencesError { _ = try store.integer(forKey: "caf\u{E9}") }?.code == .typeMismatch)
    #expect(preferencesError { _ = try store.integer(forKey: "K") }?.code == .typeMismatch)
    values["fine"] = 9
    let written = try text(values, over: file)
    for member in ["\"caf\u{E9}\": 2", "\"cafe\u{301}\": 3", "\"K\": 4", "\"\u{212A}\": 5", "\"fine\": 9"] {
      #expect(written.utf8.contains(member.utf8), "\(member)")
    }
    #expect(preferencesError { _ = try read(#"{"a": 1, "a": 2}"#) }?.code == .malformed)
  }

  @Test(arguments: [PropertyListFormat.Encoding.xml, .binary])
  func `names of a property list that differ only in composition make that name alone unreadable`(
    encoding: PropertyListFormat.Encoding
  ) throws {
    let (composed, decomposed) = ("<key>caf\u{E9}</key><true/>", "<key>cafe\u{301}</key><string>x</string>")
    let file = "<plist><dict>\(composed)<key>fine</key><true/>\(decomposed)</dict></plist>"
    let format = PropertyListFormat(encoding)
    let values = try format.values(from: Array(file.utf8))
    #expect(values["fine"] == true)
    #expect(preferencesError { _ = try DictionaryPreferences(values).bool(forKey: "caf\u{E9}") }?.code == .typeMismatch)
    let written = try format.bytes(of: values, replacing: nil)
    #expect(try format.values(from: written) == values)
    if encoding == .xml {
      for name in ["<key>caf\u{E9}</key>", "<key>cafe\u{301}</key>"] { #expect(written.contains(name.utf8)) }
    }
    let repeated = "<plist><dict><key>a</key><true/><key>a</key><true/></dict></plist>"
    #expect(preferencesError { _ = try format.values(from: Array(repeated.utf8)) }?.code == .malformed)
  }

  @Test func `null members and long integers stay, at any depth, unless they are replaced`() throws {
    let file = #"{"a": {"n": null, "b": 1, "big": 18446744073709551616}, "l": [{"n": null}], "n": null, "m": null}"#
    var values = try read(file)
    #expect(values == ["a": ["b": 1, "big": 18446744073709551616.0], "l": [[:]]])
    values["a"] = ["b": 2, "big": 18446744073709551616.0]
    values["m"] = 5
    let compact = try text(values, over: file).filter { !$0.isWhitespace }
    #expect(
      compact == #"{"a":{"n":null,"b":2,"big":18446744073709551616},"l":[{"n":null}],"n":null,"m":5}"#)
    values["a"] = ["big": 1.5]
    #expect(try text(values, over: file).contains(#""big": 1.5"#))
  }

  @Test func `a dictionary that looks like the text of JSON is read back`() throws {
    let values: [String: PreferenceValue] = [
      "a": ["$json": "null"], "b": ["$json": "[1]"], "c": ["$members": "x"], "d": ["$json": 1],
      "e": ["$date": "text"], "f": ["$date": 1], "g": ["$$date": "text"], "h": ["$json": "[1,null]"],
    ]
    #expect(try read(try text(values, over: "{}")) == values)
  }

  @Test(arguments: [#"1, \"admin\": true"#, "null", "]", "1e0", "nan"])
  func `no dictionary stands for text that is not checked`(member: String) throws {
    let file = #"{"a": {"$json\u0000": "\#(member)"}, "b": 1, "c": {"d": {"$json\u0000": "\#(member)"}}}"#
    var values = try read(file)
    #expect(try read(try text(values, over: "{}")) == values)
    values["b"] = 2
    let written = try text(values, over: file)
    #expect(written.filter { !$0.isWhitespace } == file.replacing("1, \"c", with: "2, \"c").filter { !$0.isWhitespace })
    values["a"] = nil
    values["c"] = ["d": 1.0]
    #expect(try text(values, over: file).filter { !$0.isWhitespace } == #"{"b":2,"c":{"d":1.0}}"#)
    values["c"] = ["d": .double(.nan)]
    #expect(try text(values, over: file).filter { !$0.isWhitespace } == #"{"b":2,"c":{"d":{"$double":"nan"}}}"#)
  }
}

extension Sequence<UInt8> {
  fileprivate func contains(_ part: some Sequence<UInt8>) -> Bool {
    let (all, part) = (Array(self), Array(part))
    return all.indices.contains { all[$0...].starts(with: part) }
  }
}
