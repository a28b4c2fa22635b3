import Preferences
import Testing

struct HandleTests {
  private let store = DictionaryPreferences(["a": 1, "text": "x"])

  @Test func `item 64: a handle reads, sets and clears one preference`() throws {
    let a: Preference<Int> = store <| "a"
    #expect(a.value == 1)
    a.value = 2
    #expect(store["a"] == 2)
    #expect(try a.hasValue)
    try a.clear()
    #expect(try a.isEmpty)
    #expect(a.value == nil)
    a.value = 3
    a.value = nil
    #expect(store["a"] == nil)
    try a.set(4)
    #expect(try a.get() == 4)
  }

  @Test func `item 64: a value of another type is there, cannot be read, and is no nil`() throws {
    let text: Preference<Int> = store <| "text"
    #expect(try text.hasValue)
    #expect(preferencesError { _ = try text.get() }?.code == .typeMismatch)
  }

  @Test func `item 64: a handle of a key with a default reads as that, and is empty`() throws {
    let port = store.preference(for: PreferenceKey("port", default: 8080))
    #expect(try port.get() == 8080)
    #expect(try port.isEmpty)
    try port.clear()
    #expect(store["port"] == nil)
  }

  @Test func `item 64: a handle of an optional key has the type without the optional`() throws {
    let host: Preference<String> = store.preference(for: PreferenceKey<String?>("host"))
    try host.set("a")
    #expect(try store.string(forKey: "host") == "a")
  }

  @Test func `item 64: apply stores what the closure makes of the value`() throws {
    let a: Preference<Int> = store <| "a"
    #expect(try a.apply { $0.map { $0 + 1 } } == .visible)
    #expect(store["a"] == 2)
    try a.apply { _ in nil }
    #expect(store["a"] == nil)
  }

  @Test func `item 64: apply that throws leaves the value`() {
    let a: Preference<Int> = store <| "a"
    #expect(throws: CancellationError.self) { try a.apply { _ in throw CancellationError() } }
    #expect(store["a"] == 1)
  }

  @Test func `item 64: didSet tells old and new of each change through that handle, and of no other`() throws {
    let log = Recorded<String>()
    let a = (store <| "a" as Preference<Int>).didSet { log.add("\($0 ?? 0) \($1 ?? 0)") }
    try a.set(2)
    try a.set(2)
    try a += 1
    try a.clear()
    try a ?= 9
    try (store <| "a" as Preference<Int>).set(5)
    #expect(log.all == ["1 2", "2 2", "2 3", "3 0", "0 9"])
  }

  @Test func `item 64: a change of type is written under the same name`() throws {
    let number: Preference<Int> = store <| "a"
    let text = try number.rewrite { $0.map(String.init) }
    #expect(store["a"] == "1")
    #expect(try text.get() == "1")
    #expect(preferencesError { _ = try number.get() }?.code == .typeMismatch)
  }

  @Test func `item 65: whenNil and ensure stand in on reading only`() throws {
    let n = (store <| "n" as Preference<Int>).whenNil(use: 5)
    #expect(try n.get() == 5)
    #expect(try n.isEmpty)
    let small = (store <| "a" as Preference<Int>).ensure(when: { ($0 ?? 0) < 10 }, use: 10)
    #expect(try small.get() == 10)
    #expect(store["a"] == 1)
  }

  @Test func `item 65: what stands in is asked in the order it was added`() throws {
    let n = (store <| "n" as Preference<Int>).whenNil(use: 5).ensure(when: { $0 == 5 }, use: 6).whenNil(use: 7)
    #expect(try n.get() == 6)
    let other = (store <| "n" as Preference<Int>).ensure(when: { $0 == 5 }, use: 6).whenNil(use: 5)
    #expect(try other.get() == 5)
  }

  @Test func `an update changes what the key reads as, and may be cancelled`() throws {
    let port = PreferenceKey("port", default: 8080)
    #expect(try store.update(port) { $0 += 1 } == .visible)
    #expect(store["port"] == 8081)
    #expect(throws: CancellationError.self) {
      try store.update(port) {
        $0 = 1
        throw CancellationError()
      }
    }
    #expect(store["port"] == 8081)
  }

  @Test func `an update is made anew when another write came between`() throws {
    var seen: [Int] = []
    try store.update(PreferenceKey("a", default: 0)) { value in
      seen.append(value)
      if seen.count == 1 { store["a"] = 10 }
      value += 1
    }
    #expect(seen == [1, 10])
    #expect(store["a"] == 11)
  }

  @Test func `an update of NaN ends`() throws {
    store["x"] = .double(.nan)
    try store.update(PreferenceKey("x", default: 0.0)) { $0 = 1 }
    #expect(store["x"] == 1.0)
  }

  @Test func `an observer may update the store that tells it`() throws {
    let store = store
    let token = store.observe(PreferenceKey("a", default: 0)) { change in
      guard change.newValue == 2 else { return }
      do { try store.update(PreferenceKey("b", default: 0)) { $0 += 1 } } catch { Issue.record(error) }
    }
    try store.update(PreferenceKey("a", default: 0)) { $0 = 2 }
    #expect(store["b"] == 1)
    token.invalidate()
  }

  @Test func `an exchange that finds something else writes nothing`() throws {
    #expect(try store.exchange(2, for: 3, forKey: "a", as: nil, secrecy: .plain) == nil)
    #expect(store["a"] == 1)
    #expect(try store.exchange(1, for: nil, forKey: "a", as: nil, secrecy: .plain) == .visible)
    #expect(store["a"] == nil)
  }

  @Test func `neither description nor dump shows a value`() {
    store["token"] = .string(sentinel)
    let token: Preference<String> = store <| "token"
    let standIn = token.whenNil(use: sentinel)
    #expect("\(token)" == "preference \"token\" in dictionary")
    for text in ["\(token)", dumped(token), "\(standIn)", dumped(standIn)] { #expect(!text.contains(sentinel)) }
  }
}
