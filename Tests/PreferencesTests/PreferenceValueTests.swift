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
}
