import PreferencesOperators
import Preferences
import SecretsTesting
import Synchronization
import Testing

// PreferencesStore.md
final class MemoryPreferences: PreferencesStore {
  let name = "memory"
  private let values = Mutex<[PreferenceName: PreferenceValue]>([:])
  private let changes = ChangeBroadcast()

  func value(for query: PreferenceQuery) -> PreferenceValue? { values.withLock { $0[query.name] } }
  func names(of secrecy: Secrecy) -> [PreferenceName] { values.withLock { Array($0.keys) } }
  func apply(_ edits: PreferenceEdits) throws -> WriteOutcome {
    try changes.send(edits) { try values.withLock { try edits.apply(to: &$0) } }
  }
  func observe(_ notify: @escaping @Sendable (PreferenceChange) -> Void) -> PreferenceObservation {
    changes.observe(notify)
  }
}

struct GuideTests {
  @Test(arguments: ConformanceRule.everyRule)
  func `the store of the guide keeps every rule`(rule: ConformanceRule) async {
    await PreferencesRegistry.with(PreferencesRegistry()) {
      await rule.check(StoreUnderTest("memory") { _ in MemoryPreferences() })
    }
  }

  @Test func `the store of the guide writes in both forms, in one step, and refuses secrets`() async throws {
    let store = MemoryPreferences()
    try await store.edit { edits in
      try edits.set(1, forKey: "a")
      try edits.set(2, forKey: "b")
    }
    #expect(try await store.compareAndSet(2, to: 3, forKey: "a") == .conflict)
    try await store.update(PreferenceKey("a", default: 0)) { $0 += 1 }
    #expect(try store.dictionary() == ["a": 2, "b": 2])
    let secret = PreferenceEdits([.init(try PreferenceName("c"), to: .value("s"), secrecy: .secret)])
    let error = await #expect(throws: PreferencesError.self) { try await store.edit(secret) }
    #expect(error?.code == .noStore)
  }
}
