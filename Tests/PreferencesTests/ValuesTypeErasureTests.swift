import FoundationEssentials
import Preferences
import Testing

struct ValuesTypeErasureTests {
  @Test func `item 56: every literal is the value it looks like`() {
    let values: [PreferenceValue] = ["a", 1, 1.5, true, [1, "a"], ["k": 1]]
    #expect(values.map(\.kind) == [.string, .integer, .double, .bool, .array, .dictionary])
  }

  @Test func `item 56: a value is read as its type, and as no other`() {
    let value: PreferenceValue = 5
    #expect(value.as(Int.self) == 5)
    #expect(value.as(UInt8.self) == 5)
    #expect(value.as(Double.self) == 5)
    #expect(value.as(String.self) == nil)
    #expect(value.as(Bool.self) == nil)
    #expect(PreferenceValue.integer(300).as(UInt8.self) == nil)
    #expect((["a": [1, 2]] as PreferenceValue).as([String: [Int]].self) == ["a": [1, 2]])
  }

  @Test func `item 56: a value is made of any type that can be stored`() {
    #expect(PreferenceValue(UInt8(7)) == .unsignedInteger(7))
    #expect(PreferenceValue([1, 2]) == [1, 2])
    #expect(PreferenceValue(1..<3) == [1, 3])
  }

  @Test func `item 56: a value can become another, of another kind`() {
    var value: PreferenceValue = 5
    value.set("five")
    #expect(value == "five")
    value.set([true])
    #expect(value == [true])
  }

  @Test func `item 56: parts of a value are reached, and what is not there is nil`() {
    let value: PreferenceValue = ["hosts": ["a", "b"]]
    #expect(value["hosts"]?[1]?.as(String.self) == "b")
    #expect(value["hosts"]?[2] == nil)
    #expect(value["hosts"]?[-1] == nil)
    #expect(value["ports"] == nil)
    #expect(value[0] == nil)
    #expect(value["hosts"]?["a"] == nil)
  }

  @Test func `item 56: zero and minus zero are one value with one hash`() {
    #expect(PreferenceValue.double(0.0) == .double(-0.0))
    #expect(PreferenceValue.double(0.0).hashValue == PreferenceValue.double(-0.0).hashValue)
    #expect(Set<PreferenceValue>([0.0, -0.0]).count == 1)
  }

  @Test func `item 56: NaN is not equal to itself`() {
    #expect(PreferenceValue.double(.nan) != .double(.nan))
    #expect(!Set<PreferenceValue>([.double(.nan)]).contains(.double(.nan)))
  }

  @Test func `item 56: equal values of every kind have one hash`() {
    // Made anew, from bytes, so that nothing is shared.
    func made() -> [PreferenceValue] {
      [
        .string(String(decoding: [0xC3, 0xA9], as: UTF8.self)), .data(Data([1, 2])), .bool(true), .integer(1),
        .unsignedInteger(1), .double(1), .date(Date(timeIntervalSinceReferenceDate: 1)), .url(URL(filePath: "/a")),
        .array([.string("a"), .integer(1)]), .dictionary(["a": .integer(1), "b": .integer(2)]),
      ]
    }
    #expect(made() == made())
    #expect(made().map(\.hashValue) == made().map(\.hashValue))
    // Composed and decomposed accents are one text.
    #expect(PreferenceValue.string("e\u{301}") == made()[0])
    #expect(PreferenceValue.string("e\u{301}").hashValue == made()[0].hashValue)
    #expect(Set(made()).count == PreferenceValue.Kind.allCases.count)
  }

  @Test func `item 56: a value of any kind is the value of a key, and so are its members`() throws {
    let store = DictionaryPreferences()
    let (any, magic) = (
      PreferenceKey<PreferenceValue?>("any"), PreferenceKey<[String: PreferenceValue]>("magic", default: [:])
    )
    for (_, value) in PreferenceValueTests.samples {
      try store.set(value, for: any)
      #expect(try store.value(for: any).isSame(as: value))
    }
    store[magic]["unicorn"] = "a"
    store[magic]["number"] = 3
    store[magic]["enum"] = PreferenceValue(UInt8(7))
    store[magic]["number"]?.set(4.5)
    #expect(store["magic"] == ["unicorn": "a", "number": 4.5, "enum": .unsignedInteger(7)])
    #expect(store[magic]["unicorn"]?.as(String.self) == "a")
    store[magic]["unicorn"] = nil
    #expect(store[magic].keys.sorted() == ["enum", "number"])
    let environment = EnvironmentPreferences(environment: ["ANY": "1"])
    #expect(try environment.value(for: any) == "1")
  }
}
