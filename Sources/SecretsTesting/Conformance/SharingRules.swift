internal import Preferences
internal import Testing

extension ConformanceRule {
  /// Several stores side by side, several objects over one storage, and several tasks.
  static let sharing = [
    // MARK: 14
    ConformanceRule(14, "of two objects over one storage neither loses what the other has written") { fixture in
      let first = try fixture.makeStore()
      try first.set("a", forKey: "first")
      let second = try fixture.reopened(first)
      try second.set("b", forKey: "second")
      try first.set("c", forKey: "third")
      try second.set("d", forKey: "fourth")
      _ = try fixture.reopened(second)
      let last = try fixture.reopened(try fixture.reopened(first))
      let all: [String: PreferenceValue] = ["first": "a", "second": "b", "third": "c", "fourth": "d"]
      #expect(try last.dictionary(revealingSecrets: true) == all)
    },
    ConformanceRule(14, "a removal through one object is not undone by a write through another") { fixture in
      let first = try fixture.makeStore()
      try first.set(["gone": 1, "stays": 2])
      let second = try fixture.reopened(first)
      try second.removeValue(forKey: "gone")
      _ = try fixture.reopened(second)
      try first.set(3, forKey: "new")
      #expect(try fixture.reopened(first).dictionary(revealingSecrets: true) == ["stays": 2, "new": 3])
    },

    // MARK: 24
    ConformanceRule(24, "a merge replaces and adds, and leaves the other keys") { fixture in
      let store = try fixture.makeStore()
      try store.set(["a": 1, "b": 2])
      try store.set(["b": "two", "c": 3])
      try store.set([:])
      for reader in [store, try fixture.reopened(store)] {
        #expect(try reader.dictionary(revealingSecrets: true) == ["a": 1, "b": "two", "c": 3])
      }
    },
    ConformanceRule(24, "a merge touches exactly the receiver") { fixture in
      let (store, neighbour) = (try fixture.makeStore(), try fixture.makeStore())
      try neighbour.set(["a": 1])
      try store.set(["a": 2, "b": 3])
      #expect(try fixture.reopened(neighbour).dictionary(revealingSecrets: true) == ["a": 1])
    },
    ConformanceRule(24, "removing all empties exactly the receiver") { fixture in
      let (store, neighbour) = (try fixture.makeStore(), try fixture.makeStore())
      for each in [store, neighbour] { try each.set(["a": 1, "b.c": ["in": 2]]) }
      let full = try fixture.reopened(store)
      try full.removeAll()
      for reader in [full, try fixture.reopened(full)] {
        #expect(try reader.keys() == [])
        #expect(try reader.value(forKey: "a") == nil)
        #expect(try reader.value(forKey: "b.c") == nil)
      }
      #expect(try fixture.reopened(neighbour).value(forKey: "a") == 1)
      #expect(try fixture.reopened(neighbour).value(forKey: "b.c") == ["in": 2])
    },
    ConformanceRule(24, "a store that was emptied, even twice, takes new values") { fixture in
      let store = try fixture.makeStore()
      try store.removeAll()
      try store.set("old", forKey: "a")
      try store.removeAll()
      try store.removeAll()
      try store.set("new", forKey: "b")
      #expect(try fixture.reopened(store).dictionary(revealingSecrets: true) == ["b": "new"])
    },

    // MARK: 25
    ConformanceRule(25, "eight tasks at once lose nothing of what each writes under its own keys") { fixture in
      let store = try fixture.makeStore()
      try await withThrowingTaskGroup(of: Void.self) { group in
        for task in 0..<8 {
          group.addTask {
            for round in 0..<6 {
              try store.set(.integer(Int64(round)), forKey: "own \(task)")
              #expect(try store.value(forKey: "own \(task)") == .integer(Int64(round)))
              try store.set("x", forKey: "gone \(task)")
              #expect(try store.keys().contains("own \(task)"))
              try store.removeValue(forKey: "gone \(task)")
              #expect(try !store.contains("gone \(task)"))
            }
          }
        }
        try await group.waitForAll()
      }
      for reader in [store, try fixture.reopened(store)] {
        #expect(try reader.keys().sorted() == (0..<8).map { "own \($0)" })
        for task in 0..<8 { #expect(try reader.value(forKey: "own \(task)") == 5) }
      }
    },
    ConformanceRule(25, "updates of one key by eight tasks at once are all counted") { fixture in
      let store = try fixture.makeStore()
      let count = PreferenceKey("count", default: 0)
      try await withThrowingTaskGroup(of: Void.self) { group in
        for _ in 0..<8 {
          group.addTask {
            for _ in 0..<5 { _ = try blocking { try store.update(count) { $0 += 1 } } }
            for _ in 0..<5 {
              try await store.update(count) { $0 += 1 }
              await Task.yield()
            }
          }
        }
        try await group.waitForAll()
      }
      #expect(try fixture.reopened(store).value(for: count) == 80)
    },
    ConformanceRule(25, "a compare-and-set happens only when the value is still the old one, whatever the value") {
      fixture in
      let store = try fixture.makeStore()
      func replaces(_ old: PreferenceValue?, for new: PreferenceValue?) throws -> Bool {
        try store.compareAndSet(old, to: new, forKey: "a") != .conflict
      }
      // -0 and NaN are ordinary values: if they were compared as numbers, an update might never end.
      let chain: [PreferenceValue?] = [nil, 1, -0.0, .double(.nan), [.double(.nan)], "text", nil]
      for (old, new) in zip(chain, chain.dropFirst()) {
        #expect(try !replaces("another", for: "wrong"))
        #expect(try replaces(old, for: new), "from \(old.map(\.kind.rawValue) ?? "nil")")
        #expect(try store.value(forKey: "a").isExactly(new))
      }
    },

    // MARK: 64
    ConformanceRule(64, "an update is repeated when another write came between") { fixture in
      let store = try fixture.makeStore()
      var seen: [Int] = []
      try store.update(PreferenceKey("number", default: 0)) { value in
        seen.append(value)
        if seen.count == 1 { try store.set(10, forKey: "number") }
        value += 1
      }
      #expect(seen == [0, 10])
      #expect(try fixture.reopened(store).value(forKey: "number") == 11)
    },
    ConformanceRule(64, "a compare-and-set writes only over what was expected, NaN included") { fixture in
      let store = try fixture.makeStore()
      func compareAndSet(_ old: PreferenceValue?, _ new: PreferenceValue?) throws -> WriteOutcome {
        try store.compareAndSet(old, to: new, forKey: "x")
      }
      #expect(try compareAndSet(1, 2) == .conflict)
      #expect(try store.keys().isEmpty)
      #expect(try compareAndSet(nil, .double(.nan)) == .visible)
      #expect(try compareAndSet(nil, 1) == .conflict)
      // Otherwise an update of a key that holds NaN would never end.
      #expect(try compareAndSet(.double(.nan), [.double(.nan)]) == .visible)
      #expect(try compareAndSet([.double(.nan)], 1.5) == .visible)
      #expect(try compareAndSet(1, nil) == .conflict)
      #expect(try compareAndSet(1.5, nil) == .visible)
      #expect(try fixture.reopened(store).keys().isEmpty)
    },
  ]
}
