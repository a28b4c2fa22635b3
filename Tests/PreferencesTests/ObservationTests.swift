import FoundationEssentials
import Preferences
import Synchronization
import Testing

/// What observers were told, in order.
private final class Told<Element: Sendable>: Sendable {
  private let list = Mutex<[Element]>([])

  var all: [Element] { list.withLock(\.self) }
  func add(_ element: Element) { list.withLock { $0.append(element) } }
}

/// A store in memory that counts who observes it.
private final class CountedPreferences: PreferencesStore {
  private let base = DictionaryPreferences()
  private let count = Mutex(0)

  var observerCount: Int { count.withLock(\.self) }
  var name: String { "counted" }
  func value(forKey key: String) throws -> PreferenceValue? { try base.value(forKey: key) }
  func keys() throws -> [String] { base.keys() }
  func set(_ value: PreferenceValue, forKey key: String) throws -> WriteOutcome { try base.set(value, forKey: key) }
  func removeValue(forKey key: String) throws -> WriteOutcome { try base.removeValue(forKey: key) }
  func removeAll() { base.removeAll() }

  func observe(_ notify: @escaping @Sendable (PreferenceChange) -> Void) -> PreferenceObservation {
    let observation = base.observe(notify)
    count.withLock { $0 += 1 }
    return PreferenceObservation { [self] in
      observation.invalidate()
      count.withLock { $0 -= 1 }
    }
  }
}

private final class Owner {}

extension PreferenceKey<Int> {
  fileprivate static var port: Self { .init("server.port", default: 80) }
}

extension PreferenceKey<String?> {
  fileprivate static var host: Self { .init("proxy.host") }
}

struct ObservationTests {
  let store = DictionaryPreferences()

  private func next<Value>(_ count: Int, of stream: AsyncStream<Value>) async -> [Value] {
    var values: [Value] = []
    for await value in stream.prefix(count) { values.append(value) }
    return values
  }

  // MARK: Sequences

  @Test func `item 73: updates begin with the present value`() async throws {
    try store.set(81, for: .port)
    let updates = store.updates(for: .port)
    try store.set(82, for: .port)
    #expect(await next(2, of: updates) == [81, 82])
  }

  @Test func `item 73: updates without initial begin with the first change`() async throws {
    try store.set(81, for: .port)
    let updates = store.updates(for: .port, initial: false)
    try store.set(82, for: .port)
    #expect(await next(1, of: updates) == [82])
  }

  @Test func `item 73: a removed value reads as the default`() async throws {
    try store.set(81, for: .port)
    let updates = store.updates(for: .port)
    try store.reset(.port)
    #expect(await next(2, of: updates) == [81, 80])
  }

  @Test func `item 73: a removed value of an optional key reads as nil`() async throws {
    let updates = store.updates(for: .host)
    try store.set("proxy", for: .host)
    store.removeAll()
    #expect(await next(3, of: updates) == [nil, "proxy", nil])
  }

  @Test func `item 73: dotted keys are observed inside dictionaries of a file`() throws {
    try withTemporaryFolder { folder in
      let file = try JSONPreferences(at: folder + "/a.json", options: .creating)
      try file.set(["port": 1] as PreferenceValue, forKey: "server")
      let told = Told<Int?>()
      let observation = file.observe(.port, options: .initial) { told.add($0.newValue) }
      try file.set(2, for: .port)
      try file.set(["port": 3] as PreferenceValue, forKey: "server")
      try file.removeValue(forKey: "server")
      #expect(told.all == [1, 2, 3, 80])
      observation.invalidate()
    }
  }

  @Test func `item 74: two consumers of a key each get every value`() async throws {
    let (a, b) = (store.updates(for: .port), store.updates(for: .port))
    for port in 1...3 { try store.set(port, for: .port) }
    #expect(await next(4, of: a) == [80, 1, 2, 3])
    #expect(await next(4, of: b) == [80, 1, 2, 3])
  }

