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
    #expect(value.as(Double.self) == nil)
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
    for (_, value) in PreferenceValueTests.samples {
      let copy = value
      #expect(copy == value)
      #expect(copy.hashValue == value.hashValue)
    }
    #expect(Set(PreferenceValueTests.samples.map(\.1)).count == PreferenceValueTests.samples.count)
  }
}
