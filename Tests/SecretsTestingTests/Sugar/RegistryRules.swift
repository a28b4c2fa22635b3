import Preferences
import PreferencesOperators
@testable import SecretsTesting
import Testing

extension PreferenceKey<Int> {
  fileprivate static let port = PreferenceKey("server.port", default: 8080)
}

private struct Shared {
  @StoredPreference(.port) var port
}

extension ConformanceRule {
  /// The registry, with the store in it.
  static let registry = [
    ConformanceRule(106, "a follower of the shared store sees its replacement, a taken store stays the same") {
      fixture in
      let (first, second) = (try fixture.makeStore(), try fixture.makeStore())
      let registry = PreferencesRegistry()
      registry.share(first)
      try PreferencesRegistry.with(registry) {
        let (following, taken, shared) = (SharedPreferences(), registry.shared, Shared())
        try following.set(7, for: .port)
        #expect(try fixture.reopened(taken).value(for: .port) == 7)
        registry.share(second)
        #expect(try following.value(for: .port) == 8080)
        #expect(shared.port == 8080)
        #expect(try taken.value(for: .port) == 7)
        shared.port = 9
        #expect(try fixture.reopened(second).value(for: .port) == 9)
        #expect(following.identity == second.identity)
        #expect(following.custody.takes(.secret) == second.custody.takes(.secret))
        try following.update(.port) { $0 += 1 }
        try following.removeAll()
        #expect(try second.keys().isEmpty)
        #expect(try taken.value(for: .port) == 7)
      }
    },
    ConformanceRule(106, "observers of the shared store are notified of its replacement, and of later changes") {
      fixture in
      let (first, second) = (try fixture.makeStore(), try fixture.makeStore())
      let registry = PreferencesRegistry()
      registry.share(first)
      try second.set(1, for: .port)
      try PreferencesRegistry.with(registry) {
        let (received, taken) = (Collected<Int?>(), registry.shared)
        let observation = SharedPreferences().observe(.port) { received.append($0.newValue) }
        try taken.set(5, for: .port)
        withoutObservation { registry.share(second) }
        try second.set(2, for: .port)
        try taken.set(9, for: .port)
        observation.invalidate()
        try second.set(3, for: .port)
        #expect(received.all == [5, 1, 2])
      }
    },
    ConformanceRule(107, "stores are registered, fetched, made when missing, and taken out, by any key") { fixture in
      struct Key: Hashable { var name: String }
      let (store, other) = (try fixture.makeStore(), try fixture.makeStore())
      try store.set(1, for: .port)
      let registry = PreferencesRegistry()
      registry["1"] = store
      #expect(registry.register(other, for: Key(name: "1")) == nil)
      #expect(try registry["1"]?.value(for: .port) == 1)
      #expect(registry[Key(name: "1")]?.identity == other.identity)
      #expect(registry[1] == nil && registry[1.0] == nil && registry[Substring("1")] == nil)
      registry[1] = store
      #expect(registry[1.0] == nil && registry[UInt8(1)] == nil)
      #expect(registry.store(for: 1, orRegister: other).identity == store.identity)
      #expect(try registry.store(for: 2, orRegister: fixture.makeStore()).value(for: .port) == 8080)
      #expect(registry[2] != nil)
      #expect(registry.unregister("1")?.identity == store.identity)
      #expect(registry["1"] == nil)
      #expect(registry[1]?.identity == store.identity)
    },
    ConformanceRule(108, "several tasks that register at once get one store, and a reset registry is a new one") {
      fixture in
      let registry = PreferencesRegistry()
      let identities = try await withThrowingTaskGroup(of: StoreIdentity.self) { group in
        for task in 0..<8 {
          group.addTask {
            registry.register(try fixture.makeStore(), for: task)
            let store = try registry.store(for: "one", orRegister: fixture.makeStore())
            try store.set(task, for: .port)
            return store.identity
          }
        }
        return try await group.reduce(into: Set()) { $0.insert($1) }
      }
      #expect(identities.count == 1)
      #expect((0..<8).allSatisfy { registry[$0] != nil })
      let last = try registry["one"]?.value(for: .port)
      #expect(last.map((0..<8).contains) == true)
      registry.share(try fixture.makeStore())
      registry.reset()
      #expect(registry["one"] == nil)
      #expect(try registry.shared.keys().isEmpty)
    },
    ConformanceRule(108, "a registry for a test is seen by its task and child tasks alone") { fixture in
      let store = try fixture.makeStore()
      try await store.set(1, for: .port)
      let registry = PreferencesRegistry()
      registry.share(store)
      try await PreferencesRegistry.with(registry) {
        #expect(PreferencesRegistry.current === registry)
        async let child = SharedPreferences().value(for: .port)
        let seen = try await child
        #expect(seen == 1)
        let detached = Task.detached { PreferencesRegistry.current }
        #expect(await detached.value !== registry)
      }
      #expect(PreferencesRegistry.current !== registry)
    },
  ]
}
