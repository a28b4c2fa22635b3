// What is refused beside this compiles in its right form: items 42, 43 and 50.
import Secrets

extension PreferenceKey<Int> {
  static let port = Self("server.port", default: 8080)
}
extension PreferenceKey<String?> {
  static let host = Self("proxy.host")
}
extension PreferenceKey<Secret<String>?> {
  static let token = Self("github.token")
}

func allowed(_ store: some PreferencesStore, _ vault: SecretPreferences) async throws {
  store[.port] += 1
  try store.set(81, for: .port)
  try store.set(nil, for: .host)
  let token = try vault.value(for: .token)
  try token?.withValue { _ in }
  // Static keys are used from several tasks.
  async let first = store.value(for: .port)
  async let second = store.value(for: .port)
  _ = try await (first, second)
}
