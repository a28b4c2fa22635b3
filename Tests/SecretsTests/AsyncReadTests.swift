import Foundation
import Preferences
import PreferencesOperators
import PreferencesTestSupport
import SecretsTesting
import Synchronization
import Testing
import VaultCore

@testable import Secrets

/// The `async` API over a vault whose log's lock is held by a different process.
struct AsyncReadTests {}

/// A call that reads the vault before it returns.
private struct LoggedCall: Sendable, CustomTestStringConvertible {
  let testDescription: String
  let body: @Sendable (SecretPreferences, _ number: Int) async throws -> Void

  init(_ name: String, _ body: @escaping @Sendable (SecretPreferences, _ number: Int) async throws -> Void) {
    (testDescription, self.body) = (name, body)
  }

  private static func key(_ number: Int) -> PreferenceKey<Int> { PreferenceKey("number \(number)", default: 0) }
  private static func settings(_ store: SecretPreferences) -> CompositePreferences {
    [store.claiming(.everything), DictionaryPreferences()]
  }
  private static func token(_ store: SecretPreferences, _ number: Int) -> RefreshingToken {
    RefreshingToken("token \(number)", in: store) { _ in throw RefreshFailure(.rejected) }
  }
  private static var fresh: RefreshingToken.Tokens {
    get throws { try RefreshingToken.Tokens(access: "a1", refresh: "r1", expires: .distantFuture) }
  }

  private static func expect<Value: Equatable>(_ value: Value?, _ expected: Value) { #expect(value == expected) }

  static let all: [Self] = [
    Self("reading") { store, number in expect(try await store.reading { try $0.value(for: key(number)) }, 1) },
    Self("reading a composite") { store, number in
      expect(try await settings(store).reading { try $0.value(for: key(number)) }, 1)
    },
    Self("reading a view") { store, number in
      expect(try await store.below("number ").reading { try $0.value(forKey: "\(number)") }, 1)
    },
    Self("update") { store, number in try await store.update(key(number)) { $0 += 1 } },
    Self("update of a composite") { store, number in try await settings(store).update(key(number)) { $0 += 1 } },
    Self("update of a mounted store") { store, number in
      try await store.mounted(at: "vault.").update(PreferenceKey("vault.number \(number)", default: 0)) { $0 += 1 }
    },
    Self("compare-and-set") { store, number in
      expect(try await store.compareAndSet(1, to: 2, forKey: "number \(number)"), .visible)
    },
    Self("compare-and-set in a composite") { store, number in
      expect(try await settings(store).compareAndSet(1, to: 2, forKey: "number \(number)"), .visible)
    },
    Self("a handle's operator") { store, number in try await store.preference(for: key(number)) += 1 },
    Self("a handle that is absent") { store, number in
      try await store.preference("absent \(number)", as: Int.self).setIfAbsent(1)
      try await store.preference("number \(number)", as: Int.self).setIfAbsent(5)
    },
    Self("a handle's new type") { store, number in
      _ = try await store.preference(for: key(number)).rewrite(as: String.self) { $0.map(String.init) }
    },
    Self("names without a value") { store, number in try await (store as any PreferencesStore) ?= ["number 0": 5] },
    Self("a copy") { store, number in
      try await (FailingPreferences(isSealed: true) as any PreferencesStore) += store
    },
    Self("a wrapper") { store, number in try await StoredPreference(key(number), in: store).update { $0 += 1 } },
    Self("a buffer") { store, number in
      let buffer = BufferedPreferences(store)
      try await buffer.update(key(number)) { $0 += 1 }
      expect(try await buffer.commit(), .visible)
    },
    Self("a migration") { store, number in
      let migration = PreferenceMigration(to: 1, [.rename("number \(number)", to: "new \(number)")])
      _ = try await PreferenceMigrator([migration], versionKey: "version \(number)").run(on: store)
    },
    Self("an access token") { store, number in
      expect(try await token(store, number).accessToken().withValue { $0 }, "a0")
    },
    Self("an access token of many") { store, number in
      let tokens = RefreshingTokens(in: store) { _, _ in throw RefreshFailure(.rejected) }
      expect(try await tokens["token \(number)"].accessToken().withValue { $0 }, "a0")
    },
    Self("an access token in a composite") { store, number in
      let token = RefreshingToken("own token \(number)", in: settings(store)) { _ in throw RefreshFailure(.rejected) }
      await #expect(throws: RefreshFailure.self) { try await token.accessToken() }
    },
    Self("new tokens") { store, number in try await token(store, number).set(try fresh) },
    Self("removed tokens") { store, number in expect(try await token(store, number).remove()?.expires, .distantFuture)
    },
    Self("a sealed value") { store, number in
      let plain = DictionaryPreferences()
      let sealed = try plain.sealed(by: ValueSealer(key: "sealing key", in: store), as: "settings")
      try await sealed.set("value", forKey: "a")
      try await sealed.update(PreferenceKey("a", default: "")) { $0 += "s" }
      try await sealed.resealAll()
      expect(try await sealed.reading { try $0.value(forKey: "a") }, "values")
    },
  ]
}

extension AsyncReadTests {
  @Test(arguments: LoggedCall.all)
  private func `an asynchronous call that waits for the log blocks no cooperative thread`(_ call: LoggedCall)
    async throws
  {
    var options = Vault.Options()
    options.lockTimeout = .seconds(600)
    let throwaway = try ThrowawayVault(options: options)
    let store = try throwaway.preferences()
    for number in 0..<HeldLog.callCount {
      try await store.set(1, forKey: "number \(number)")
      let tokens = try RefreshingToken.Tokens(access: "a0", refresh: "r0", expires: .distantFuture)
      try await RefreshingToken("token \(number)", in: store) { _ in tokens }.set(tokens)
    }
    try await ValueSealer(key: "sealing key", in: store).createSealingKey()
    try await throwaway.vault.setAuditing(.failClosed)
    _ = try store.value(forKey: "number 0")

    try await HeldLog.withCalls(beside: throwaway.path) { try await call.body(store, $0) }
  }

  /// Each write took a thread of those for reads: 64 tasks then wrote a sixth of what they can.
  @Test(arguments: [false, true])
  func `a write that compares nothing takes no thread for reads`(isMounted: Bool) async throws {
    let throwaway = try ThrowawayVault()
    let secrets = try throwaway.preferences()
    let store: any PreferencesStore = isMounted ? secrets.mounted(at: "vault.") : secrets
    let readers = 16
    let begun = Tally()
    let pipe = Pipe()
    try await withThrowingTaskGroup { group in
      for _ in 0..<readers {
        group.addTask {
          await secrets.reading { _ in
            begun.count.add(1, ordering: .relaxed)
            _ = try? pipe.fileHandleForReading.readToEnd()
          }
        }
      }
      while begun.count.load(ordering: .relaxed) < readers { await Task.yield() }
      // All threads for reads of the store are taken.
      let giveUp = Task {
        try await Task.sleep(for: .seconds(60))
        Issue.record("the write waits for the reads")
        try pipe.fileHandleForWriting.close()
      }
      try await store.set("value", forKey: "vault.key")
      try await store.removeValue(forKey: "vault.key")
      giveUp.cancel()
      try? pipe.fileHandleForWriting.close()
      try await group.waitForAll()
    }
  }
}
