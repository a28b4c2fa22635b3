import FoundationEssentials
import Preferences
import Testing

struct PreferenceValueTests {
  static let samples: [(PreferenceValue.Kind, PreferenceValue)] = [
    (.string, "text"),
    (.data, .data(Data([1, 2]))),
    (.bool, true),
    (.integer, 1),
    (.unsignedInteger, .unsignedInteger(1)),
    (.double, 1.0),
    (.date, .date(Date(timeIntervalSinceReferenceDate: 0))),
    (.url, .url(URL(filePath: "/tmp"))),
    (.array, [1, "two", 3.0]),
    (.dictionary, ["one": 1, "nested": ["two": false]]),
  ]

  @Test(arguments: samples)
  func `a value knows its kind`(kind: PreferenceValue.Kind, value: PreferenceValue) {
    #expect(value.kind == kind)
    #expect(value == value)
  }

  @Test func `there is a sample of every kind`() {
    #expect(Self.samples.map(\.0) == PreferenceValue.Kind.allCases)
  }

  @Test func `true, 1, unsigned 1 and 1.0 are four values`() {
    let values: Set<PreferenceValue> = [true, 1, .unsignedInteger(1), 1.0]
    #expect(values.count == 4)
  }

  @Test func `literals become the kind they look like`() {
    #expect(
      ["a": [1, 1.5, true, "x"]] as PreferenceValue
        == .dictionary(["a": .array([.integer(1), .double(1.5), .bool(true), .string("x")])]))
  }

  @Test func `of a repeated key in a literal the last value counts`() {
    #expect(["a": 1, "a": 2] as PreferenceValue == ["a": 2])
  }

  @Test func `a value prints as its kind and content`() throws {
    #expect("\(PreferenceValue.string("a\"b"))" == #"string("a\"b")"#)
    #expect("\(PreferenceValue.unsignedInteger(.max))" == "unsignedInteger(18446744073709551615)")
    #expect("\(PreferenceValue.data(Data([1, 2])))" == "data(2 bytes)")
    #expect("\(["a", 1] as PreferenceValue)" == #"array([string("a"), integer(1)])"#)
    #expect("\(["k": true] as PreferenceValue)" == #"dictionary(["k": bool(true)])"#)
    #expect(dumped(["k": [1]] as PreferenceValue).contains("integer(1)"))
  }

  @Test(arguments: [Double.nan, .infinity, -.infinity, .greatestFiniteMagnitude, 1e300, -1e19, 1e12])
  func `any date prints, at the end of time, too`(seconds: Double) {
    let value = PreferenceValue.date(Date(timeIntervalSinceReferenceDate: seconds))
    for text in ["\(value)", String(reflecting: value), dumped(value), dumped(["k": [value]] as PreferenceValue)] {
      #expect(text.contains("\(seconds) s from 2001"))
    }
  }
}
