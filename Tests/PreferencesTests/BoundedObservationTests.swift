import Foundation
import Preferences
import PreferencesOperators
import PreferencesTestSupport
import Synchronization
import Testing

/// Observers of a store that many threads write.
struct BoundedObservationTests {
  private static let key = PreferenceKey("count", default: 0)

  /// Lets a different thread write `value`, and waits until its write has returned.
  private static func writeElsewhere(_ value: Int, to store: DictionaryPreferences) {
    let written = DispatchSemaphore(value: 0)
    Thread.detachNewThread {
      do { try store.set(value, for: key) } catch { Issue.record(error) }
      written.signal()
    }
    written.wait()
  }

  @Test func `a write notifies for itself, and not for all that others write in the meantime`() throws {
    let store = DictionaryPreferences()
    let count = Atomic<Int>(0)
    let own = Atomic<Int>(0)
    let isDone = DispatchSemaphore(value: 0)
    let writer = pthread_self()
    let observation = store.observe { _ in
      if pthread_equal(pthread_self(), writer) != 0 { own.add(1, ordering: .relaxed) }
      let number = count.add(1, ordering: .relaxed).newValue
      // Something is always waiting when a round ends.
      if number < 100 { Self.writeElsewhere(number, to: store) } else { isDone.signal() }
    }

    try store.set(1_000, for: Self.key)

    #expect(own.load(ordering: .relaxed) == 1)
    isDone.wait()
    #expect(count.load(ordering: .relaxed) == 100)
    observation.invalidate()
  }

  @Test func `a watched key of two stores is read for its writer, and for others by a helper thread`() throws {
    let (first, second) = (DictionaryPreferences(), DictionaryPreferences())
    let both = CompositePreferences([first, second])
    let own = Atomic<Int>(0)
    let last = DispatchSemaphore(value: 0)
    let writer = pthread_self()
    let observation = both.observe(Self.key) { change in
      if pthread_equal(pthread_self(), writer) != 0 { own.add(1, ordering: .relaxed) }
      if change.newValue < 100 { Self.writeElsewhere(change.newValue + 1, to: first) } else { last.signal() }
    }

    try first.set(1, for: Self.key)

    #expect(own.load(ordering: .relaxed) == 1)
    last.wait()
    #expect(try both.value(for: Self.key) == 100)
    observation.invalidate()
  }

  /// A store that never waits, as an application writes it: it has the blocking form alone.
  private final class OwnPreferences: PreferencesStore {
    let name = "own"
    private let base = DictionaryPreferences()
    private let changes = ChangeBroadcast()

    func value(for query: PreferenceQuery) throws -> PreferenceValue? { base.value(for: query) }
    func names(of secrecy: Secrecy) throws -> [PreferenceName] { base.names(of: secrecy) }
    func apply(_ edits: PreferenceEdits) throws -> WriteOutcome {
      try changes.send(edits) { try base.apply(edits) }
    }
    func observe(_ notify: @escaping @Sendable (PreferenceChange) -> Void) -> PreferenceObservation {
      changes.observe(notify)
    }
  }

  private static func collect(in buffer: BufferedPreferences) throws {
    _ = try withoutObservation { try buffer.set(1, for: key) }
  }

  private struct RefusingPreferences: PreferencesStore {
    let name = "refusing"
    func value(for query: PreferenceQuery) throws -> PreferenceValue? { nil }
    func names(of secrecy: Secrecy) throws -> [PreferenceName] { [] }
    func apply(_ edits: PreferenceEdits) throws -> WriteOutcome { throw PreferencesError(.unavailable, "refused") }
  }

  private struct Write: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let make: @Sendable () -> any PreferencesStore
    var write: @Sendable (any PreferencesStore) async throws -> Void = { try await $0.set(1, for: key) }

