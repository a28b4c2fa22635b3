import Dispatch
import PreferencesSettings
import Preferences
import Testing

/// Links in cycles, and from several threads.
struct FieldConvergenceTests {
  @Test func `item 100: NaN ends in a cycle`() {
    let (a, b) = (Field<Double>("a", value: 1), Field<Double>("b", value: 2))
    a <--> b
    a.value = .nan
    #expect(b.value?.isNaN == true)
    b.value = 3
    #expect(a.value == 3)
  }

  @Test func `a value that never equals itself ends in a cycle`() {
    struct Never: Equatable {
      var number: Int
      static func == (a: Self, b: Self) -> Bool { false }
    }
    let key = PreferenceKey<Never?>(
      "never", kind: .integer, makeDefault: { nil }, decode: { _ in nil }, encode: { _ in nil })
    let (a, b, c) = (Field(key), Field(key), Field(key))
    a <--> b
    b <--> c
    c <--> a
    b.value = Never(number: 7)
    #expect(a.value?.number == 7 && c.value?.number == 7)
  }

  @Test(arguments: 1...5)
  func `item 100: a cycle of transformers that do not settle ends`(length: Int) {
    let fields = (0..<length).map { Field<Int>("\($0)", value: 0) }
    for (index, field) in fields.enumerated() { field --> { $0 + 1 } --> fields[(index + 1) % length] }
    fields[0].value = 10
    #expect(fields.map(\.value) == (0..<length).map { 10 + $0 })
  }

  @Test func `a link that is added later carries the value into fields that are linked already`() {
    let (a, b, c) = (Field<Int>("a", value: 1), Field<Int>("b", value: 2), Field<Int>("c", value: 3))
    b <--> c
    c.value = 9
    a --> b
    #expect(b.value == 1 && c.value == 1)
    c.value = 4
    #expect(b.value == 4 && a.value == 1)
  }

  @Test func `an equal value that arrives over a link does not reset a validation`() {
    let (a, b, c) = (Field<Int>("a", value: 1), Field<Int>("b", value: 1), Field<Int>("c", value: 1))
    a --> b
    b.addError("is taken")
    a --> c
    #expect(b.validation == .invalid(["is taken"]))
  }

  @Test func `an equal value of a newer change replaces an older one that is still on its way`() {
    let (a, b, c) = (Field<Int>("a", value: 1), Field<Int>("b"), Field<Int>("c"))
    a --> b --> c
    b.value = 2
    // On its way from c to b, the 7 meets a change of a to the value that b has.
    c --> { value in
      if value == 7 { a.value = 2 }
      return Optional(value)
    } --> b
    c.value = 7
    #expect(a.value == 2 && b.value == 2 && c.value == 2)
  }

  @Test func `linked fields that threads set at once end with equal values`() {
    for round in 0..<2000 {
      let fields = (0..<3).map { Field<Int>("\($0)", value: -1) }
      fields[0] <--> fields[1]
      fields[1] <--> fields[2]
      DispatchQueue.concurrentPerform(iterations: 6) { thread in
        // Equal values, too, which are no changes.
        for value in 0..<3 { fields[thread % 3].value = (value + thread + round) % 3 }
      }
      #expect(fields[0].value == fields[1].value && fields[1].value == fields[2].value, "round \(round)")
    }
  }

  @Test func `fields that are linked while threads set them end with equal values`() {
    for round in 0..<2000 {
      let (a, b, c) = (Field<Int>("a", value: 1), Field<Int>("b", value: 2), Field<Int>("c", value: 3))
      a <--> b
      DispatchQueue.concurrentPerform(iterations: 4) { thread in
        if thread == 0 { b <--> c } else { [a, b, c][thread - 1].value = thread * 10 }
      }
      #expect(a.value == b.value && b.value == c.value, "round \(round)")
    }
  }

  @Test func `the last value that a closure receives is the value of the field`() {
    for round in 0..<500 {
      let (field, log) = (Field<Int>("a", value: -1), Log<Int?>())
      let observation = field.observe(log.append)
      DispatchQueue.concurrentPerform(iterations: 4) { thread in
        for value in 0..<10 { field.value = thread * 10 + value }
      }
      #expect(log.entries.last == field.value && log.entries.count == 41, "round \(round)")
      observation.invalidate()
    }
  }
}
