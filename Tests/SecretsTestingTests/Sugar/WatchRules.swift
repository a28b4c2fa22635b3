import Preferences
@testable import SecretsTesting
import Testing

extension PreferenceKey<Int> {
  fileprivate static let port = PreferenceKey("server.port", default: 80)
}

extension PreferenceKey<String?> {
  fileprivate static let host = PreferenceKey("proxy.host")
}

private final class Owner {}

extension ConformanceRule {
  /// What callbacks and sequences of declared keys make of a store's changes.
  static let watching = [
    // MARK: 76
    ConformanceRule(76, "several keys give all their present values, once at first and once a change") { fixture in
      let store = try fixture.makeStore()
      let (all, later) = (store.updates(for: .port, .host), store.updates(for: .port, .host, initial: false))
      try await store.set("proxy", for: .host)
      try await store.set(81, for: .port)
      try await store.set(1, forKey: "other")
      let seen = await ready(all)
      #expect(seen.map(\.0) == [80, 80, 81])
      #expect(seen.map(\.1) == [nil, "proxy", "proxy"])
      #expect(await ready(later).map(\.0) == [80, 81])
    },
    ConformanceRule(76, "an array of keys gives one event at first, whatever their number") { fixture in
      let store = try fixture.makeStore()
      try await store.set(["a": 1, "b": 2])
      let names = ["a", "b", "c"]
      #expect(await ready(store.updates(forKeys: names)).count == 1)
      let (silent, changes) = (
        store.updates(forKeys: names, initial: false), store.updates(forKeys: names, initial: false)
      )
      try await store.set(1, forKey: "other")
      #expect(await ready(silent).isEmpty)
      try await store.set(3, forKey: "c")
      #expect(await ready(changes).count == 1)
    },

    // MARK: 77
    ConformanceRule(77, "on request a callback receives the present value at once, and the old value first") {
      fixture in
      let store = try fixture.makeStore()
      let received = Collected<KeyChange<Int>>()
      let observation = store.observe(.port, initial: true, prior: true) { received.append($0) }
      #expect(received.all.map(\.isInitial) == [true])
      try store.set(81, for: .port)
      #expect(received.all.map(\.isPrior) == [false, true, false])
      #expect(received.all.map(\.oldValue) == [80, 80, 80])
      #expect(received.all.map(\.newValue) == [80, 81, 81])
      observation.invalidate()
    },
    ConformanceRule(77, "tied to an owner it lives as long as the owner, and untied as long as it is held") { fixture in
      let store = try fixture.makeStore()
      let received = Collected<String>()
      var owner: Owner? = Owner()
      var held: PreferenceObservation?
      if let owner {
        store.observe(.port) { received.append("tied \($0.newValue)") }.tie(to: owner)
        held = store.observe(.port) { received.append("held \($0.newValue)") }
        held?.tie(to: owner)
      }
      held?.untie()
      try store.set(81, for: .port)
      let isFreed = { [weak owner] in owner == nil }
      owner = nil
      #expect(isFreed(), "an observation does not hold its owner")
      try store.set(82, for: .port)
      held = nil
      try store.set(83, for: .port)
      #expect(Set(received.all) == ["tied 81", "held 81", "held 82"])
      #expect(received.all.count == 3)
      #expect(held == nil)
    },

    // MARK: 78
    ConformanceRule(78, "a write after which a key reads as before is stored and notifies no observer") { fixture in
      let store = try fixture.makeStore()
      let key = PreferenceKey("number", default: 0.0)
      let received = Collected<String>()
      let observation = store.observe(key) { received.append("\($0.newValue)") }
      let updates = store.updates(for: key, initial: false)
      for number in [0, 1, 1, .nan, .nan, 2, 2] { try await store.set(number, for: key) }
      try await store.set(["number": 2.0])
      try await store.update(key) { $0 = 2 }
      try await store.removeValue(forKey: "number")
      try await store.removeValue(forKey: "number")
      try await store.set(0, for: key)
      #expect(received.all == ["1.0", "nan", "2.0", "0.0"])
      #expect(await ready(updates).count == 4)
      #expect(try fixture.reopened(store).storedValue(for: key) == 0)
      observation.invalidate()
    },
    ConformanceRule(78, "a value that cannot be read is reported as a failure and notifies no observer") { fixture in
      let store = try fixture.makeStore()
      let received = Collected<[Int?]>()
      let failures = Collected<String>()
      try PreferenceFailures.withHandler({ failures.append($0.key) }) {
        let observation = store.observe(.port) { received.append([$0.oldValue, $0.newValue]) }
        try store.set("no number", forKey: "server.port")
        try store.set(82, for: .port)
        observation.invalidate()
      }
      #expect(!failures.all.isEmpty && failures.all.allSatisfy { $0.hasSuffix("server.port") })
      #expect(received.all == [[80, 82]])
    },
  ]
}
