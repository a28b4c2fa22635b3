import Foundation
import Preferences
import PreferencesTestSupport
import Synchronization
import Testing

/// Observers of a store that many threads write.
@Suite(.timeLimit(.minutes(10))) struct BoundedObservationTests {
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
