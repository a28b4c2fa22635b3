import Foundation
import Preferences
import PreferencesFoundation
import Testing

struct NumberTests {
  @Test func `item 10: what JSONSerialization returns is converted, each value in its kind`() throws {
    let text = #"{"yes": true, "no": false, "one": 1, "minus": -3, "half": 0.5, "list": [1, false, "a", {"n": 2.5}]}"#
    let object = try JSONSerialization.jsonObject(with: Data(text.utf8))
    let store = try DictionaryPreferences(converting: try #require(object as? [String: Any]))
    #expect(
      try store.dictionary() == [
        "yes": true, "no": false, "one": 1, "minus": -3, "half": 0.5, "list": [1, false, "a", ["n": 2.5]],
      ])
  }

  @Test func `item 10: what PropertyListSerialization returns is converted, each value in its kind`() throws {
    let values: [String: Any] = [
      "yes": true, "one": 1, "half": 0.5, "text": "a", "data": Data([1]), "list": [1, true],
      "date": Date(timeIntervalSinceReferenceDate: 0),
    ]
    for format in [PropertyListSerialization.PropertyListFormat.xml, .binary] {
      let list = try PropertyListSerialization.data(fromPropertyList: values, format: format, options: 0)
      let object = try PropertyListSerialization.propertyList(from: list, format: nil)
      let store = try DictionaryPreferences(converting: try #require(object as? [String: Any]))
      #expect(store["yes"] == true && store["one"] == 1 && store["half"] == 0.5 && store["text"] == "a")
      #expect(store["list"] == [1, true] && store["data"] == .data(Data([1])))
      #expect(store["date"] == .date(Date(timeIntervalSinceReferenceDate: 0)))
    }
  }

  @Test func `item 10: numbers of every width are converted`() throws {
    let store = try DictionaryPreferences(converting: [
      "a": NSNumber(value: Int8.min), "b": NSNumber(value: Int64.min), "c": NSNumber(value: UInt64.max),
      "d": NSNumber(value: Float(0.5)), "e": NSNumber(value: true), "f": NSNumber(value: Int8(1)),
    ])
    #expect(try store.integer(forKey: "a") == -128)
    #expect(try store.value(forKey: "b") == .integer(.min))
    #expect(try store.value(forKey: "c", as: UInt64.self) == .max)
    #expect(store["d"] == 0.5 && store["e"] == true && store["f"] == 1)
  }

  @Test(arguments: ["0.30000000000000004", "0.1", "-19.99", "5"])
  func `item 10: a decimal number becomes the nearest double`(text: String) throws {
    let store = try DictionaryPreferences(converting: ["n": NSDecimalNumber(string: text)])
    let double = try #require(Double(text))
    #expect(try store.value(forKey: "n") == .double(double))
  }

  @Test func `item 10: an object without a stored form is refused with its place`() {
    let error = #expect(throws: PreferencesError.self) {
      try DictionaryPreferences(converting: ["list": ["a", NSNull()] as [Any]])
    }
    #expect(error?.code == .notStorable)
    #expect(error?.message.contains("key \"list\": element 1") == true)
  }
}
