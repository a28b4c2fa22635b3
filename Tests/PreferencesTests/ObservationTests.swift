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

  @Test func `item 73: updates begin with the present value`() async throws {
    try store.set(81, for: .watchedPort)
    let updates = store.updates(for: .watchedPort)
    try store.set(82, for: .watchedPort)
    #expect(await next(2, of: updates) == [81, 82])
  }

  @Test func `item 73: updates without initial begin with the first change`() async throws {
    try store.set(81, for: .watchedPort)
    let updates = store.updates(for: .watchedPort, initial: false)
    try store.set(82, for: .watchedPort)
    #expect(await next(1, of: updates) == [82])
  }

  @Test func `item 73: a removed value reads as the default`() async throws {
    try store.set(81, for: .watchedPort)
    let updates = store.updates(for: .watchedPort)
    try store.reset(.watchedPort)
    #expect(await next(2, of: updates) == [81, 80])
  }

  @Test func `item 73: a removed value of an optional key reads as nil`() async throws {
    let updates = store.updates(for: .watchedHost)
    try store.set("proxy", for: .watchedHost)
    store.removeAll()
    #expect(await next(3, of: updates) == [nil, "proxy", nil])
  }

  @Test func `item 73: dotted keys are observed inside dictionaries of a file`() throws {
    try withTemporaryFolder { folder in
      let file = try JSONPreferences(at: folder + "/a.json", options: .creating)
      try file.set(["port": 1] as PreferenceValue, forKey: "server")
      let told = Told<Int?>()
      let observation = file.observe(.watchedPort, options: .initial) { told.add($0.newValue) }
      try file.set(2, for: .watchedPort)
      try file.set(["port": 3] as PreferenceValue, forKey: "server")
      try file.removeValue(forKey: "server")
      #expect(told.all == [1, 2, 3, 80])
      observation.invalidate()
    }
  }

  @Test func `item 74: two consumers of a key each get every value`() async throws {
    let (a, b) = (store.updates(for: .watchedPort), store.updates(for: .watchedPort))
    for port in 1...3 { try store.set(port, for: .watchedPort) }
    #expect(await next(4, of: a) == [80, 1, 2, 3])
    #expect(await next(4, of: b) == [80, 1, 2, 3])
  }

  @Test func `item 75: rapid writes of one task all arrive, in order`() async throws {
    let updates = store.updates(for: .watchedPort)
    for port in 1...1_000 { try store.set(port, for: .watchedPort) }
    #expect(await next(1_001, of: updates) == [80] + Array(1...1_000))
  }

  @Test func `item 75: of writes by several tasks the last one arrives last`() async throws {
    let told = Told<Int>()
    let observation = store.observe(.watchedPort) { told.add($0.newValue!) }
    await withTaskGroup { group in
      for task in 0..<8 {
        group.addTask { [store] in
          for number in 1...200 { store["server.port"] = .integer(Int64(task * 1_000 + number)) }
        }
      }
    }
    #expect(told.all.last == (try store.value(for: .watchedPort)))
    for task in 0..<8 {
      let own = told.all.filter { $0 / 1_000 == task }
      #expect(own == own.sorted())
    }
    observation.invalidate()
  }

  @Test func `item 75: a limited buffer keeps the newest`() async throws {
    let updates = store.updates(for: .watchedPort, buffering: .bufferingNewest(2))
    for port in 1...9 { try store.set(port, for: .watchedPort) }
    #expect(await next(2, of: updates) == [8, 9])
  }

  @Test func `item 75: cancelling the consumer frees the registration`() async throws {
    let store = CountedPreferences()
    let updates = store.updates(for: .watchedPort)
    #expect(store.observerCount == 1)
    let task = Task { for await _ in updates {} }
    task.cancel()
    await task.value
    #expect(store.observerCount == 0)
  }

  @Test func `item 75: a sequence that nobody iterates is freed, and its store`() throws {
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

  @Test func `item 76: several keys give a tuple of all present values`() async throws {
    let updates = store.updates(for: .watchedPort, .watchedHost)
    try store.set("proxy", for: .watchedHost)
    try store.set(81, for: .watchedPort)
    let seen = await next(3, of: updates)
    #expect(seen.map(\.0) == [80, 80, 81])
    #expect(seen.map(\.1) == [nil, "proxy", "proxy"])
  }

  @Test func `item 76: several keys without initial begin with the first change`() async throws {
    let updates = store.updates(for: .watchedPort, .watchedHost, initial: false)
    try store.set(81, for: .watchedPort)
    #expect(await next(1, of: updates).map(\.0) == [81])
  }

  @Test func `item 76: an array of keys fires once at first, and once a change`() async throws {
    let updates = store.updates(forKeys: ["a", "b", "c"])
    var events = updates.makeAsyncIterator()
    #expect(await events.next() != nil)
    // One that fired twice at first would have a second waiting, in the place of which this would not be seen.
    let silent = store.updates(forKeys: ["a", "b", "c"], initial: false)
    var changes = silent.makeAsyncIterator()
    try store.set(1, forKey: "b")
    #expect(await changes.next() != nil)
    #expect(await events.next() != nil)
  }

  @Test func `item 76: the initial event of an array of keys is exactly one`() async throws {
    let store = CountedPreferences()
    let updates = store.updates(forKeys: ["a", "b", "c"])
    let task = Task {
      var count = 0
      for await _ in updates {
        count += 1
        withUnsafeCurrentTask { $0?.cancel() }
      }
      return count
    }
    #expect(await task.value == 1)
  }

  @Test func `a value that cannot be decoded is told as a failure, and the next good one arrives`() async throws {
    let failures = Told<String>()
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

  @Test func `item 77: a callback gets the old and the new value`() throws {
    let told = Told<[Int?]>()
    let observation = store.observe(.watchedPort) { told.add([$0.oldValue, $0.newValue]) }
    try store.set(81, for: .watchedPort)
    try store.set(82, for: .watchedPort)
    try store.reset(.watchedPort)
    #expect(told.all == [[80, 81], [81, 82], [82, 80]])
    observation.invalidate()
  }

  @Test func `item 77: the initial option tells the present value at once`() throws {
    let told = Told<KeyChange<Int>>()
    let observation = store.observe(.watchedPort, options: .initial) { told.add($0) }
    #expect(told.all.map(\.isInitial) == [true])
    #expect(told.all.map(\.newValue) == [80])
    observation.invalidate()
  }

  @Test func `item 77: the prior option tells the old value first, also together with initial`() throws {
    let told = Told<KeyChange<Int>>()
    let observation = store.observe(.watchedPort, options: [.initial, .prior]) { told.add($0) }
    try store.set(81, for: .watchedPort)
    #expect(told.all.map(\.isPrior) == [false, true, false])
    #expect(told.all.map(\.oldValue) == [80, 80, 80])
    #expect(told.all.map(\.newValue) == [80, nil, 81])
    observation.invalidate()
  }

  @Test func `item 77: an invalidated observation is told nothing`() throws {
    let told = Told<Int?>()
    let observation = store.observe(.watchedPort) { told.add($0.newValue) }
    observation.invalidate()
    try store.set(81, for: .watchedPort)
    #expect(told.all.isEmpty)
  }

  @Test func `item 77: a dropped token ends the observation`() throws {
    let store = CountedPreferences()
    let told = Told<Int?>()
    do {
      let observation = store.observe(.watchedPort) { told.add($0.newValue) }
      try store.set(81, for: .watchedPort)
      withExtendedLifetime(observation) {}
    }
    try store.set(82, for: .watchedPort)
    #expect(told.all == [81])
    #expect(store.observerCount == 0)
  }

  @Test func `item 77: tied to an owner it lives as long as the owner, held or not`() throws {
    let store = CountedPreferences()
    let told = Told<Int?>()
    var owner: Owner? = Owner()
    store.observe(.watchedPort) { told.add($0.newValue) }.tie(to: owner!)
    try store.set(81, for: .watchedPort)
    owner = nil
    try store.set(82, for: .watchedPort)
    #expect(told.all == [81])
    #expect(store.observerCount == 0)
  }

  @Test func `item 77: a tied observation does not hold its owner`() {
    weak var freed: Owner?
    do {
      let owner = Owner()
      freed = owner
      store.observe(.watchedPort) { _ in }.tie(to: owner)
    }
    #expect(freed == nil)
  }

  @Test func `item 77: untied it lives as long as it is held`() throws {
    let told = Told<Int?>()
    var owner: Owner? = Owner()
    var observation: PreferenceObservation? = store.observe(.watchedPort) { told.add($0.newValue) }
    observation?.tie(to: owner!)
    observation?.untie()
    owner = nil
    try store.set(81, for: .watchedPort)
    observation = nil
    try store.set(82, for: .watchedPort)
    #expect(told.all == [81])
    #expect(owner == nil && observation == nil)
  }

  @Test func `a value that becomes readable is a change from the default`() throws {
    store["server.port"] = "not a number"
    let told = Told<[Int?]>()
    let observation = PreferenceFailures.withHandler({ _ in }) {
      store.observe(.watchedPort) { told.add([$0.oldValue, $0.newValue]) }
    }
    try store.set(82, for: .watchedPort)
    #expect(told.all == [[80, 82]])
    observation.invalidate()
  }

  @Test func `a change prints and dumps without its values`() throws {
    let told = Told<KeyChange<String?>>()
    let observation = store.observe(.watchedHost, options: [.initial, .prior]) { told.add($0) }
    try store.set(sentinel, for: .watchedHost)
    #expect(told.all.map { "\($0)" } == ["initial value", "change to come", "change"])
    #expect(!dumped(told.all).contains(sentinel))
    observation.invalidate()
  }
}