  @Test func `item 75: rapid writes of one task all arrive, in order`() async throws {
    let updates = store.updates(for: .port)
    for port in 1...1_000 { try store.set(port, for: .port) }
    #expect(await next(1_001, of: updates) == [80] + Array(1...1_000))
  }

  @Test func `item 75: of writes by several tasks the last one arrives last`() async throws {
    let told = Told<Int>()
    let observation = store.observe(.port) { told.add($0.newValue!) }
    await withTaskGroup { group in
      for task in 0..<8 {
        group.addTask { [store] in
          for number in 1...200 { store["server.port"] = .integer(Int64(task * 1_000 + number)) }
        }
      }
    }
    #expect(told.all.last == (try store.value(for: .port)))
    for task in 0..<8 {
      let own = told.all.filter { $0 / 1_000 == task }
      #expect(own == own.sorted())
    }
    observation.invalidate()
  }

  @Test func `item 75: a limited buffer keeps the newest`() async throws {
    let updates = store.updates(for: .port, buffering: .bufferingNewest(2))
    for port in 1...9 { try store.set(port, for: .port) }
    #expect(await next(2, of: updates) == [8, 9])
  }

  @Test func `item 75: cancelling the consumer frees the registration`() async throws {
    let store = CountedPreferences()
    let updates = store.updates(for: .port)
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
      let updates = store.updates(for: .port)
      #expect(store.observerCount == 1)
      withExtendedLifetime(updates) {}
    }
    #expect(freed == nil)
  }

  @Test func `item 76: several keys give a tuple of all present values`() async throws {
    let updates = store.updates(for: .port, .host)
    try store.set("proxy", for: .host)
    try store.set(81, for: .port)
    let seen = await next(3, of: updates)
    #expect(seen.map(\.0) == [80, 80, 81])
    #expect(seen.map(\.1) == [nil, "proxy", "proxy"])
  }

  @Test func `item 76: several keys without initial begin with the first change`() async throws {
    let updates = store.updates(for: .port, .host, initial: false)
    try store.set(81, for: .port)
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
      let updates = store.updates(for: .port)
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
    let observation = store.observe(.port) { told.add([$0.oldValue, $0.newValue]) }
    try store.set(81, for: .port)
    try store.set(82, for: .port)
    try store.reset(.port)
    #expect(told.all == [[80, 81], [81, 82], [82, 80]])
    observation.invalidate()
  }

  @Test func `item 77: the initial option tells the present value at once`() throws {
    let told = Told<KeyChange<Int>>()
    let observation = store.observe(.port, options: .initial) { told.add($0) }
    #expect(told.all.map(\.isInitial) == [true])
    #expect(told.all.map(\.newValue) == [80])
    observation.invalidate()
  }

  @Test func `item 77: the prior option tells the old value first, also together with initial`() throws {
    let told = Told<KeyChange<Int>>()
    let observation = store.observe(.port, options: [.initial, .prior]) { told.add($0) }
    try store.set(81, for: .port)
    #expect(told.all.map(\.isPrior) == [false, true, false])
    #expect(told.all.map(\.oldValue) == [80, 80, 80])
    #expect(told.all.map(\.newValue) == [80, nil, 81])
    observation.invalidate()
  }

  @Test func `item 77: an invalidated observation is told nothing`() throws {
    let told = Told<Int?>()
    let observation = store.observe(.port) { told.add($0.newValue) }
    observation.invalidate()
    try store.set(81, for: .port)
    #expect(told.all.isEmpty)
  }

  @Test func `item 77: a dropped token ends the observation`() throws {
    let store = CountedPreferences()
    let told = Told<Int?>()
    do {
      let observation = store.observe(.port) { told.add($0.newValue) }
      try store.set(81, for: .port)
      withExtendedLifetime(observation) {}
    }
    try store.set(82, for: .port)
    #expect(told.all == [81])
    #expect(store.observerCount == 0)
  }

  @Test func `item 77: tied to an owner it lives as long as the owner, held or not`() throws {
    let store = CountedPreferences()
    let told = Told<Int?>()
    var owner: Owner? = Owner()
    store.observe(.port) { told.add($0.newValue) }.tie(to: owner!)
    try store.set(81, for: .port)
    owner = nil
    try store.set(82, for: .port)
    #expect(told.all == [81])
    #expect(store.observerCount == 0)
  }

  @Test func `item 77: a tied observation does not hold its owner`() {
    weak var freed: Owner?
    do {
      let owner = Owner()
      freed = owner
      store.observe(.port) { _ in }.tie(to: owner)
    }
    #expect(freed == nil)
  }

  @Test func `item 77: untied it lives as long as it is held`() throws {
    let told = Told<Int?>()
    var owner: Owner? = Owner()
    var observation: PreferenceObservation? = store.observe(.port) { told.add($0.newValue) }
    observation?.tie(to: owner!)
    observation?.untie()
    owner = nil
    try store.set(81, for: .port)
    observation = nil
    try store.set(82, for: .port)
    #expect(told.all == [81])
    #expect(owner == nil && observation == nil)
  }

  @Test func `a value that becomes readable is a change from the default`() throws {
    store["server.port"] = "not a number"
    let told = Told<[Int?]>()
    let observation = PreferenceFailures.withHandler({ _ in }) {
      store.observe(.port) { told.add([$0.oldValue, $0.newValue]) }
    }
    try store.set(82, for: .port)
    #expect(told.all == [[80, 82]])
    observation.invalidate()
  }

  @Test func `a change prints and dumps without its values`() throws {
    let told = Told<KeyChange<String?>>()
    let observation = store.observe(.host, options: [.initial, .prior]) { told.add($0) }
    try store.set(sentinel, for: .host)
    #expect(told.all.map { "\($0)" } == ["initial value", "change to come", "change"])
    #expect(!dumped(told.all).contains(sentinel))
    observation.invalidate()
  }

  // MARK: Equal writes

  @Test(arguments: [0, 1, 2, 3])
  func `item 78: a write of an equal value is no news`(kind: Int) throws {
    try withTemporaryFolder { folder in
      let stores: [any PreferencesStore] = [
        store, try JSONPreferences(at: folder + "/a.json", options: .creating),
        try PropertyListPreferences(at: folder + "/a.plist", options: .creating), BufferedPreferences(store),
      ]
      func check(_ store: some PreferencesStore) throws {
        let key = PreferenceKey<Double>("number", default: 0)
        let told = Told<Double?>()
        let observation = store.observe(key) { told.add($0.newValue) }
        for number in [1, 1, .nan, .nan, 2, 2] { try store.set(number, for: key) }
        try store.removeValue(forKey: "number")
        try store.removeValue(forKey: "number")
        #expect(told.all.map { "\($0!)" } == ["1.0", "nan", "2.0", "0.0"])
        observation.invalidate()
      }
      try check(stores[kind])
    }
  }

  @Test func `item 78: storing what the key reads as by default is no news`() async throws {
    let updates = store.updates(for: .port)
    try store.set(80, for: .port)
    try store.set(81, for: .port)
    #expect(await next(2, of: updates) == [80, 81])
  }

  // MARK: Suppression

  @Test func `item 79: a suppressed write is stored and not told`() throws {
    let told = Told<Int?>()
    let observation = store.observe(.port) { told.add($0.newValue) }
    try withoutObservation { try store.set(81, for: .port) }
    #expect(try store.value(for: .port) == 81)
    #expect(told.all.isEmpty)
    try store.set(82, for: .port)
    #expect(told.all == [82])
    observation.invalidate()
  }

  @Test func `item 79: suppression nests, and is in force after the inner one ends`() throws {
    let told = Told<Int?>()
    let observation = store.observe(.port) { told.add($0.newValue) }
    try withoutObservation {
      try withoutObservation { try store.set(81, for: .port) }
      try store.set(82, for: .port)
    }
    #expect(told.all.isEmpty)
    observation.invalidate()
  }

  @Test func `item 79: suppression rethrows, and has ended then`() throws {
    let told = Told<Int?>()
    let observation = store.observe(.port) { told.add($0.newValue) }
    #expect(throws: CancellationError.self) { try withoutObservation { throw CancellationError() } }
    try store.set(81, for: .port)
    #expect(told.all == [81])
    observation.invalidate()
  }

  @Test func `item 79: suppression works across suspension points and leaves other tasks alone`() async throws {
    let told = Told<Int?>()
    let observation = store.observe(.port) { told.add($0.newValue) }
    try await withoutObservation {
      await Task.yield()
      try store.set(81, for: .port)
      try await Task.detached { [store] in _ = try store.set(82, for: .port) }.value
      await Task.yield()
      try store.set(83, for: .port)
    }
    #expect(told.all == [82])
    observation.invalidate()
  }

  // MARK: No lock

  @Test func `item 80: an observer may read and write, and what it writes is told after it`() throws {
    let told = Told<[Int?]>()
    let observation = store.observe(.port) { [store] change in
      told.add([change.newValue, 0])
      if let port = change.newValue, port < 85 { store["server.port"] = .integer(Int64(port + 1)) }
      told.add([change.newValue, 1])
    }
    try store.set(81, for: .port)
    #expect(told.all == (81...85).flatMap { [[$0, 0], [$0, 1]] })
    #expect(try store.value(for: .port) == 85)
    observation.invalidate()
  }

  @Test func `item 80: ten thousand writes inside callbacks need no stack`() throws {
    let key = PreferenceKey<Int>("n", default: 0)
    let observation = store.observe(key) { [store] change in
      if let number = change.newValue, number < 10_000 { store["n"] = .integer(Int64(number + 1)) }
    }
    try store.set(1, for: key)
    #expect(try store.value(for: key) == 10_000)
    observation.invalidate()
  }

  @Test func `item 80: two observers that answer each other settle`() throws {
    let other = DictionaryPreferences()
    let there = store.observe(.port) { [other] in other["server.port"] = .integer(Int64(min($0.newValue!, 500))) }
    let back = other.observe(.port) { [store] in store["server.port"] = .integer(Int64($0.newValue! + 1)) }
    try store.set(1, for: .port)
    #expect(try store.value(for: .port) == 501)
    #expect(try other.value(for: .port) == 500)
    there.invalidate()
    back.invalidate()
  }

  @Test func `item 80: an observer may end its own observation, and is not called again`() throws {
    let held = Mutex<PreferenceObservation?>(nil)
    let told = Told<Int?>()
    let observation = store.observe(.port, options: .prior) { [store] change in
      told.add(change.newValue)
      // Waits behind this one, and must not be told any more.
      store["server.port"] = 99
      held.withLock(\.self)?.invalidate()
    }
    held.withLock { $0 = observation }
    try store.set(81, for: .port)
    #expect(told.all == [nil])
  }

  @Test func `item 80: an observer may end another, which is not called any more`() throws {
    let held = Mutex<PreferenceObservation?>(nil)
    let told = Told<Int?>()
    let first = store.observe(.port) { _ in held.withLock(\.self)?.invalidate() }
    let second = store.observe(.port) { told.add($0.newValue) }
    held.withLock { $0 = second }
    try store.set(81, for: .port)
    #expect(told.all.isEmpty)
    first.invalidate()
  }

  @Test func `item 80: an observation that begins inside a callback is told from then on`() throws {
    let held = Mutex<PreferenceObservation?>(nil)
    let told = Told<Int?>()
    let first = store.observe(.port) { [store] _ in
      let second = store.observe(.port, options: .initial) { told.add($0.newValue) }
      held.withLock { $0 = $0 ?? second }
    }
    try store.set(81, for: .port)
    first.invalidate()
    try store.set(82, for: .port)
    #expect(told.all == [81, 82])
    held.withLock(\.self)?.invalidate()
  }

  @Test func `changes that come while an observer runs are told as one`() throws {
    let told = Told<Set<String>?>()
    let observation = store.observe { [store] change in
      told.add(change.keys)
      guard told.all.count == 1 else { return }
      for key in ["b", "c", "d"] { store[key] = 1 }
    }
    store["a"] = 1
    #expect(told.all == [["a"], ["b", "c", "d"]])
    observation.invalidate()
  }

  // MARK: Layers

  @Test func `item 81: a composite tells when its effective value changes, whichever layer changed`() throws {
    let (upper, lower) = (DictionaryPreferences(), DictionaryPreferences())
    let composite: CompositePreferences = [upper, [lower] as CompositePreferences]
    let told = Told<[Int?]>()
    let observation = composite.observe(.port) { told.add([$0.oldValue, $0.newValue]) }
    try lower.set(1, for: .port)
    try upper.set(2, for: .port)
    try upper.reset(.port)
    #expect(told.all == [[80, 1], [1, 2], [2, 1]])
    observation.invalidate()
  }

  @Test func `item 81: a composite does not tell of what is hidden, or of the same value from another layer`() throws {
    let (upper, lower) = (DictionaryPreferences(), DictionaryPreferences())
    let composite: CompositePreferences = [upper, lower]
    try upper.set(2, for: .port)
    let told = Told<Int?>()
    let observation = composite.observe(.port) { told.add($0.newValue) }
    try lower.set(1, for: .port)
    try lower.set(2, for: .port)
    try upper.reset(.port)
    #expect(told.all.isEmpty)
    observation.invalidate()
  }

  @Test func `item 81: a composite of one store twice tells once`() throws {
    let composite: CompositePreferences = [store, store]
    let told = Told<Int?>()
    let observation = composite.observe(.port) { told.add($0.newValue) }
    try store.set(1, for: .port)
    #expect(told.all == [1])
    observation.invalidate()
  }

  @Test func `views with a prefix and with other names tell by their own names`() throws {
    let told = Told<Set<String>?>()
    let below = store.below("server.")
    let renamed = try below.renaming(["tcp": "port"])
    let observations = [
      below.observe { told.add($0.keys) }, renamed.readOnly.observe { told.add($0.keys) },
    ]
    store["server.port"] = 1
    store["port"] = 1
    #expect(told.all == [["port"], ["tcp"]])
    store.removeAll()
    #expect(told.all.suffix(2) == [["port"], ["tcp"]])
    observations.forEach { $0.invalidate() }
  }

  @Test func `a buffered store tells its own changes, those below that it shows, and a rollback, but no commit`() throws
  {
    let buffer = BufferedPreferences(store)
    let told = Told<Int?>()
    let observation = buffer.observe(.port) { told.add($0.newValue) }
    try store.set(1, for: .port)
    try buffer.set(2, for: .port)
    try store.set(3, for: .port)
    buffer.rollback()
    try buffer.set(4, for: .port)
    try buffer.commit()
    #expect(told.all == [1, 2, 3, 4])
    observation.invalidate()
  }

  @Test func `a buffered store tells what the removals of a commit uncover`() throws {
    let lower = DictionaryPreferences(["server.port": 1])
    let buffer = BufferedPreferences(CompositePreferences([store, lower]))
    let told = Told<Int?>()
    let observation = buffer.observe(.port) { told.add($0.newValue) }
    try buffer.reset(.port)
    try buffer.commit()
    #expect(told.all == [80, 1])
    observation.invalidate()
  }

  @Test func `a locked layer is told as a failure, once a change, and is no news`() throws {
    let composite: CompositePreferences = [FailingPreferences(), store]
    let (failures, told) = (Told<String>(), Told<String?>())
    PreferenceFailures.withHandler({ failures.add("\($0.key): \($0.error)") }) {
      let observation = composite.observe(.host.allowingSealed(), options: .initial) { told.add($0.newValue ?? nil) }
      store["proxy.host"] = "b"
      observation.invalidate()
    }
    #expect(failures.all.count == 2)
    #expect(failures.all.allSatisfy { $0.hasPrefix("proxy.host: unavailable") && !$0.contains(sentinel) })
    #expect(told.all.isEmpty)
  }
}
