import Dispatch
import Foundation
import PreferencesSettings
import Preferences
import Testing

/// Fields of arrays.
struct ArrayFieldTests {
  private let tags = Field(each: Field<String>("tags", rules: [.notBlank, .length(...3)], now: SteppingClock().now))

  @Test func `item 102: a new field of an array is not loaded, and appending to it adds the first element`() {
    #expect(tags.value == nil && tags.loadState.isNotLoaded && tags.updatedAt == nil)
    tags.append("a")
    #expect(tags.value == ["a"] && tags.loadState.isLoaded)
  }

  @Test func `item 102: the first of equal elements is removed`() {
    tags.value = ["a", "b", "a"]
    tags.removeFirst("a")
    tags.removeFirst("c")
    #expect(tags.value == ["b", "a"])
  }

  @Test func `item 102: an element is removed at its position`() throws {
    tags.value = ["a", "b"]
    #expect(try tags.remove(at: 0) == "a")
    #expect(tags.value == ["b"])
  }

  @Test(arguments: [-1, 2])
  func `item 102: removing at a position without an element throws and changes nothing`(position: Int) {
    tags.value = ["a", "b"]
    let updatedAt = tags.updatedAt
    let error = #expect(throws: PreferencesError.self) { try tags.remove(at: position) }
    #expect(error?.code == .outOfRange)
    #expect(tags.value == ["a", "b"] && tags.updatedAt == updatedAt)
  }

  @Test func `item 102: elements are observed as they are added and removed, however that is done`() throws {
    let log = Log<String>()
    tags.value = ["a"]
    let observation = tags.observeElements {
      log.append("+" + $0)
    } removed: {
      log.append("-" + $0)
    }
    tags.append("b")
    tags.removeFirst("a")
    try tags.remove(at: 0)
    tags.value = ["c", "d"]
    tags.value = nil
    #expect(log.entries == ["+b", "-a", "-b", "+c", "+d", "-d", "-c"])
    observation.invalidate()
  }

  @Test func `item 102: appending notifies observers and stamps the times`() {
    let log = Log<[String]?>()
    let observation = tags.observe(log.append)
    tags.append("a")
    #expect(log.entries == [nil, ["a"]])
    #expect(tags.updatedAt == .look(1) && tags.changedAt == .look(1))
    observation.invalidate()
  }

  @Test func `item 102: each element is checked by the rules of elements, and the messages name its position`() {
    tags.value = ["a", " ", "abcd"]
    #expect(
      tags.validate()
        == .invalid(["element 1 must not be blank", "element 2 must have at most 3 characters"]))
    tags.value = ["a"]
    #expect(tags.isValid)
  }

  @Test func `rules of the array come after those of its elements`() {
    let tags = Field(each: Field<String>("tags", rules: [.notBlank]), value: [""], rules: [.length(2...)])
    #expect(tags.validate() == .invalid(["element 0 must not be blank", "must have at least 2 elements"]))
  }

  @Test func `elements that threads append at once are all there`() {
    let numbers = *Field<Int>("numbers")
    DispatchQueue.concurrentPerform(iterations: 4) { thread in
      for number in 0..<100 { numbers.append(thread * 100 + number) }
    }
    #expect(numbers.value?.sorted() == Array(0..<400))
  }

  @Test func `elements are imported and exported by the key of the element`() throws {
    let days = Field(each: Field(PreferenceKey<Date?>("days", format: .iso8601.year().month().day())))
    try [days].importValues(from: ["days": ["1970-01-02", "1970-01-03"]])
    #expect(days.value?.map(\.timeIntervalSince1970) == [86_400, 172_800])
    #expect(try [days].exportValues() == ["days": ["1970-01-02", "1970-01-03"]])
    let error = #expect(throws: PreferencesError.self) {
      try [days].importValues(from: ["days": ["1970-01-02", "yesterday"]])
    }
    #expect(error?.message.contains("element 1") == true && error?.message.contains("yesterday") == false)
    #expect(days.value?.count == 2)
  }
}
