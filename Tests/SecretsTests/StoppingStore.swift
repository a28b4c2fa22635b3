import Secrets

/// A store that runs `stop` instead of a write.
final class StoppingStore: PreferencesStore {
  let name = "stopping"
  private let base: any PreferencesStore
  private let stop: @Sendable () throws -> Void

  init(_ base: any PreferencesStore, _ stop: @escaping @Sendable () throws -> Void) {
    self.base = base
    self.stop = stop
  }

  func value(for query: PreferenceQuery) throws -> PreferenceValue? { try base.value(for: query) }
  func names(of secrecy: Secrecy) throws -> [PreferenceName] { try base.names(of: secrecy) }
  func apply(_ edits: PreferenceEdits) throws -> WriteOutcome {
    try stop()
    return try base.apply(edits)
  }
}
