import PreferencesSettings
import Preferences
import Testing

/// Who observes a field, and for how long.
struct FieldObserverTests {
  private let field = Field<String>("name", value: "Ann")

  @Test func `item 97: a closure is called at once and then on change, while the observation is held`() {
    let log = Log<String?>()
    var observation: PreferenceObservation? = field.observe(log.append)
    #expect(log.entries == ["Ann"])
    field.value = "Ann"
    field.value = "Bob"
    field.value = nil
    #expect(log.entries == ["Ann", "Bob", nil] && observation != nil)
    observation = nil
    field.value = "Eve"
    #expect(log.entries.count == 3)
  }

  @Test func `item 97: a sequence has the value now, and then each different one, on any actor`() async {
    let values = field.values()
    field.value = "Bob"
    field.value = "Bob"
    field.value = nil
    let seen = await Self.untilNil(values)
    #expect(seen == ["Ann", "Bob", nil])
    field.value = "Eve"
  }

  @MainActor private static func untilNil(_ values: AsyncStream<String?>) async -> [String?] {
    var seen: [String?] = []
    for await value in values {
      seen.append(value)
      if value == nil { break }
    }
    return seen
  }

  @Test func `item 98: a sequence ends when its field is released, or all observers are removed`() async {
    var released: Field<String>? = Field("name", value: "Ann")
    let values = [released!.values(), field.values()]
    released = nil
    field.removeAllObservers()
    field.value = "Bob"
    for values in values {
      var seen: [String?] = []
      for await value in values { seen.append(value) }
      #expect(seen == ["Ann"])
    }
  }

  @Test func `an observation lasts as long as the owner that it is tied to`() {
    let log = Log<String?>()
    var owner: Owner? = Owner()
    field.observe(log.append).tie(to: owner!)
    field.value = "Bob"
    #expect(log.entries == ["Ann", "Bob"])
    owner = nil
    field.value = "Eve"
    #expect(log.entries == ["Ann", "Bob"])
  }

  @Test func `item 97: an owner has one closure, which a second one replaces`() {
    let (owner, first, second) = (Owner(), Log<String?>(), Log<String?>())
    field.observe(owner: owner, first.append)
    field.observe(owner: owner, second.append)
    field.value = "Bob"
    #expect(first.entries == ["Ann"] && second.entries == ["Ann", "Bob"])
  }

  @Test func `an observer receives the value first, with its field, once however often it is added`() {
    let label = Label()
    field.addObserver(label)
    field.addObserver(label)
    field.value = "Bob"
    #expect(label.log.entries == ["Ann", "Ann", "Bob"])
  }

  @Test func `item 98: one observer is removed, and the others stay`() {
    let (label, other) = (Label(), Label())
    field.addObserver(label)
    field.addObserver(other)
    field.removeObserver(label)
    field.value = "Bob"
    #expect(label.log.entries == ["Ann"] && other.log.entries == ["Ann", "Bob"])
  }

  @Test func `item 98: all observers are removed, closures and links too`() {
    let (label, log, linked) = (Label(), Log<String?>(), Field<String>("linked"))
    field.addObserver(label)
    field.addObserver(linked)
    field --> { value in log.append(value) }
    let observation = field.observe(log.append)
    field.removeAllObservers()
    field.value = "Bob"
    #expect(label.log.entries == ["Ann"] && log.entries == ["Ann", "Ann"] && linked.value == "Ann")
    observation.invalidate()
  }

  @Test func `item 98: a released observer or owner is freed and not called`() {
    let log = Log<String?>()
    var label: Label? = Label()
    var owner: Owner? = Owner()
    weak let (weakLabel, weakOwner) = (label, owner)
    field.addObserver(label!)
    field.observe(owner: owner!, log.append)
    (label, owner) = (nil, nil)
    field.value = "Bob"
    #expect(weakLabel == nil && weakOwner == nil && log.entries == ["Ann"])
  }

  @Test func `a closure is freed after its owner, at the next change`() {
    var captured: Log<String?>? = Log()
    weak let weakCaptured = captured
    var owner: Owner? = Owner()
    field.observe(owner: owner!, captured!.append)
    (captured, owner) = (nil, nil)
    field.value = "Bob"
    #expect(weakCaptured == nil && owner == nil)
  }

  @Test func `item 98: a released field is freed, whatever observes it and is linked to it`() {
    var (a, b): (Field<String>?, Field<String>?) = (Field("a"), Field("b"))
    weak let (weakA, weakB) = (a, b)
    let (label, owner, log) = (Label(), Owner(), Log<String?>())
    a! <--> b!
    a! --> label
    a! --> { value in log.append(value) }
    a!.observe(owner: owner, log.append)
    let observation = a!.observe(log.append)
    (a, b) = (nil, nil)
    #expect(weakA == nil && weakB == nil)
    withExtendedLifetime((label, owner, observation)) {}
  }

  @Test func `what a closure sets in its own field is delivered after it returns, in order`() {
    let (log, other) = (Log<String?>(), Log<String?>())
    let first = field.observe { [field] value in
      if value == "Bob" { field.value = "Eve" }
      log.append(value)
    }
    let second = field.observe(other.append)
    field.value = "Bob"
    #expect(log.entries == ["Ann", "Bob", "Eve"] && other.entries == ["Ann", "Bob", "Eve"])
    withExtendedLifetime((first, second)) {}
  }

  @Test func `a closure ends its own observation and is not called again`() {
    let (log, observations) = (Log<String?>(), Log<PreferenceObservation>())
    observations.append(
      field.observe { value in
        log.append(value)
        if value == "Bob" { observations.entries.first?.invalidate() }
      })
    field.value = "Bob"
    field.value = "Eve"
    #expect(log.entries == ["Ann", "Bob"])
  }
}
