internal import Preferences
internal import Synchronization
internal import Testing

extension PreferenceKey<Int> {
  fileprivate static let port = PreferenceKey("server.port", default: 80)
}

extension ConformanceRule {
  /// Callbacks: their arguments, their lifetime, and what they may do.
  static let callbacks = [
    ConformanceRule(77, "a callback gets the old and the new value") { fixture in
      let store = try fixture.makeStore()
      let received = Collected<[Int?]>()
      let observation = store.observe(.port) { received.append([$0.oldValue, $0.newValue]) }
      try store.set(81, for: .port)
      try store.set(82, for: .port)
      try store.reset(.port)
      #expect(received.all == [[80, 81], [81, 82], [82, 80]])
      observation.invalidate()
    },
    ConformanceRule(77, "an observation that is invalidated or dropped is no longer notified") { fixture in
      let store = try fixture.makeStore()
      let received = Collected<Int?>()
      var observations = [
        store.observe(.port) { received.append($0.newValue) }, store.observe(.port) { received.append($0.newValue) },
      ]
      try store.set(81, for: .port)
      #expect(received.all == [81, 81])
      observations[0].invalidate()
      try store.set(82, for: .port)
      #expect(received.all == [81, 81, 82])
      observations.removeAll()
      try store.set(83, for: .port)
      #expect(received.all == [81, 81, 82])
    },
    ConformanceRule(80, "a callback may read and write, and its writes are reported after it returns") { fixture in
      let store = try fixture.makeStore()
      let received = Collected<[Int?]>()
      let observation = store.observe(.port) { change in
        received.append([change.newValue, 0])
        do {
          #expect(try store.value(for: .port) == change.newValue)
          if change.newValue < 85 { try store.set(change.newValue + 1, for: .port) }
        } catch { Issue.record(error) }
        received.append([change.newValue, 1])
      }
      try store.set(81, for: .port)
      #expect(received.all == (81...85).flatMap { [[$0, 0], [$0, 1]] })
      #expect(try fixture.reopened(store).value(for: .port) == 85)
      observation.invalidate()
    },
    ConformanceRule(80, "writes inside callbacks do not nest on the stack, and updates there succeed") {
      fixture in
      let store = try fixture.makeStore()
      let depth = Collected<Int>()
      let running = Mutex(0)
      let observation = store.observe(.port) { change in
        depth.append(
          running.withLock {
            $0 += 1; return $0
          })
        do { if change.newValue < 150 { try store.update(.port) { $0 += 1 } } } catch { Issue.record(error) }
        running.withLock { $0 -= 1 }
      }
      try store.set(100, for: .port)
      #expect(try store.value(for: .port) == 150)
      #expect(depth.all.count == 51)
      #expect(depth.all.max() == 1)
      observation.invalidate()
    },
    ConformanceRule(80, "two observers that write in response to each other settle") { fixture in
      let (one, other) = (try fixture.makeStore(), try fixture.makeStore())
      let answer: @Sendable (any PreferencesStore, Int) -> Void = { store, port in
        do { try store.set(min(port, 100), for: .port) } catch { Issue.record(error) }
      }
      let there = one.observe(.port) { answer(other, $0.newValue) }
      let back = other.observe(.port) { answer(one, $0.newValue + 1) }
      try one.set(81, for: .port)
      #expect(try one.value(for: .port) == 100)
      #expect(try other.value(for: .port) == 100)
      there.invalidate()
      back.invalidate()
    },
    ConformanceRule(80, "a callback may end its own observation or another, which is not called any more") { fixture in
      let store = try fixture.makeStore()
      let held = Mutex<[PreferenceObservation]>([])
      let received = Collected<String>()
      let first = store.observe(.port, prior: true) { _ in
        received.append("first")
        for observation in held.withLock(\.self) { observation.invalidate() }
      }
      let second = store.observe(.port) { _ in received.append("second") }
      held.withLock { $0 = [first, second] }
      try store.set(81, for: .port)
      try store.set(82, for: .port)
      #expect(received.all == ["first"])
    },
    ConformanceRule(80, "an observation that begins inside a callback is notified from then on") { fixture in
      let store = try fixture.makeStore()
      let held = Mutex<PreferenceObservation?>(nil)
      let received = Collected<Int?>()
      let first = store.observe(.port) { _ in
        let second = store.observe(.port, initial: true) { received.append($0.newValue) }
        held.withLock { $0 = $0 ?? second }
      }
      try store.set(81, for: .port)
      first.invalidate()
      try store.set(82, for: .port)
      #expect(received.all == [81, 82])
      held.withLock(\.self)?.invalidate()
    },
  ]
}
