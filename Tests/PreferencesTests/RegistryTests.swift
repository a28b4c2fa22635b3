import Foundation
import PreferencesOperators
import Preferences
import Synchronization
import Testing

struct RegistryTests {
  private let registry = PreferencesRegistry()
  private let store = DictionaryPreferences(["a": 1])

  @Test func `item 106: what follows the shared store is shared as the store that it means`() {
    registry.share(store)
    PreferencesRegistry.with(registry) { registry.share(SharedPreferences()) }
    #expect(registry.shared.identity == store.identity)
    PreferencesRegistry.with(PreferencesRegistry()) { registry.share(SharedPreferences()) }
    #expect(registry.shared["a"] == nil)
  }

  @Test func `the shared store passes every call on`() throws {
    let failing = FailingPreferences()
    registry.share(failing)
    try PreferencesRegistry.with(registry) {
      let shared = SharedPreferences()
      #expect(shared.name == failing.name && shared.custody.holds(.secret) && !shared.custody.holds(.plain))
      for call in [
        { _ = try shared.value(forKey: "a") }, { _ = try shared.value(for: PreferenceQuery("a", as: .string)) },
        { _ = try shared.keys() }, { _ = try shared.set(1, forKey: "a") }, { try shared.set(["a": 1]) },
        { _ = try shared.removeValue(forKey: "a") }, { try shared.removeAll() },
        { try shared.update(PreferenceKey("a", default: 1)) { $0 = 2 } },
      ] as [() throws -> Void] {
        #expect(throws: FailingPreferences.Locked.self, performing: call)
      }
      registry.share(store)
      try shared.update(PreferenceKey("a", default: 0)) { $0 += 1 }
      #expect(try shared.dictionary() == ["a": 2])
    }
  }

  @Test func `item 107: a registered store is an operand, and has subscripts and handles`() throws {
    try store.removeAll()
    registry["a"] = store
    let found = try #require(registry["a"])
    try (found <| "visits") += 2
    try (found <| PreferenceKey("port", default: 8080)) += 1
    try found += ["b": 1, "c": 2]
    try found ?= ["b": 9, "d": 3]
    try found -= "c"
    found["text"] = "t"
    #expect(try store.dictionary() == ["visits": 2, "port": 8081, "b": 1, "d": 3, "text": "t"])
  }

  @Test func `item 107: stores are registered, fetched and taken out by any key`() {
    struct Key: Hashable { var name: String }
    #expect(registry["a"] == nil)
    registry["a"] = store
    registry.register(DictionaryPreferences([:], name: "other"), for: Key(name: "a"))
    #expect(registry["a"]?.identity == store.identity)
    #expect(registry[Key(name: "a")]?.name == "other")
    #expect(registry.unregister("a")?.identity == store.identity)
    #expect(registry["a"] == nil)
    registry[Key(name: "a")] = nil
    #expect(registry[Key(name: "a")] == nil)
  }

  @Test func `item 107: a store is made and registered when there is none`() throws {
    let made = Recorded<Void>()
    func make() -> DictionaryPreferences {
      made.add(())
      return store
    }
    #expect(registry.store(for: 1, orRegister: make()).identity == store.identity)
    #expect(registry.store(for: 1, orRegister: make()).identity == store.identity)
    #expect(made.all.count == 1)
    #expect(throws: CancellationError.self) {
      try registry.store(for: 2, orRegister: try { () throws -> DictionaryPreferences in throw CancellationError() }())
    }
    #expect(registry[2] == nil)
  }

  @Test func `a view of the shared store stays in its registry on a thread outside it`() {
    registry.share(store)
    let view = PreferencesRegistry.with(registry) { SharedPreferences() }
    #expect(view.identity == store.identity)
    let other = PreferencesRegistry()
    PreferencesRegistry.with(other) { #expect(view.identity == other.shared.identity) }
  }

  @Test
  func `an observer that a helper thread calls is in the registry of a writer`() throws {
    let (seen, isDone) = (Recorded<StoreIdentity>(), DispatchSemaphore(value: 0))
    let written = DispatchSemaphore(value: 0)
    let observation = store.observe { [store] _ in
      seen.add(PreferencesRegistry.current.shared.identity)
      guard seen.all.count == 1 else { return _ = isDone.signal() }
      // Arrives while an observer runs, and from a thread outside the registry.
      Thread.detachNewThread {
        do { try store.set(2, forKey: "a") } catch { Issue.record(error) }
        written.signal()
      }
      written.wait()
    }
    try PreferencesRegistry.with(registry) { _ = try store.set(1, forKey: "a") }
    isDone.wait()
    #expect(seen.all == [registry.shared.identity, registry.shared.identity])
    observation.invalidate()
  }

  @Test func `a store that uses the registry when it ends can be replaced`() {
    let ended = Recorded<String>()
    registry.share(Ending { [registry] in ended.add(registry.shared.name) })
    registry.share(store)
    #expect(ended.all == [store.name])
    registry.share(Ending { [registry] in ended.add(registry.shared.name) })
    registry.reset()
    #expect(ended.all == [store.name, "dictionary"])
  }
}

/// A store that calls a closure when it ends.
private final class Ending: PreferencesStore {
  let name = "ending"
  private let end: @Sendable () -> Void
  init(_ end: @escaping @Sendable () -> Void) { self.end = end }
  deinit { end() }
  func value(for query: PreferenceQuery) -> PreferenceValue? { nil }
  func names(of secrecy: Secrecy) -> [PreferenceName] { [] }
  func apply(_ edits: PreferenceEdits) -> WriteOutcome { .visible }
}
