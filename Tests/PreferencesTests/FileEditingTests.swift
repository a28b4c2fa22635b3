import FoundationEssentials
import Preferences
import Testing

/// What a write changes in the text of a file: the values that it writes, and no other byte.
struct FileEditingTests {
  struct Case: Sendable, CustomTestStringConvertible {
    var testDescription: String
    var old: String
    var edit: @Sendable (any PreferencesStore) throws -> Void
    var new: String

    init(
      _ name: String, _ old: String, _ edit: @escaping @Sendable (any PreferencesStore) throws -> Void, _ new: String
    ) {
      testDescription = name
      self.old = old
      self.edit = edit
      self.new = new
    }
  }

  private func expect(_ test: Case, _ open: (String) throws -> any PreferencesStore) throws {
    try withTemporaryFolder { folder in
      let url = URL(filePath: folder + "/a")
      try Data(test.old.utf8).write(to: url)
      try test.edit(open(url.path))
      let new = String(decoding: try Data(contentsOf: url), as: UTF8.self)
      #expect(new == test.new)
      // Also the composition of letters.
      #expect(new.utf8.elementsEqual(test.new.utf8))
    }
  }

  static let json = [
    Case("null and order", #"{"z":null,"b":true}"#, { try $0.set(false, forKey: "b") }, #"{"z":null,"b":false}"#),
    Case(
      "spellings of numbers and texts",
      "{ \"n\": 1e3,\r\n\t\"t\": \"\\u0041\\/\", \"u\": 1E+2, \"big\": 12345678901234567890123, \"b\": 1 }",
      { try $0.set(2, forKey: "b") },
      "{ \"n\": 1e3,\r\n\t\"t\": \"\\u0041\\/\", \"u\": 1E+2, \"big\": 12345678901234567890123, \"b\": 2 }"),
    Case(
      "a byte order mark, and blanks around", "\u{FEFF} {\"a\" : [1.50,null], \"b\":1 }\n\n",
      { try $0.set("x", forKey: "b") }, "\u{FEFF} {\"a\" : [1.50,null], \"b\":\"x\" }\n\n"),
    Case(
      "a nested value", "{\n    \"s\": {\"port\": 80, \"host\": null},\n    \"a\": 1.0\n}",
      { try $0.set(81, forKey: "s.port") }, "{\n    \"s\": {\"port\": 81, \"host\": null},\n    \"a\": 1.0\n}"),
    Case(
      "a new name in a file in no order", "{\n    \"z\": 1.0,\n    \"b\": {\"x\":1}\n}\n",
      { try $0.set([1, ["k": true]], forKey: "c") },
      """
      {
          "z": 1.0,
          "b": {"x":1},
          "c": [
              1,
              {
                  "k": true
              }
          ]
      }

      """),
    Case(
      "a new name among names in order", "{\r\n\t\"a\":1.0,\r\n\t\"c\":null\r\n}\r\n",
      { try $0.set(["x"], forKey: "b") },
      "{\r\n\t\"a\":1.0,\r\n\t\"b\":[\r\n\t\t\"x\"\r\n\t],\r\n\t\"c\":null\r\n}\r\n"),
    Case(
      "a new name before the first", "{\n  \"b\": 1.0\n}", { try $0.set(1, forKey: "a") },
      "{\n  \"a\": 1,\n  \"b\": 1.0\n}"),
    Case(
      "a new name in one line", #"{"b":1.0, "a":2}"#, { try $0.set([1, 2], forKey: "c") },
      #"{"b":1.0, "a":2, "c":[1,2]}"#),
    Case("the first name", "{}", { try $0.set(1, forKey: "a") }, "{\n  \"a\": 1\n}"),
    Case(
      "a new name in a dictionary", #"{"z":1.0,"s":{"b":1e0,"a":null}}"#, { try $0.set("x", forKey: "s.c") },
      #"{"z":1.0,"s":{"b":1e0,"a":null,"c":"x"}}"#),
    Case("null gets a value", #"{"z":null,"b":1.0}"#, { try $0.set("", forKey: "z") }, #"{"z":"","b":1.0}"#),
    Case("a removal at the beginning", #"{ "z":1, "b":1.0 }"#, { try $0.removeValue(forKey: "z") }, #"{ "b":1.0 }"#),
    Case("a removal in between", #"{"z":1,"b":1.0, "c":2}"#, { try $0.removeValue(forKey: "b") }, #"{"z":1, "c":2}"#),
    Case(
      "a removal at the end", "{\n \"z\":1.0,\n \"b\":1\n}", { try $0.removeValue(forKey: "b") }, "{\n \"z\":1.0\n}"),
    Case("a removal of everything", #"{ "z":1 }"#, { try $0.removeValue(forKey: "z") }, "{}"),
    Case(
      "several at once", #"{"d":1.0,"a":1,"b":2e0,"c":3}"#,
      {
        try $0.edit { edits in
          try edits.set(true, forKey: "a")
          edits.append(.init(try PreferenceName("c"), to: nil))
          try edits.set("e", forKey: "e")
        }
      }, #"{"d":1.0,"a":true,"b":2e0,"e":"e"}"#),
    Case(
      "an element of a list", #"{"l":[1.0, 2,  3e0]}"#,
      { try $0.set([1.0, "x", 3.0] as PreferenceValue, forKey: "l") },
      #"{"l":[1.0, "x",  3e0]}"#),
    Case(
      "more elements", #"{"l":[1.0, 2e0]}"#, { try $0.set([1.0, 2.0, 4, 5] as PreferenceValue, forKey: "l") },
      #"{"l":[1.0, 2e0, 4, 5]}"#),
    Case(
      "fewer elements", #"{"l":[1.0, 2e0,  3e0]}"#, { try $0.set([3.0] as PreferenceValue, forKey: "l") },
      #"{"l":[3e0]}"#),
    Case("the same value", #"{"z":null,"n":1e3}"#, { try $0.set(1000.0, forKey: "n") }, #"{"z":null,"n":1e3}"#),
    Case(
      "marks of this package and of others", #"{"d":{"$date":1},"o":{"$date":"x"},"u":{"$url":"a"},"b":1}"#,
      { try $0.set(2, forKey: "b") }, #"{"d":{"$date":1},"o":{"$date":"x"},"u":{"$url":"a"},"b":2}"#),
    Case(
      "a dictionary that looks like a mark", #"{"s":{"$ref":"x"},"b":1.0}"#, { try $0.set("y", forKey: "s.a") },
      #"{"s":{"$ref":"x","a":"y"},"b":1.0}"#),
    Case(
      "names that are equal", "{\"\u{E9}\":1,\"e\u{301}\":2.50,\"b\":1}", { try $0.set(2, forKey: "b") },
      "{\"\u{E9}\":1,\"e\u{301}\":2.50,\"b\":2}"),
    Case(
      "a name in a new composition", "{\"z\":1e3,\"d\":{\"\u{E9}\":1,\"b\":2.50}}",
      { try $0.set(["e\u{301}": 1, "b": 2.5] as PreferenceValue, forKey: "d") },
      "{\"z\":1e3,\"d\":{\"e\u{301}\":1,\"b\":2.50}}"),
  ]

  @Test(arguments: json)
  func `a write to a JSON file keeps the other bytes`(test: Case) throws {
    try expect(test) { try JSONPreferences(at: $0) }
  }

  private static func list(_ body: String) -> String {
    """
    <?xml version="1.0"?>
    <!-- of the operator -->
    <plist version='1.0'>
    <dict>\(body)
    </dict>
    </plist>
    <!-- the end -->
    """
  }

  static let xml = [
    Case(
      "comments, order and spellings",
      list("\n  <!-- z --><key>z</key> <integer>+1</integer>\n  <key>b</key><!-- on --><true/>\n  <?x y?>"),
      { try $0.set(false, forKey: "b") },
      list("\n  <!-- z --><key>z</key> <integer>+1</integer>\n  <key>b</key><!-- on --><false/>\n  <?x y?>")),
    Case(
      "a new name", list("\n  <key>z</key>\n  <real>1e3</real>\n  <key>b</key>\n  <string><![CDATA[<]]></string>"),
      { try $0.set(["x"], forKey: "a") },
      list(
        """

          <key>z</key>
          <real>1e3</real>
          <key>b</key>
          <string><![CDATA[<]]></string>
          <key>a</key>
          <array>
            <string>x</string>
          </array>
        """)),
    Case(
      "a new name among names in order, before a comment",
      list("\n\t<key>a</key>\n\t<real>1.0</real>\n\t<!-- c -->\n\t<key>c</key>\n\t<true/>"),
      { try $0.set(1, forKey: "b") },
      list(
        "\n\t<key>a</key>\n\t<real>1.0</real>\n\t<key>b</key>\n\t<integer>1</integer>\n\t<!-- c -->"
          + "\n\t<key>c</key>\n\t<true/>")),
    Case(
      "a removal keeps the comments",
      list("\n\t<!-- a -->\n\t<key>a</key>\n\t<true/>\n\t<!-- b -->\n\t<key>b</key>\n\t<real>1.0</real>"),
      { try $0.removeValue(forKey: "a") },
      list("\n\t<!-- a -->\n\t<!-- b -->\n\t<key>b</key>\n\t<real>1.0</real>")),
    Case(
      "a nested value",
      list("\n\t<key>s</key>\n\t<dict>\n\t\t<!-- p -->\n\t\t<key>port</key>\n\t\t<integer>0x50</integer>\n\t</dict>"),
      { try $0.set("h", forKey: "s.host") },
      list(
        "\n\t<key>s</key>\n\t<dict>\n\t\t<key>host</key>\n\t\t<string>h</string>\n\t\t<!-- p -->\n\t\t<key>port</key>"
          + "\n\t\t<integer>0x50</integer>\n\t</dict>")),
    Case(
      "an element of a list", list("<key>l</key><array><!-- 1 --><real>1.0</real> <true/></array>"),
      { try $0.set([1.0, false] as PreferenceValue, forKey: "l") },
      list("<key>l</key><array><!-- 1 --><real>1.0</real> <false/></array>")),
    Case(
      "a file with nothing but a comment", list("<!-- empty -->"), { try $0.set(1, forKey: "a") },
      list("\n\t<key>a</key>\n\t<integer>1</integer><!-- empty -->")),
  ]

  @Test(arguments: xml)
  func `a write to an XML property list keeps the other bytes`(test: Case) throws {
    try expect(test) { try PropertyListPreferences(at: $0) }
  }

  @Test(arguments: [
    "// c\n{\"a\":1}", "{// c\n\"a\":1}", "{\"a\":/* c */1}", "{\"a\":1 // c\n}", "{\"a\":[1, /* c */ 2]}",
    "{\"a\":1}\n// c", "{\"a\":1,\n# c\n\"b\":2}",
  ])
  func `a JSON file with a comment is refused, with the reason, and stays`(text: String) throws {
    try withTemporaryFolder { folder in
      let url = URL(filePath: folder + "/a")
      try Data("{}".utf8).write(to: url)
      let store = try JSONPreferences(at: url.path)
      try Data(text.utf8).write(to: url)
      let error = preferencesError { try store.set(2, forKey: "a") }
      #expect(error?.code == .malformed)
      #expect(error?.message.contains("a comment, which JSON does not have") == true)
      #expect(try Data(contentsOf: url) == Data(text.utf8))
    }
  }

  static let plain: [(value: PreferenceValue, json: String, xml: String)] = [
    (
      .date(Date(timeIntervalSinceReferenceDate: 725_857_445)), #""2024-01-02T03:04:05Z""#,
      "<date>2024-01-02T03:04:05Z</date>"
    ),
    (
      .date(Date(timeIntervalSinceReferenceDate: 725_857_445.25)), #""2024-01-02T03:04:05.250Z""#,
      "<string>2024-01-02T03:04:05.250Z</string>"
    ),
    (
      .date(Date(timeIntervalSinceReferenceDate: 785_829_162.123456)), #""2025-11-26T05:52:42.123456Z""#,
      "<string>2025-11-26T05:52:42.123456Z</string>"
    ),
    (
      .url(URL(string: "https://a.example/b?c=%20d&e")!), #""https://a.example/b?c=%20d&e""#,
      "<string>https://a.example/b?c=%20d&amp;e</string>"
    ),
    (.unsignedInteger(7), "7", "<integer>7</integer>"),
    (.data(Data([1, 2])), #"{"$data": "AQI="}"#, "<data>AQI=</data>"),
  ]

  @Test(arguments: plain)
  func `what a format lacks is written as other programs write it, and a key reads it back`(
    value: PreferenceValue, json: String, xml: String
  ) throws {
    try withTemporaryFolder { folder in
      func text(_ name: String) throws -> String {
        let text = String(decoding: try Data(contentsOf: URL(filePath: folder + name)), as: UTF8.self)
        return text.split(separator: "\n").map { $0.drop { " \t".contains($0) } }.joined()
      }
      let stores: [any PreferencesStore] = [
        try JSONPreferences(at: folder + "/a.json", options: .creating),
        try PropertyListPreferences(at: folder + "/a.plist", options: .creating),
      ]
      for store in stores {
        try store.set(value, forKey: "k")
        try store.set([value], forKey: "l")
        // Compared in the form in which the file has it.
        let edit = PreferenceEdits.Edit(
          try PreferenceName("l"), to: .value([value, value]), if: .ifStored(.value([value])))
        #expect(try store.edit(PreferenceEdits([edit])) == .visible)
      }
      #expect(try text("/a.json").contains(#""k": "# + json))
      #expect(try text("/a.plist").contains("<key>k</key>" + xml))
    }
  }

  @Test func `typed keys read dates and URLs at any depth, and an update of a list ends`() throws {
    let day = Date(timeIntervalSinceReferenceDate: 725_857_445.5)
    let url = try #require(URL(string: "https://a.example"))
    try withTemporaryFolder { folder in
      for path in ["/a.json", "/a.plist"] {
        let store: any PreferencesStore =
          path == "/a.json"
          ? try JSONPreferences(at: folder + path, options: .creating)
          : try PropertyListPreferences(at: folder + path, options: .creating)
        let days = PreferenceKey<[Date]>("days", default: [])
        let links = PreferenceKey<[String: URL]>("links", default: [:])
        let count = PreferenceKey<UInt>("count", default: 0)
        try store.set([day], for: days)
        try store.update(days) { $0.append(day) }
        try store.set(["a": url], for: links)
        try store.update(count) { $0 += 1 }
        #expect(try store.value(for: days) == [day, day])
        #expect(try store.value(for: links) == ["a": url])
        #expect(try store.value(for: count) == 1)
      }
    }
  }

  /// Files with members in random order, spelling and layout, of which one is changed or removed.
  @Test(arguments: 0..<200)
  func `a write to a file of any layout changes one value`(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let values = [
      "null", "1e3", "1.0", "-0", "\"\\u00e9\"", "[ 1,null ]", "{ \"x\" : null }", "[]", "{}", "\"}],\\\"\"", "1E-2",
      "123456789012345678901234567890", "{\"$date\":\"x\"}", "[{\"a\":[1.50]}, \"\"]", "true",
    ]
    let blanks = ["", " ", "\n", "\n  ", "\r\n\t", "  \n\n "]
    func blank() -> String { blanks.randomElement(using: &random) ?? "" }
    let count = Int.random(in: 1...6, using: &random)
    var members = (0..<count).map { _ in
      let value = values.randomElement(using: &random) ?? "1"
      return (lead: blank(), gap: blank() + ":" + blank(), value: value, end: blank())
    }
    let names = (0..<count).map { "k\($0)" }.shuffled(using: &random)
    let tail = blank()
    func text() -> String {
      let all = zip(names, members).map { "\($1.lead)\"\($0)\"\($1.gap)\($1.value)\($1.end)" }
      return tail + "{" + all.joined(separator: ",") + "}" + tail
    }
    try withTemporaryFolder { folder in
      let url = URL(filePath: folder + "/a")
      try Data(text().utf8).write(to: url)
      let store = try JSONPreferences(at: url.path)
      let place = Int.random(in: 0..<count, using: &random)
      try store.set("new \(seed)", forKey: names[place])
      members[place].value = "\"new \(seed)\""
      #expect(String(decoding: try Data(contentsOf: url), as: UTF8.self) == text())
    }
  }
}
