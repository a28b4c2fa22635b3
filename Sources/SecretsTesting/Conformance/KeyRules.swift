internal import FoundationEssentials
internal import Preferences
internal import PreferencesOperators
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
    ConformanceRule(44, "a computed default is computed at each miss, never before, and never stored") {
      fixture in
      let store = try fixture.makeStore()
      let calls = Collected<Void>()
      let key = PreferenceKey("started") {
        calls.append(())
        return calls.all.count
      }
      #expect(calls.all.isEmpty)
      #expect(try (store.value(for: key), store.value(for: key)) == (1, 2))
      #expect(store[key] == 3)
      #expect(try store.storedValue(for: key) == nil)
      #expect(calls.all.count == 3)
      #expect(try fixture.reopened(store).keys().isEmpty)
      try store.set(77, for: key)
      #expect(try store.value(for: key) == 77)
      #expect(calls.all.count == 3, "what is stored needs no default")
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
    ConformanceRule(46, "a key is its default when it reads as it, stored or not") { fixture in
      let store = try fixture.makeStore()
      #expect(try store.isDefault(.port))
      try store.set(8081, for: .port)
      #expect(try !store.isDefault(.port))
      try store.set(8080, for: .port)
      #expect(try store.isDefault(.port))
      #expect(try store.storedValue(for: .port) == 8080, "a default that is set is stored")
      #expect(try store.isDefault(.host))
    },
    ConformanceRule(47, "keys are equal by name, handles by name and store") { fixture in
      let (one, other) = (try fixture.makeStore(), try fixture.makeStore())
      let again = PreferenceKey("server.port", default: 1)
      #expect(again == .port)
      #expect(Set([again, .port, PreferenceKey("server.ports", default: 1)]).count == 2)
      let handles = [one.preference(for: .port), one.preference(for: again), one.preference("server.port")]
      #expect(Set(handles.map(\.id)).count == 1)
      #expect(one.preference("server.ports", as: Int.self).id != handles[0].id)
      #expect(other.preference(for: .port).id != handles[0].id)
      #expect(one.identity == one.identity)
      #expect(one.identity != other.identity)
      try one.set(1, for: again)
      #expect(one.preference(for: .port).id == handles[0].id, "an identity is not of the content")
      #expect(try one.value(for: .port) == 1)
    },
    ConformanceRule(48, "what does not decode reads as the default, is reported, and stays until overwritten") {
      fixture in
      let store = try fixture.makeStore()
      let server = PreferenceKey.codable("server", default: Server())
      let garbage: PreferenceValue = ["host": "h", "port": "no number"]
      try store.set("no number", forKey: "server.port")
      try store.set(garbage, forKey: "server")
      let reported = failures {
        #expect(store[.port] == 8080)
        #expect(store[server] == Server())
      }
      // A view reports failures with the name underneath.
      #expect(reported.count == 2 && reported[0].key.hasSuffix("server.port") && reported[1].key.hasSuffix("server"))
      #expect(reported.allSatisfy { ($0.error as? PreferencesError)?.code == .typeMismatch })
      #expect(throws: PreferencesError.self) { try store.value(for: .port) }
      #expect(throws: PreferencesError.self) { try store.update(.port) { $0 += 1 } }
      for reader in [store, try fixture.reopened(store)] {
        #expect(try reader.value(forKey: "server.port") == "no number")
        #expect(try reader.value(forKey: "server") == garbage)
      }
      try store.set(1, for: .port)
      try store.set(Server(host: "h", port: 2), for: server)
      #expect(try store.value(for: .port) == 1)
      #expect(try store.value(for: server).port == 2)
    },
    ConformanceRule(50, "a key that is a static let is used by several tasks at once") { fixture in
      let store = try fixture.makeStore()
      try await withThrowingTaskGroup { group in
        for task in 0..<4 {
          group.addTask {
            for number in 0..<5 { try store.set(task * 100 + number, for: .port) }
            return try store.value(for: .port)
          }
        }
        for try await seen in group { #expect((0..<400).contains(seen) && seen % 100 < 5) }
      }
      #expect(try store.value(for: .port) % 100 == 4, "the last write of some task")
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
