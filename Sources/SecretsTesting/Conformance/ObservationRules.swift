internal import Preferences
internal import Testing

extension PreferenceKey<Int> {
  fileprivate static let port = PreferenceKey("server.port", default: 80)
}

extension PreferenceKey<String?> {
  fileprivate static let host = PreferenceKey("proxy.host")
}

extension ConformanceRule {
  /// Changes as sequences and as callbacks. Observers are notified of a write through a store when the write returns,
  /// if there is no other writer.
  static let observation = [
    ConformanceRule(46, "observers are notified of each kind of reset") { fixture in
      let store = try fixture.makeStore()
      let keys = (0..<7).map { PreferenceKey("number \($0)", default: -1) }
      for key in keys { try store.set(5, for: key) }
      let received = Collected<String>()
      let observations = keys.map { key in
        store.observe(key) { received.append("\(key.name) is \($0.newValue)") }
      }
      try store.reset(keys[0])
      try store.reset(keys[1], keys[2])
      try store.reset([keys[3], keys[4]])
      try store.removeValue(forKey: keys[5].name)
      #expect(received.all == (0..<6).map { "number \($0) is -1" })
      try store.removeAll()
      #expect(received.all == (0..<7).map { "number \($0) is -1" })
      withExtendedLifetime(observations) {}
    },
    ConformanceRule(73, "updates begin with the present value unless disabled, and follow changes and removals") {
      fixture in
      let store = try fixture.makeStore()
      try await store.set(81, for: .port)
      let (updates, changes) = (store.updates(for: .port), store.updates(for: .port, initial: false))
      let hosts = store.updates(for: .host)
      // In the blocking form, a store notifies by itself.
      _ = try blocking { try store.set(82, for: .port) }
      try await store.set("a", for: .host)
      try await store.set("other", forKey: "server.ports")
      try await store.reset(.port)
      try await store.removeAll()
      try await store.set(["server.port": 83, "proxy.host": "b"])
      try await store.update(.port) { $0 += 1 }
      #expect(await ready(updates) == [81, 82, 80, 83, 84])
      #expect(await ready(changes) == [82, 80, 83, 84])
      #expect(await ready(hosts) == [nil, "a", nil, "b"])
    },
    ConformanceRule(73, "keys of every spelling are observed") { fixture in
      let store = try fixture.makeStore()
      let long = String(repeating: "é", count: min(400, fixture.longestName / 2))
      for name in ["a", "a.b", "a.b.c", "with space", "ключ", "🦊", "a/b=c", long] {
        let key = PreferenceKey(name, default: 0)
        let updates = store.updates(for: key)
        try await store.set(1, for: key)
        try await store.reset(key)
        #expect(await ready(updates) == [0, 1, 0], "\(name)")
      }
    },
    ConformanceRule(74, "two consumers of one key each get every value") { fixture in
      let store = try fixture.makeStore()
      let (a, b) = (store.updates(for: .port), store.updates(for: .port))
      for port in 1...3 { try await store.set(port, for: .port) }
      #expect(await ready(a) == [80, 1, 2, 3])
      #expect(await ready(b) == [80, 1, 2, 3])
    },
    ConformanceRule(75, "rapid writes arrive in order, and a limited buffer keeps the newest") { fixture in
      let store = try fixture.makeStore()
      let updates = store.updates(for: .port)
      let newest = store.updates(for: .port, buffering: .bufferingNewest(2))
      for port in 1...50 { try await store.set(port, for: .port) }
      #expect(await ready(updates) == [80] + Array(1...50))
      #expect(await ready(newest) == [49, 50])
    },
    ConformanceRule(75, "writes by several tasks arrive in each task's order, and the last write last") { fixture in
      let store = try fixture.makeStore()
      let received = Collected<Int>()
      let (sevens, seven) = AsyncStream<Int>.makeStream()
      let observation = store.observe(.port) {
        received.append($0.newValue)
        if $0.newValue == 7 { seven.yield(7) }
      }
      try await withThrowingTaskGroup { group in
        for task in 1...8 {
          group.addTask { for number in 1...10 { try store.set(task * 1_000 + number, for: .port) } }
        }
        try await group.waitForAll()
      }
      try await store.set(7, for: .port)
      // A helper thread may still notify of what the tasks wrote, and then notifies of the 7, too.
      _ = await first(of: sevens, within: fixture.noticeLimit)
      #expect(received.all.last == 7)
      for task in 1...8 {
        let own = received.all.filter { $0 / 1_000 == task }
        #expect(own == own.sorted())
        #expect(own.count == Set(own).count)
      }
      observation.invalidate()
    },
    ConformanceRule(75, "cancelling the consumer ends the observation") { fixture in
      let store = try fixture.makeStore()
      let readings = Collected<Void>()
      let key = PreferenceKey<Int>(
        "server.port", kind: .integer, makeDefault: { 80 },
        decode: { value throws(PreferencesError) in
          readings.append(())
          return try Int(preferenceValue: value)
        }, encode: { value throws(PreferencesError) in value.preferenceValue })
      let updates = store.updates(for: key)
      try await store.set(81, for: .port)
      #expect(await ready(updates) == [80, 81])
      let count = readings.all.count
      try await store.set(82, for: .port)
      #expect(readings.all.count == count, "the observation has ended")
    },
    ConformanceRule(75, "an observer is not notified after its observation has ended") { fixture in
      let store = try fixture.makeStore()
      let changes = Collected<Void>()
      let observation = store.observe { _ in changes.append(()) }
      try await store.set(81, for: .port)
      observation.invalidate()
      let count = changes.all.count
      try await store.set(82, for: .port)
      #expect(changes.all.count == count)
    },
    ConformanceRule(79, "suppressed writes, also nested ones, are stored and notify no observer") { fixture in
      let store = try fixture.makeStore()
      let received = Collected<Int?>()
      let observation = store.observe(.port) { received.append($0.newValue) }
      struct Stopped: Error {}
      try withoutObservation {
        try withoutObservation { try store.set(81, for: .port) }
        #expect(throws: Stopped.self) { try withoutObservation { throw Stopped() } }
        try store.update(.port) { $0 += 1 }
        try store.set(["server.port": 83])
      }
      #expect(received.all.isEmpty)
      #expect(try store.value(for: .port) == 83)
      try store.set(84, for: .port)
      #expect(received.all == [84])
      observation.invalidate()
      try withoutObservation { try store.set(85, for: .port) }
      #expect(try fixture.reopened(store).value(for: .port) == 85)
    },
    ConformanceRule(79, "suppression holds across suspension points and leaves other tasks alone") { fixture in
      let store = try fixture.makeStore()
      let received = Collected<Int?>()
      let observation = store.observe(.port) { received.append($0.newValue) }
      let (gate, opening) = AsyncStream.makeStream(of: Void.self)
      let other = Task {
        for await _ in gate {}
        try await store.set(82, for: .port)
      }
      try await withoutObservation {
        await Task.yield()
        try await store.set(81, for: .port)
        opening.finish()
        try await other.value
        await Task.yield()
        try await store.set(83, for: .port)
      }
      #expect(received.all == [82])
      #expect(try store.value(for: .port) == 83)
      observation.invalidate()
    },
    ConformanceRule(81, "a composite notifies when its effective value changes, whichever layer changed") { fixture in
      let store = try fixture.makeStore()
      let other = neighbour(of: store)
      for layers in [[layer(store), other], [other, layer(store)]] {
        let (upper, lower) = (layers[0], layers[1])
        let composite = CompositePreferences([upper, CompositePreferences([lower])])
        let received = Collected<[Int?]>()
        let observation = composite.observe(.port) { received.append([$0.oldValue, $0.newValue]) }
        try lower.set(1, for: .port)
        try upper.set(2, for: .port)
        try lower.set(3, for: .port)
        try upper.reset(.port)
        try upper.set(3, for: .port)
        try lower.reset(.port)
        try upper.reset(.port)
        #expect(received.all == [[80, 1], [1, 2], [2, 3], [3, 80]])
        observation.invalidate()
      }
    },
    ConformanceRule(82, "writes of another store over the same values are reported once they can be read") { fixture in
      let store = try fixture.makeStore()
      let updates = store.updates(for: .port, initial: false)
      _ = try blocking { try fixture.reopened(store).set(81, for: .port) }
      // A store that looks for changes only when it writes has looked now.
      try await store.set(true, forKey: "other")
      // A store need not see the writes of a different store; if it sees them, it must notify observers.
      guard try store.value(for: .port) == 81 else { return }
      let received = await first(of: updates, within: fixture.noticeLimit)
      #expect(received == 81, "the store has the new value, and notifies observers within \(fixture.noticeLimit)")
    },
  ]
}
