import Observation
import Preferences
@testable import SecretsTesting
import Testing

extension PreferenceKey<Int> {
  fileprivate static let port = PreferenceKey("server.port", default: 8080)
}

private struct Settings {
  @StoredPreference var port: Int
  @StoredPreference var host: String?
  @StoredPreference var level: Int

  init(_ store: any PreferencesStore) {
    let text = TwoWayTransformation<String, Int>(reading: { Int($0) ?? 0 }, writing: { "\($0)" })
    _port = StoredPreference(.port, in: store)
    _host = StoredPreference(PreferenceKey("host"), in: store)
    _level = StoredPreference(PreferenceKey("level", default: 1, through: text), in: store)
  }
}

@Observable
private final class Model {
  @ObservationIgnored @StoredPreference var port: Int

  init(_ store: any PreferencesStore) { _port = StoredPreference(.port, in: store) }
}

extension ConformanceRule {
  /// Property wrappers.
  static let wrappers = [
    ConformanceRule(71, "wrapped properties read defaults, store what is set, and take transformations") { fixture in
      let store = try fixture.makeStore()
      let settings = Settings(store)
      #expect((settings.port, settings.host, settings.level) == (8080, nil, 1))
      #expect(try store.keys().isEmpty)
      blocking {
        settings.port += 1
        settings.host = "a"
        settings.level = 5
      }
      let expected: [String: PreferenceValue] = ["server.port": 8081, "host": "a", "level": "5"]
      #expect(try fixture.reopened(store).dictionary(revealingSecrets: true) == expected)
      let reopened = try fixture.reopened(store)
      let again = Settings(reopened)
      #expect((again.port, again.host, again.level) == (8081, "a", 5))
      blocking { again.host = nil }
      #expect(try fixture.reopened(reopened).value(forKey: "host") == nil)
    },
    ConformanceRule(71, "wrappers of names use plain keys, and readers have wrappers too") { fixture in
      let store = try fixture.makeStore()
      struct Named {
        @StoredPreference var retries: Int
        @StoredPreference var host: String?
        @ReadPreference var seen: Int?
        init(_ store: any PreferencesStore) {
          _retries = StoredPreference(wrappedValue: 3, "retries", in: store)
          _host = StoredPreference("host", in: store)
          _seen = ReadPreference("retries", in: store)
        }
      }
      let named = Named(store)
      #expect((named.retries, named.host, named.seen) == (3, nil, nil))
      blocking {
        named.retries += 1
        named.host = "a"
      }
      #expect(try named.$seen.get() == 4)
      let again = Named(try fixture.reopened(store))
      #expect((again.retries, again.host) == (4, "a"))
    },
    ConformanceRule(71, "the projected wrapper sets, updates, resets and throws") { fixture in
      let store = try fixture.makeStore()
      let settings = Settings(store)
      try settings.$port.set(1)
      try settings.$port.update { $0 += 1 }
      #expect(try settings.$port.get() == 2)
      #expect(try fixture.reopened(store).value(forKey: "server.port") == 2)
      try settings.$port.reset()
      #expect(settings.port == 8080)
      #expect(try store.keys().isEmpty)
      try store.set("no number", forKey: "server.port")
      #expect(throws: PreferencesError.self) { try settings.$port.get() }
      let reported = failures { #expect(settings.port == 8080) }
      #expect(reported.contains { $0.key.hasSuffix("server.port") })
    },
    ConformanceRule(71, "the projected wrapper gives the values from now on") { fixture in
      let store = try fixture.makeStore()
      let settings = Settings(store)
      let updates = settings.$port.updates
      blocking { settings.port = 1 }
      try await store.reset(.port)
      #expect(await ready(updates) == [8080, 1, 8080])
    },
    ConformanceRule(72, "a property of an observable class is tracked, and so is a change made elsewhere") { fixture in
      let store = try fixture.makeStore()
      let model = Model(store)
      func changes(_ change: () throws -> Void) rethrows -> Int {
        let seen = Collected<Void>()
        withObservationTracking {
          _ = model.port
        } onChange: {
          seen.append(())
        }
        try change()
        return seen.all.count
      }
      #expect(changes { model.port = 1 } == 1)
      #expect(try changes { try store.set(2, for: .port) } == 1)
      #expect(try changes { try store.reset(.port) } == 1)
      #expect(
        try changes {
          try store.set(true, forKey: "other")
          try store.set(8080, for: .port)
        } == 0)
      #expect(model.port == 8080)
    },
    ConformanceRule(72, "a tracked model is freed after its last use, and the store still works") { fixture in
      let store = try fixture.makeStore()
      weak var freed: Model?
      do {
        let model = Model(store)
        withObservationTracking {
          _ = model.port
        } onChange: {
        }
        freed = model
      }
      #expect(freed == nil)
      try store.set(5, for: .port)
      #expect(try store.value(for: .port) == 5)
    },
  ]
}
