import FoundationEssentials

/// Lists and dictionaries as JSON text (annex E): `values.json`.
///
/// A value is written with its type: `["integer", "5"]`, `["data", "00ff"]`, `["array", […]]`.
enum ValueTextVectors {
  private struct Vector {
    let name: String
    let about: String
    let text: Bytes
    /// `nil` for a text that is refused as `typeMismatch`.
    let value: JSON?
    /// Whether a writer makes exactly this text of the value.
    var isWritten = false

    var json: JSON {
      var members: [(String, JSON)] = [
        ("name", .text(name)), ("about", .text(about)), ("text", .text(text.hexadecimal)),
      ]
      if let value { members.append(("value", value)) } else { members.append(("error", .text("typeMismatch"))) }
      if isWritten { members.append(("written", .bool(true))) }
      return .object(members)
    }
  }

  static func write(to directory: String) throws {
    let json = JSON.object([
      ("format", .number(1)), ("values", .list((written + read + refused + marks + nesting).map(\.json))),
    ])
    try Data((json.written() + "\n").utf8).write(to: URL(filePath: directory + "/values.json"))
  }

  // MARK: What a writer makes

  private static var written: [Vector] {
    [
      exact("list-empty", "[]", array()), exact("dictionary-empty", "{}", dictionary()),
      exact(
        "plain", #"["s",true,false,-1,1.5]"#, array(string("s"), bool(true), bool(false), integer("-1"), double(1.5))),
      exact(
        "data", #"[{"$data":"AP/+"},{"$data":""},{"$data":"AA=="}]"#, array(data([0, 0xFF, 0xFE]), data([]), data([0]))),
      exact("date", #"[{"$date":1.5}]"#, array(date(1.5))),
      exact("url", #"[{"$url":"https://example.com/?a=b"}]"#, array(url("https://example.com/?a=b"))),
      exact(
        "unsigned", #"[{"$unsigned":0},{"$unsigned":9223372036854775807},9223372036854775808,18446744073709551615]"#,
        array(
          unsigned("0"), unsigned("9223372036854775807"), unsigned("9223372036854775808"),
          unsigned("18446744073709551615"))),
      exact(
        "integers", "[-9223372036854775808,9223372036854775807,0]",
        array(integer("-9223372036854775808"), integer("9223372036854775807"), integer("0"))),
      exact(
        "double", #"[{"$double":"nan"},{"$double":"inf"},{"$double":"-inf"},5.0]"#,
        array(double(.nan), double(.infinity), double(-.infinity), double(5))),
      exact("name-escaped", #"{"$$url":1}"#, dictionary(("$url", integer("1")))),
      exact(
        "name-escaped-twice", #"{"$$$data":{"$$$data":1}}"#,
        dictionary(("$$data", dictionary(("$$data", integer("1")))))),
      exact(
        "name-other", #"[{"$schema":1},{"$":2},{"url":3}]"#,
        array(dictionary(("$schema", integer("1"))), dictionary(("$", integer("2"))), dictionary(("url", integer("3"))))
      ),
      exact("name-beside", #"{"$url":1,"a":2}"#, dictionary(("$url", integer("1")), ("a", integer("2")))),
    ]
  }

  // MARK: What a reader takes besides

  private static var read: [Vector] {
    [
      opens("spaces", " [ 1 ,\t2\r\n]\n", array(integer("1"), integer("2"))),
      opens("byte-order-mark", "\u{FEFF}[1]", array(integer("1"))),
      opens("double-exponent", "[1e0,1E+1,-0.0]", array(double(1), double(10), double(-0.0))),
      opens(
        "double-member", #"[{"$double":5},{"$double":0.5},{"$double":"-0"}]"#,
        array(double(5), double(0.5), double(-0.0))),
      opens("date-integer", #"[{"$date":-5}]"#, array(date(-5))),
      opens("escapes", #"["\u0041\ud83d\udd11\/\n"]"#, array(string("A\u{1F511}/\n"))),
      opens("member-escaped", #"[{"\u0024data":"AA=="}]"#, array(data([0]))),
    ]
  }

  // MARK: What a reader refuses

  private static var refused: [Vector] {
    [
      refuses("empty", ""), refuses("null", "[null]"), refuses("null-member", #"{"a":null}"#),
      refuses("null-alone", "null"),
      refuses("not-utf-8", "", bytes: Bytes("[\"") + [0xFF] + Bytes("\"]")), refuses("behind", "[1] 2"),
      refuses("open", "[1"), refuses("comma", "[1,]"), refuses("name-twice", #"{"a":1,"a":1}"#),
      refuses("name-twice-escaped", #"{"a":1,"\u0061":2}"#), refuses("single-quotes", "['a']"),
      refuses("zero-in-front", "[01]"), refuses("plus", "[+1]"), refuses("point-in-front", "[.5]"),
      refuses("point-behind", "[1.]"), refuses("not-a-number", "[NaN]"),
      refuses("integer-beyond", "[18446744073709551616]"),
      refuses("integer-below", "[-9223372036854775809]"), refuses("double-beyond", "[1e999]"),
      refuses("double-vanishing", "[0.1e-400]"),
      refuses("half-a-pair", #"["\ud83d"]"#), refuses("control", "[\"\n\"]"), refuses("escape", #"["\x41"]"#),
      refuses("comment", "[1/**/]"),
    ]
  }

  private static var marks: [Vector] {
    [
      refuses("data-number", #"[{"$data":5}]"#), refuses("data-text", #"[{"$data":"%"}]"#),
      refuses("data-unpadded", #"[{"$data":"AA"}]"#), refuses("data-url-digits", #"[{"$data":"_-8="}]"#),
      refuses("data-space", #"[{"$data":"AA ="}]"#), refuses("data-line-end", #"[{"$data":"AA==\n"}]"#),
      refuses("data-unused-bits", #"[{"$data":"AB=="}]"#),
      refuses("date-text", #"[{"$date":"2020-01-01T00:00:00Z"}]"#),
      refuses("date-inf", #"[{"$date":{"$double":"inf"}}]"#),
      refuses("url-number", #"[{"$url":5}]"#), refuses("url-space", #"[{"$url":"http://a b"}]"#),
      refuses("url-empty", #"[{"$url":""}]"#),
      refuses("unsigned-negative", #"[{"$unsigned":-1}]"#), refuses("unsigned-double", #"[{"$unsigned":1.0}]"#),
      refuses("unsigned-2-63", #"[{"$unsigned":9223372036854775808}]"#),
      refuses("unsigned-text", #"[{"$unsigned":"1"}]"#),
      refuses("double-text", #"[{"$double":"1.5"}]"#), refuses("double-infinity", #"[{"$double":"Infinity"}]"#),
      refuses("double-bool", #"[{"$double":true}]"#), refuses("member-null", #"[{"$data":null}]"#),
      refuses("member-nested", #"{"a":[{"b":{"$date":true}}]}"#), refuses("alone", #"{"$data":1}"#),
    ]
  }

  private static var nesting: [Vector] {
    func nested(_ levels: Int) -> String {
      String(repeating: "[", count: levels) + "1" + String(repeating: "]", count: levels)
    }
    var value = integer("1")
    for _ in 0..<128 { value = array(value) }
    return [
      opens("levels-128", nested(128), value), refuses("levels-129", nested(129)),
      refuses("levels-10000", String(repeating: "[", count: 10_000)),
    ]
  }

  // MARK: Values

  private static func string(_ text: String) -> JSON { .list([.text("string"), .text(text)]) }
  private static func bool(_ flag: Bool) -> JSON { .list([.text("bool"), .bool(flag)]) }
  private static func integer(_ digits: String) -> JSON { .list([.text("integer"), .text(digits)]) }
  private static func unsigned(_ digits: String) -> JSON { .list([.text("unsigned"), .text(digits)]) }
  /// By its bits.
  private static func double(_ number: Double) -> JSON { .list([.text("double"), .text(bits(number))]) }
  private static func date(_ seconds: Double) -> JSON { .list([.text("date"), .text(bits(seconds))]) }
  private static func data(_ bytes: Bytes) -> JSON { .list([.text("data"), .text(bytes.hexadecimal)]) }
  private static func url(_ text: String) -> JSON { .list([.text("url"), .text(text)]) }
  private static func array(_ items: JSON...) -> JSON { .list([.text("array"), .list(items)]) }
  private static func dictionary(_ members: (String, JSON)...) -> JSON {
    .list([.text("dictionary"), .object(members)])
  }

  private static func bits(_ number: Double) -> String {
    Bytes(Bytes.integer(number.bitPattern).reversed()).hexadecimal
  }

  private static func exact(_ name: String, _ text: String, _ value: JSON) -> Vector {
    Vector(name: name, about: "what a writer makes", text: Bytes(text), value: value, isWritten: true)
  }

  private static func opens(_ name: String, _ text: String, _ value: JSON) -> Vector {
    Vector(name: name, about: "what a reader takes, too", text: Bytes(text), value: value)
  }

  private static func refuses(_ name: String, _ text: String, bytes: Bytes? = nil) -> Vector {
    Vector(name: name, about: "what a reader refuses", text: bytes ?? Bytes(text), value: nil)
  }
}
