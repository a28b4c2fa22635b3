internal import Preferences
internal import Testing

extension PreferenceKey<Int> {
  fileprivate static let port = PreferenceKey("server.port", default: 8080)
}

extension PreferenceKey<String?> {
  fileprivate static let host = PreferenceKey("proxy.host")
}

extension ConformanceRule {
  /// Declared keys.
  static let typedKeys = [
    ConformanceRule(42, "a declared key reads as its default, as what was set, and is changed in place") { fixture in
      let store = try fixture.makeStore()
      #expect(try store.value(for: .port) == 8080)
      #expect(try store.storedValue(for: .port) == nil)
      #expect(try store.keys().isEmpty, "a default is not stored")
      #expect(store[.port] == 8080)
      #expect(failures { store[.port] += 1 }.isEmpty)
      #expect(try store.value(forKey: "server.port") == 8081)
      try store.update(.port) { $0 *= 2 }
      for reader in [store, try fixture.reopened(store)] {
        #expect(try reader.value(for: .port) == 16162)
        #expect(try reader.storedValue(for: .port) == 16162)
      }
    },
    ConformanceRule(42, "a key that is declared and a free-standing one are stored") { fixture in
      let store = try fixture.makeStore()
      for key in [PreferenceKey.port, PreferenceKey("free", default: 0)] {
        try store.set(5, for: key)
        #expect(try fixture.reopened(store).value(for: key) == 5, "\(key.name)")
        try store.reset(key)
        #expect(try fixture.reopened(store).storedValue(for: key) == nil, "\(key.name)")
      }
    },
    ConformanceRule(43, "an optional key starts as nil, is set, and is removed by nil") { fixture in
      let store = try fixture.makeStore()
      #expect(try store.value(for: .host) == nil)
      try store.set("a.example", for: .host)
      #expect(try store.value(for: .host) == "a.example")
      #expect(try store.contains("proxy.host"))
      try store.set(nil, for: .host)
      for reader in [store, try fixture.reopened(store)] {
        #expect(try reader.value(for: .host) == nil)
        #expect(try !reader.contains("proxy.host"))
        #expect(try reader.keys().isEmpty)
      }
    },
    ConformanceRule(45, "one key in two stores is two values") { fixture in
      let (one, other) = (try fixture.makeStore(), try fixture.makeStore())
      try one.set(1, for: .port)
      #expect(try other.value(for: .port) == 8080)
      #expect(try !other.contains("server.port"))
      try other.set(2, for: .port)
      #expect(try one.value(for: .port) == 1)
      try other.reset(.port)
      #expect(try one.value(for: .port) == 1)
      try other.set("x", for: .host)
      try one.removeAll()
      #expect(try (one.value(for: .host), other.value(for: .host)) == (nil, "x"))
      #expect(try (one.value(for: .port), other.value(for: .port)) == (8080, 8080))
    },
    ConformanceRule(46, "one key, several, an array, a name and everything are reset") { fixture in
      let store = try fixture.makeStore()
      let keys = (0..<7).map { PreferenceKey("number.\($0)", default: -1) }
      for key in keys { try store.set(5, for: key) }
      func unset() throws -> [Int] {
        try keys.indices.filter { try fixture.reopened(store).storedValue(for: keys[$0]) == nil }
      }
      try store.reset(keys[0])
      #expect(try unset() == [0])
      try store.reset(keys[1], keys[2], .host)
      #expect(try unset() == [0, 1, 2])
      try store.reset([keys[3], keys[4]])
      #expect(try unset() == [0, 1, 2, 3, 4])
      try store.removeValue(forKey: keys[5].name)
      #expect(try unset() == [0, 1, 2, 3, 4, 5])
      try store.removeAll()
      #expect(try unset() == Array(keys.indices))
      #expect(try keys.map { try store.value(for: $0) } == Array(repeating: -1, count: 7))
    },
    ConformanceRule(51, "tests that run at the same time, each with its store, do not see each other") { fixture in
      try await withThrowingTaskGroup { group in
        for task in 0..<8 {
          group.addTask {
            let store = try fixture.makeStore()
            #expect(try store.value(for: .port) == 8080)
            for number in 0..<5 {
              try await store.set(task * 100 + number, for: .port)
              await Task.yield()
              #expect(try store.value(for: .port) == task * 100 + number)
            }
            try await store.removeAll()
            #expect(try store.value(for: .port) == 8080)
          }
        }
        try await group.waitForAll()
      }
    },
  ]
}
