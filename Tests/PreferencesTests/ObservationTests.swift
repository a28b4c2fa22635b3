import FoundationEssentials
import Preferences
import Synchronization
import Testing

struct ObservationTests {
  let store = DictionaryPreferences()

  func next<Value>(_ count: Int, of stream: AsyncStream<Value>) async -> [Value] {
    var values: [Value] = []
    for await value in stream.prefix(count) { values.append(value) }
    return values
  }

  // MARK: Sequences

  @Test func `item 73: dotted keys are observed inside dictionaries of a file`() throws {
    try withTemporaryFolder { folder in
      let file = try JSONPreferences(at: folder + "/a.json", options: .creating)
      try file.set(["port": 1] as PreferenceValue, forKey: "server")
      let received = Received<Int?>()
      let observation = file.observe(.watchedPort, initial: true) { received.add($0.newValue) }
      try file.set(2, for: .watchedPort)
      try file.set(["port": 3] as PreferenceValue, forKey: "server")
      try file.removeValue(forKey: "server")
      #expect(received.all == [1, 2, 3, 80])
      observation.invalidate()
    }
  }

  @Test func `item 75: a sequence without iterators is freed, and its store`() throws {
    weak var freed: CountedPreferences?
    do {
      let store = CountedPreferences()
      freed = store
      let updates = store.updates(for: .watchedPort)
      #expect(store.observerCount == 1)
      withExtendedLifetime(updates) {}
    }
    #expect(freed == nil)
  }

  @Test func `a value that moves from one observed key to the next is a change`() throws {
    let store = DictionaryPreferences(["b": "x"])
    let moves = Recorded<String>()
    let (a, b) = (PreferenceKey<String?>("a"), PreferenceKey<String?>("b"))
    let observation = store.observe(keys: a, b) { moves.add("\($0 ?? "-")\($1 ?? "-")") }
    try store.edit { edits in
      try edits.removeValue(forKey: "b")
      try edits.set("x", forKey: "a")
    }
    #expect(moves.all == ["x-"])
    withExtendedLifetime(observation) {}
  }

  @Test func `a value that equals the old one in other bytes is a change`() throws {
    let store = DictionaryPreferences(["n": 0.0, "d": ["caf\u{E9}": 1]])
    let (number, members) = (PreferenceKey<Double>("n", default: 1), PreferenceKey<[String: Int]>("d", default: [:]))
    let received = Received<String>()
    let observations = [
      store.observe(number) { received.add("\($0.newValue)") },
      store.observe(members) { received.add("\($0.newValue.keys.first?.utf8.count ?? 0) bytes") },
    ]
    for value in [-0.0, 0.0, Double.nan, -Double.nan] { try store.set(value, for: number) }
    try store.set(["cafe\u{301}": 1], for: members)
    #expect(received.all == ["-0.0", "0.0", "nan", "6 bytes"])
    for observation in observations { observation.invalidate() }
  }

  @Test func `an empty list and an empty dictionary are different values`() throws {
    let store = DictionaryPreferences(["list": .array([])])
    #expect(try store.compareAndSet(.dictionary([:]), to: 1, forKey: "list") == .conflict)
    #expect(try store.compareAndSet(.array([]), to: 1, forKey: "list") == .visible)
  }

  @Test func `item 76: one callback gets the values of several keys, once a change`() throws {
    let received = Received<String>()
    let observation = store.observe(keys: .watchedPort, .watchedHost, PreferenceKey("n", default: 0)) {
      received.add("\($0) \($1 ?? "none") \($2)")
    }
    let initial = store.observe(keys: .watchedPort, .watchedHost, initial: true) { received.add("\($0.0)") }
    #expect(received.all == ["80"])
    initial.invalidate()
    try store.set(81, for: .watchedPort)
    try store.set(["proxy.host": "a", "n": 1])
    try store.set(81, for: .watchedPort)
    store["other"] = 1
    #expect(received.all == ["80", "81 none 0", "81 a 1"])
    observation.invalidate()
    try store.reset(.watchedPort)
    #expect(received.all.count == 3)
  }

  @Test func `a value that cannot be decoded is reported as a failure, and the next good one arrives`() async throws {
    let failures = Received<String>()
    let updates = PreferenceFailures.withHandler({ failures.add($0.key) }) {
      let updates = store.updates(for: .watchedPort)
      store["server.port"] = "not a number"
      store["server.port"] = 82
      return updates
    }
    #expect(await next(2, of: updates) == [80, 82])
    #expect(failures.all == ["server.port"])
  }

  // MARK: Callbacks

  @Test func `item 77: the new value of an optional key is the value, not an optional of it`() throws {
    let received = Received<String?>()
    let observation = store.observe(.watchedHost, prior: true) { change in
      let new: String? = change.newValue
      if !change.isPrior { received.add(new) }
    }
    try store.set("a", for: .watchedHost)
    try store.set(nil, for: .watchedHost)
    #expect(received.all == ["a", nil])
    observation.invalidate()
  }

  @Test func `a value that becomes readable is a change from the default`() throws {
    store["server.port"] = "not a number"
    let received = Received<[Int?]>()
    let observation = PreferenceFailures.withHandler({ _ in }) {
      store.observe(.watchedPort) { received.add([$0.oldValue, $0.newValue]) }
    }
    try store.set(82, for: .watchedPort)
    #expect(received.all == [[80, 82]])
    observation.invalidate()
  }

  @Test func `a change prints and dumps without its values`() throws {
    let received = Received<KeyChange<String?>>()
    let observation = store.observe(.watchedHost, initial: true, prior: true) { received.add($0) }
    try store.set(sentinel, for: .watchedHost)
    #expect(received.all.map { "\($0)" } == ["initial value", "change to come", "change"])
    #expect(!dumped(received.all).contains(sentinel))
    observation.invalidate()
  }
}
