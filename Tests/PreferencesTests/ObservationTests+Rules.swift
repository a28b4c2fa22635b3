import FoundationEssentials
import Preferences
import Synchronization
import Testing

/// Equal writes, suppression, locks and layers.
extension ObservationTests {
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
    let updates = store.updates(for: .watchedPort)
    try store.set(80, for: .watchedPort)
    try store.set(81, for: .watchedPort)
    #expect(await next(2, of: updates) == [80, 81])
  }

  // MARK: Suppression

  @Test func `item 79: a suppressed write is stored and not told`() throws {
    let told = Told<Int?>()
    let observation = store.observe(.watchedPort) { told.add($0.newValue) }
    try withoutObservation { try store.set(81, for: .watchedPort) }
    #expect(try store.value(for: .watchedPort) == 81)
    #expect(told.all.isEmpty)
    try store.set(82, for: .watchedPort)
    #expect(told.all == [82])
    observation.invalidate()
  }

  @Test func `item 79: suppression nests, and is in force after the inner one ends`() throws {
    let told = Told<Int?>()
    let observation = store.observe(.watchedPort) { told.add($0.newValue) }
    try withoutObservation {
      try withoutObservation { try store.set(81, for: .watchedPort) }
      try store.set(82, for: .watchedPort)
    }
    #expect(told.all.isEmpty)
    observation.invalidate()
  }

  @Test func `item 79: suppression rethrows, and has ended then`() throws {
    let told = Told<Int?>()
    let observation = store.observe(.watchedPort) { told.add($0.newValue) }
    #expect(throws: CancellationError.self) { try withoutObservation { throw CancellationError() } }
    try store.set(81, for: .watchedPort)
    #expect(told.all == [81])
    observation.invalidate()
  }

  @Test func `item 79: suppression works across suspension points and leaves other tasks alone`() async throws {
    let told = Told<Int?>()
    let observation = store.observe(.watchedPort) { told.add($0.newValue) }
    try await withoutObservation {
      await Task.yield()
      try store.set(81, for: .watchedPort)
      try await Task.detached { [store] in _ = try store.set(82, for: .watchedPort) }.value
      await Task.yield()
      try store.set(83, for: .watchedPort)
    }
    #expect(told.all == [82])
    observation.invalidate()
  }

  // MARK: No lock

  @Test func `item 80: an observer may read and write, and what it writes is told after it`() throws {
    let told = Told<[Int?]>()
    let observation = store.observe(.watchedPort) { [store] change in
      told.add([change.newValue, 0])
      if let port = change.newValue, port < 85 { store["server.port"] = .integer(Int64(port + 1)) }
      told.add([change.newValue, 1])
    }
    try store.set(81, for: .watchedPort)
    #expect(told.all == (81...85).flatMap { [[$0, 0], [$0, 1]] })
    #expect(try store.value(for: .watchedPort) == 85)
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
    let there = store.observe(.watchedPort) { [other] in
      other["server.port"] = .integer(Int64(min($0.newValue!, 500)))
    }
    let back = other.observe(.watchedPort) { [store] in store["server.port"] = .integer(Int64($0.newValue! + 1))
    }
    try store.set(1, for: .watchedPort)
    #expect(try store.value(for: .watchedPort) == 501)
    #expect(try other.value(for: .watchedPort) == 500)
    there.invalidate()
    back.invalidate()
  }

  @Test func `item 80: an observer may end its own observation, and is not called again`() throws {
    let held = Mutex<PreferenceObservation?>(nil)
    let told = Told<Int?>()
    let observation = store.observe(.watchedPort, options: .prior) { [store] change in
      told.add(change.newValue)
      // Waits behind this one, and must not be told any more.
      store["server.port"] = 99
      held.withLock(\.self)?.invalidate()
    }
    held.withLock { $0 = observation }
    try store.set(81, for: .watchedPort)
    #expect(told.all == [nil])
  }

  @Test func `item 80: an observer may end another, which is not called any more`() throws {
    let held = Mutex<PreferenceObservation?>(nil)
    let told = Told<Int?>()
    let first = store.observe(.watchedPort) { _ in held.withLock(\.self)?.invalidate() }
    let second = store.observe(.watchedPort) { told.add($0.newValue) }
    held.withLock { $0 = second }
    try store.set(81, for: .watchedPort)
    #expect(told.all.isEmpty)
    first.invalidate()
  }

  @Test func `item 80: an observation that begins inside a callback is told from then on`() throws {
    let held = Mutex<PreferenceObservation?>(nil)
    let told = Told<Int?>()
    let first = store.observe(.watchedPort) { [store] _ in
      let second = store.observe(.watchedPort, options: .initial) { told.add($0.newValue) }
      held.withLock { $0 = $0 ?? second }
    }
    try store.set(81, for: .watchedPort)
    first.invalidate()
    try store.set(82, for: .watchedPort)
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
    let observation = composite.observe(.watchedPort) { told.add([$0.oldValue, $0.newValue]) }
    try lower.set(1, for: .watchedPort)
    try upper.set(2, for: .watchedPort)
    try upper.reset(.watchedPort)
    #expect(told.all == [[80, 1], [1, 2], [2, 1]])
    observation.invalidate()
  }

  @Test func `item 81: a composite does not tell of what is hidden, or of the same value from another layer`() throws {
    let (upper, lower) = (DictionaryPreferences(), DictionaryPreferences())
    let composite: CompositePreferences = [upper, lower]
    try upper.set(2, for: .watchedPort)
    let told = Told<Int?>()
    let observation = composite.observe(.watchedPort) { told.add($0.newValue) }
    try lower.set(1, for: .watchedPort)
    try lower.set(2, for: .watchedPort)
    try upper.reset(.watchedPort)
    #expect(told.all.isEmpty)
    observation.invalidate()
  }

  @Test func `item 81: a composite of one store twice tells once`() throws {
    let composite: CompositePreferences = [store, store]
    let told = Told<Int?>()
    let observation = composite.observe(.watchedPort) { told.add($0.newValue) }
    try store.set(1, for: .watchedPort)
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
    let observation = buffer.observe(.watchedPort) { told.add($0.newValue) }
    try store.set(1, for: .watchedPort)
    try buffer.set(2, for: .watchedPort)
    try store.set(3, for: .watchedPort)
    buffer.rollback()
    try buffer.set(4, for: .watchedPort)
    try buffer.commit()
    #expect(told.all == [1, 2, 3, 4])
    observation.invalidate()
  }

  @Test func `a buffered store tells what the removals of a commit uncover`() throws {
    let lower = DictionaryPreferences(["server.port": 1])
    let buffer = BufferedPreferences(CompositePreferences([store, lower]))
    let told = Told<Int?>()
    let observation = buffer.observe(.watchedPort) { told.add($0.newValue) }
    try buffer.reset(.watchedPort)
    try buffer.commit()
    #expect(told.all == [80, 1])
    observation.invalidate()
  }

  @Test func `a locked layer is told as a failure, once a change, and is no news`() throws {
    let composite: CompositePreferences = [FailingPreferences(), store]
    let (failures, told) = (Told<String>(), Told<String?>())
    PreferenceFailures.withHandler({ failures.add("\($0.key): \($0.error)") }) {
      let observation = composite.observe(.watchedHost.allowingSealed(), options: .initial) {
        told.add($0.newValue ?? nil)
      }
      store["proxy.host"] = "b"
      observation.invalidate()
    }
    #expect(failures.all.count == 2)
    #expect(failures.all.allSatisfy { $0.hasPrefix("proxy.host: unavailable") && !$0.contains(sentinel) })
    #expect(told.all.isEmpty)
  }
}
