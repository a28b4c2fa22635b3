import PreferencesSettings
import Preferences
import Testing

/// `-->`, `<--`, `-/->`, `<-->` and `*`.
struct FieldOperatorTests {
  private let a = Field<Int>("a", value: 1)
  private let b = Field<Int>("b", value: 2)
  private let c = Field<Int>("c", value: 3)

  @Test func `item 99: --> sets the right field now and on each change, and not the other way round`() {
    a --> b
    #expect(b.value == 1)
    a.value = 5
    #expect(b.value == 5)
    b.value = 6
    #expect(a.value == 5)
  }

  @Test func `item 99: <-- is --> in the other direction`() {
    a <-- b
    #expect(a.value == 2)
    b.value = 5
    #expect(a.value == 5)
  }

  @Test func `item 101: a chain delivers to all, also what is set in its middle`() {
    a --> b --> c
    #expect(b.value == 1 && c.value == 1)
    a.value = 5
    #expect(b.value == 5 && c.value == 5)
    b.value = 6
    #expect(a.value == 5 && c.value == 6)
  }

  @Test func `item 100: <--> leaves the right value in both, and then mirrors both ways`() {
    a <--> b
    #expect(a.value == 2 && b.value == 2)
    a.value = 5
    #expect(b.value == 5)
    b.value = nil
    #expect(a.value == nil && a.loadState.isLoaded)
  }

  @Test func `item 99: -/-> ends a link`() {
    a --> b
    a -/-> b
    a.value = 5
    #expect(b.value == 1)
  }

  @Test func `item 97: a field has one anonymous closure, which a second one replaces`() {
    let (first, second) = (Log<Int?>(), Log<Int?>())
    a --> { value in first.append(value) }
    a --> { second.append($0) }
    a.value = 5
    #expect(first.entries == [1] && second.entries == [1, 5])
  }

  @Test func `an observer is added and removed by operators`() {
    let (name, label) = (Field<String>("name", value: "Ann"), Label())
    label <-- name
    name --> label
    name.value = "Bob"
    name -/-> label
    name.value = "Eve"
    #expect(label.log.entries == ["Ann", "Ann", "Bob"])
  }

  @Test func `item 97: a closure of an owner is added and removed by operators`() {
    let (owner, log) = (Owner(), Log<Int?>())
    a --> owner { value in log.append(value) }
    a.value = 5
    a -/-> owner
    a.value = 6
    #expect(log.entries == [1, 5])
  }

  @Test func `any object owns a closure as one of a pair`() {
    let (object, log) = (Log<String>(), Log<Int?>())
    a --> (object, { value in log.append(value) })
    a -/-> object
    a.value = 5
    #expect(log.entries == [1])
  }

  @Test func `a chain leads through closures, to fields of other types`() {
    let (text, log) = (Field<String>("text"), Log<String?>())
    a --> { $0 * 100 } --> { "\($0) cents" } --> text --> { value in log.append(value) }
    a.value = nil
    a.value = 5
    #expect(log.entries == ["100 cents", nil, "500 cents"])
  }

  @Test func `a chain ends with a closure that follows a closure`() {
    let log = Log<Int?>()
    a --> { $0 * 100 } --> { value in log.append(value) }
    a.value = 5
    #expect(log.entries == [100, 500])
  }

  @Test func `item 99: * makes a field of an array`() {
    let tags = *Field<String>("tags")
    tags.value = ["a"]
    #expect(tags.name == "tags" && tags.value == ["a"])
  }
}
