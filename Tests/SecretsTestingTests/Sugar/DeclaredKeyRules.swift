import FoundationEssentials
import Preferences
import PreferencesOperators
@testable import SecretsTesting
import Testing

extension PreferenceKey<Int> {
  fileprivate static let port = PreferenceKey("server.port", default: 8080)
}

extension PreferenceKey<String?> {
  fileprivate static let host = PreferenceKey("proxy.host")
}

extension ConformanceRule {
  /// What a declared key does besides naming a value.
  static let declaredKeys = [
    ConformanceRule(9, "a value that its key cannot convert is thrown, and the old one stays") { fixture in
      let store = try fixture.makeStore()
      let key = PreferenceKey<String>(
        "text", kind: .string, makeDefault: { "" },
        decode: { value throws(PreferencesError) in try String(preferenceValue: value) },
        encode: { text throws(PreferencesError) in
          guard text.count < 10 else { throw PreferencesError(.outOfRange, "too long") }
          return .string(text)
        })
      try store.set("word", for: key)
      #expect(code { try store.set("much too long", for: key) } == .outOfRange)
      #expect(try fixture.reopened(store).value(for: key) == "word")
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
  ]
}
