import FoundationEssentials
import Preferences
import Testing

struct JSONPreferencesTests {
  /// What a file of `text` reads as.
  func read(_ text: String) throws -> DictionaryPreferences { try read(Data(text.utf8)) }

  func read(_ data: Data) throws -> DictionaryPreferences {
    DictionaryPreferences(try JSONFormat().values(from: Array(data)))
  }

  func code(_ text: String) -> PreferencesError.Code? {
    let error = preferencesError { _ = try JSONFormat().values(from: Array(text.utf8)) }
    #expect(error?.description.contains(sentinel) != true)
    return error?.code
  }

  @Test func `item 4: true, 1 and 1.0 are a bool, an integer and a double`() throws {
    let layer = try read(
      "{\"a\": true, \"b\": 1, \"c\": 1.0, \"d\": 1e0, \"e\": -0, \"f\": -0.0, \"g\": 18446744073709551615}")
    #expect(try layer.value(forKey: "a") == .bool(true))
    #expect(try layer.value(forKey: "b") == .integer(1))
    #expect(try layer.value(forKey: "c") == .double(1))
    #expect(try layer.value(forKey: "d") == .double(1))
    #expect(try layer.value(forKey: "e") == .integer(0))
    #expect(try layer.double(forKey: "f")?.sign == .minus)
    #expect(try layer.value(forKey: "g") == .unsignedInteger(.max))
  }

  @Test func `what people write is read`() throws {
    let layer = try read(
      """
      \u{FEFF} {"$schema": "s", "text": "\\"\\\\\\/\\b\\f\\n\\r\\t\\u00e9\\uD83E\\uDD8A", "none": null,
       "list": [1, [2.5, "x"], {}], "server": {"port": 8080, "$ref": {"$url": "https://a.example"}}}
      """)
    #expect(try layer.string(forKey: "$schema") == "s")
    #expect(try layer.string(forKey: "text") == "\"\\/\u{8}\u{C}\n\r\té🦊")
    #expect(try layer.value(forKey: "none") == nil)
    #expect(try layer.value(forKey: "list") == [1, [2.5, "x"], [:]])
    #expect(
      try layer.value(forKey: "server") == ["port": 8080, "$ref": .url(try #require(URL(string: "https://a.example")))])
  }

  @Test func `a file is written for people, in the order of the names`() throws {
    let values: [String: PreferenceValue] = [
      "b": [1, 1.0, "/"], "a": ["x": true, "$ref": [:]], "c": .unsignedInteger(1), "d": [],
    ]
    #expect(
      String(decoding: try JSONFormat().bytes(of: values, replacing: nil), as: UTF8.self) == """
        {
          "a": {
            "$ref": {},
            "x": true
          },
          "b": [
            1,
            1.0,
            "/"
          ],
          "c": 1,
          "d": []
        }

        """)
  }

  @Test func `Foundation reads what is written`() throws {
    struct Values: Decodable, Equatable {
      var text = "\"\\\n\t\u{1} é🦊\u{2028}"
      var number = Int64.min
      var double = 0.1
      var flag = false
    }
    let values = Values()
    let bytes = try JSONFormat().bytes(
      of: ["text": .string(values.text), "number": .integer(.min), "double": 0.1, "flag": false], replacing: nil)
    #expect(try JSONDecoder().decode(Values.self, from: Data(bytes)) == values)
  }

  @Test func `one value is one line`() throws {
    let value: PreferenceValue = [1, 1.0, "a/\n", ["b": .unsignedInteger(1), "a": []], .double(-.infinity)]
    let text = try JSONFormat.text(of: value)
    #expect(String(decoding: text, as: UTF8.self) == #"[1,1.0,"a/\n",{"a":[],"b":{"$unsigned":1}},{"$double":"-inf"}]"#)
    #expect(try JSONFormat.value(of: text) == value)
  }

  static let spellings: [(text: String, value: PreferenceValue)] = [
    (#"{"$date":1}"#, .date(Date(timeIntervalSinceReferenceDate: 1))),
    (#" {"$double" : 1} "#, 1.0), (#"{"$double":2.5}"#, 2.5), (#"{"$other":1}"#, ["$other": 1]),
    ("18446744073709551615", .unsignedInteger(.max)),
  ]

  @Test(arguments: spellings)
  func `a text in a different spelling is the same value`(text: String, value: PreferenceValue) throws {
    #expect(try JSONFormat.value(of: Array(text.utf8)) == value)
  }

  @Test func `a negative zero is marked or plain`() throws {
    for text in [#"{"$double":"-0"}"#, "-0.0"] {
      guard case .double(let zero) = try JSONFormat.value(of: Array(text.utf8)) else {
        Issue.record("not a double")
        continue
      }
      #expect(zero == 0 && zero.sign == .minus)
    }
  }

  @Test(arguments: ["null", "[null]", #"{"a":null}"#, #"[{"a":null}]"#, "", "1 2", "[]]"])
  func `a text with null or more than one value is refused`(text: String) {
    #expect(throws: PreferencesError.self) { try JSONFormat.value(of: Array(text.utf8)) }
  }

  static let malformed = [
    "", " ", "[]", "1", "\(sentinel)", "{", "{}x", "{}{}", "{\"a\"}", "{\"a\":}", "{\"a\":1,}", "{,}", "{a:1}",
    "{'a':1}",
    "{\"a\":1,\"a\":2}", "{\"a\":null,\"a\":2}", "{\"a\":01}", "{\"a\":+1}", "{\"a\":.5}", "{\"a\":1.}", "{\"a\":1e}",
    "{\"a\":-}", "{\"a\":NaN}",
    "{\"a\":tru}", "{\"a\":truex}", "{\"a\":[1,]}", "{\"a\":[1}", "{\"a\":\"\(sentinel)}",
    "{\"a\":\"\u{1}\"}", "{\"a\":\"\n\"}", "{\"a\":\"\\x\"}", "{\"a\":\"\\u12\"}", "{\"a\":\"\\uD800\"}",
    "{\"a\":\"\\uD800\\u0041\"}", "{\"a\":\"\\uDC00\"}", "{\"a\":\"\\u+041\"}", "{\"a\":1}//",
    "{\u{A0}}", "{\"a\":1\u{0}}",
  ]

  @Test(arguments: malformed)
  func `malformed JSON is refused`(text: String) {
    #expect(code(text) == .malformed)
  }

  @Test func `text that is not UTF-8 is refused`() {
    let bytes: [UInt8] = Array("{\"a\":\"".utf8) + [0xC3] + Array("\"}".utf8)
    #expect(preferencesError { _ = try JSONFormat().values(from: bytes) }?.code == .malformed)
  }

  @Test func `nesting is bounded`() {
    func nested(_ depth: Int) -> String {
      "{\"a\":" + String(repeating: "[", count: depth) + String(repeating: "]", count: depth) + "}"
    }
    #expect(code(nested(128)) == nil)
    #expect(code(nested(129)) == .limitExceeded)
    #expect(code(nested(1_000_000)) == .limitExceeded)
  }

  @Test func `no truncation of a file reads as another`() throws {
    let bytes = try JSONFormat().bytes(of: FilePreferencesTests.values, replacing: nil)
    for count in 0..<(bytes.count - 2) {
      #expect(preferencesError { _ = try JSONFormat().values(from: Array(bytes.prefix(count))) }?.code == .malformed)
    }
  }
}
