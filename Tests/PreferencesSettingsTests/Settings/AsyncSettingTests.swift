import PreferencesSettings
import Preferences
import PreferencesTestSupport
import Secrets
import SecretsTesting
import Testing
import VaultCore

/// Settings and fields of a vault with a log.
struct AsyncSettingTests {
  private struct Call: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let body: @Sendable (SecretPreferences, PreferenceKey<Int>) async throws -> Void

    static let all = [
      Self(testDescription: "a step") { store, key in
        let setting = try Setting(key, in: store, bounds: 0...9)
        _ = try await setting.increase()
      },
      Self(testDescription: "a change") { store, key in
        let outcome = try await Setting(key, in: store).update { $0 += 1 }
        #expect(outcome == .visible)
      },
      Self(testDescription: "a bound field") { store, key in
        let field = Field<Int>(key.name)
        let observation = try await store.reading { try field.bind(to: $0) }
        field.value = 7
        try await field.save()
        #expect(field.value == 7)
        observation.invalidate()
      },
    ]
  }

  @Test(arguments: Call.all)
  private func `a call that waits for the log blocks no cooperative thread`(_ call: Call) async throws {
    var options = Vault.Options()
    options.lockTimeout = .seconds(600)
    let throwaway = try ThrowawayVault(options: options)
    let store = try throwaway.preferences()
    for number in 0..<HeldLog.callCount { try await store.set(1, forKey: "number \(number)") }
    try await throwaway.vault.setAuditing(.failClosed)
    _ = try store.value(forKey: "number 0")
    try await HeldLog.withCalls(beside: throwaway.path) { number in
      try await call.body(store, PreferenceKey("number \(number)", default: 0))
    }
  }
}
