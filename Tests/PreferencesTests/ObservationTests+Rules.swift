import FoundationEssentials
import Preferences
import Synchronization
import Testing

/// Suppression and layers.
extension ObservationTests {
  @Test func `item 79: suppression rethrows, and has ended then`() throws {
    let received = Received<Int?>()
    let observation = store.observe(.watchedPort) { received.add($0.newValue) }
    #expect(throws: CancellationError.self) { try withoutObservation { throw CancellationError() } }
    try store.set(81, for: .watchedPort)
    #expect(received.all == [81])
    observation.invalidate()
  }

  @Test func `changes that come while an observer runs are reported as one`() throws {
    let received = Received<Set<String>?>()
    let observation = store.observe { [store] change in
      received.add(change.keys)
      guard received.all.count == 1 else { return }
      for key in ["b", "c", "d"] { store[key] = 1 }
    }
    store["a"] = 1
    #expect(received.all == [["a"], ["b", "c", "d"]])
    observation.invalidate()
  }

  @Test func `item 81: a composite of one store twice notifies once`() throws {
    let composite: CompositePreferences = [store, store]
    let received = Received<Int?>()
    let observation = composite.observe(.watchedPort) { received.add($0.newValue) }
    try store.set(1, for: .watchedPort)
    #expect(received.all == [1])
    observation.invalidate()
  }

  @Test func `views with a prefix and with other names notify by their own names`() throws {
    let received = Received<Set<String>?>()
    let below = store.below("server.")
    let renamed = try below.renaming(["tcp": "port"])
    let observations = [
      below.observe { received.add($0.keys) }, renamed.readOnly.observe { received.add($0.keys) },
    ]
    store["server.port"] = 1
    store["port"] = 1
    #expect(received.all == [["port"], ["tcp"]])
    try store.removeAll()
    #expect(received.all.suffix(2) == [["port"], ["tcp"]])
    observations.forEach { $0.invalidate() }
  }

  @Test func `a buffered store reports its changes, those below that it shows, and a rollback, but no commit`() throws {
    let buffer = BufferedPreferences(store)
    let received = Received<Int?>()
    let observation = buffer.observe(.watchedPort) { received.add($0.newValue) }
    try store.set(1, for: .watchedPort)
    try buffer.set(2, for: .watchedPort)
    try store.set(3, for: .watchedPort)
    buffer.rollback()
    try buffer.set(4, for: .watchedPort)
    try buffer.commit()
    #expect(received.all == [1, 2, 3, 4])
    observation.invalidate()
  }

  @Test func `a buffered store reports what the removals of a commit uncover`() throws {
    let lower = DictionaryPreferences(["server.port": 1])
    let buffer = BufferedPreferences(CompositePreferences([store, lower]))
    let received = Received<Int?>()
    let observation = buffer.observe(.watchedPort) { received.add($0.newValue) }
    try buffer.reset(.watchedPort)
    try buffer.commit()
    #expect(received.all == [80, 1])
    observation.invalidate()
  }

  @Test func `a locked layer is reported as a failure, once a change, and notifies no observer`() throws {
    let composite: CompositePreferences = [FailingPreferences().claiming(.names(["proxy.host"])), store]
    let (failures, received) = (Received<String>(), Received<String?>())
    PreferenceFailures.withHandler({ failures.add("\($0.key): \($0.error)") }) {
      let observation = composite.observe(.watchedHost, initial: true) {
        received.add($0.newValue)
      }
      store["proxy.host"] = "b"
      observation.invalidate()
    }
    #expect(failures.all.count == 2)
    #expect(failures.all.allSatisfy { $0.hasPrefix("proxy.host: unavailable") && !$0.contains(sentinel) })
    #expect(received.all.isEmpty)
  }
}