    static let all = [
      Self(testDescription: "a store in memory") { DictionaryPreferences() },
      Self(testDescription: "a store of an application") { OwnPreferences() },
      Self(testDescription: "a view") { DictionaryPreferences().below("a.") },
      Self(testDescription: "a composite") {
        CompositePreferences([EnvironmentPreferences(), DictionaryPreferences()])
      },
      Self(testDescription: "a composite that writes to all") {
        CompositePreferences([DictionaryPreferences(), OwnPreferences()], writeMode: .allStores)
      },
      Self(testDescription: "a buffer that collects") { BufferedPreferences(DictionaryPreferences()) },
      Self(testDescription: "a buffer that commits") {
        BufferedPreferences(OwnPreferences())
      } write: { store in
        let buffer = try #require(store as? BufferedPreferences)
        try collect(in: buffer)
        _ = try await buffer.commit()
      },
      Self(testDescription: "an update") {
        DictionaryPreferences()
      } write: {
        try await $0.update(key) { $0 += 1 }
      },
      Self(testDescription: "a removal") {
        DictionaryPreferences(["count": 1])
      } write: {
        try await $0.removeAll()
      },
      Self(testDescription: "an operator") {
        DictionaryPreferences()
      } write: {
        try await $0.preference(for: key) += 1
      },
    ]
  }

  @Test(arguments: Write.all)
  private func `an observer of an asynchronous write in memory blocks no cooperative thread`(_ write: Write)
    async throws
  {
    let stores = (0..<ProcessInfo.processInfo.activeProcessorCount + 4).map { _ in write.make() }
    let isOpen = DispatchSemaphore(value: 0)
    let observations = stores.map { store in
      store.observe { _ in
        #expect(isOpen.wait(timeout: .now() + 60) == .success)
        isOpen.signal()
      }
    }
    try await withThrowingTaskGroup(of: Void.self) { group in
      for store in stores { group.addTask { try await write.write(store) } }
      try await Task.sleep(for: .milliseconds(50))
      // A task that begins later must run while the observers wait for it.
      group.addTask { isOpen.signal() }
      try await group.waitForAll()
    }
    for observation in observations { observation.invalidate() }
  }

  @Test func `an asynchronous write has notified its observers when it returns, and so has one that fails`()
    async throws
  {
    let store = DictionaryPreferences()
    let received = Mutex<[Int]>([])
    let observation = store.observe(Self.key) { change in received.withLock { $0.append(change.newValue) } }
    for number in 1...100 {
      try await store.set(number, for: Self.key)
      #expect(received.withLock(\.last) == number)
    }
    try await withoutObservation { try await store.set(0, for: Self.key) }
    #expect(received.withLock(\.count) == 100)
    // Makes the observer see the value that it was not notified of.
    try await store.set(1, forKey: "count")
    try await store.set(0, for: Self.key)

    let changes = Mutex(0)
    let all = store.observe { _ in changes.withLock { $0 += 1 } }
    // The first store is written, and its value is put back when the second one fails.
    let refusing = CompositePreferences([store, RefusingPreferences()], writeMode: .allStores)
    await #expect(throws: PreferencesError.self) { try await refusing.set(500, for: Self.key) }
    #expect(changes.withLock(\.self) == 1)
    #expect(received.withLock(\.last) == 0)
    observation.invalidate()
    all.invalidate()
  }

  @Test func `what observers themselves write has notified all when the first write returns`() throws {
    let store = DictionaryPreferences()
    let last = Atomic<Int>(0)
    let observation = store.observe(Self.key) { change in
      last.store(change.newValue, ordering: .relaxed)
      if change.newValue < 20 { do { try store.set(change.newValue + 1, for: Self.key) } catch { Issue.record(error) } }
    }

    try store.set(1, for: Self.key)

    #expect(last.load(ordering: .relaxed) == 20)
    observation.invalidate()
  }

  @Test func `an update whose closure writes the same key ends with an error`() throws {
    let store = DictionaryPreferences()
    var calls = 0
    let error = preferencesError {
      try store.update(Self.key) { value in
        calls += 1
        try store.set(value + 1, for: Self.key)
      }
    }
    #expect(error?.code == .conflict)
    #expect(calls == 10_000)
    #expect(try store.value(for: Self.key) == 10_000)
  }
}
