import Preferences
import Synchronization

/// A store that does only what a store has to do itself, as its author would write it first.
final class MinimalPreferences: PreferencesStore {
  let name = "minimal"
  private let values = Mutex<[String: PreferenceValue]>([:])
  private let changes = ChangeBroadcast()

  func value(forKey key: String) throws -> PreferenceValue? {
    try PreferenceKeyName.validate(key)
    return values.withLock { $0[key] }
  }

  func keys() throws -> [String] { values.withLock { Array($0.keys) } }

  func set(_ value: PreferenceValue, forKey key: String) throws -> WriteOutcome { try change(key, to: value) }
  func removeValue(forKey key: String) throws -> WriteOutcome { try change(key, to: nil) }

  func removeAll() throws {
    values.withLock { $0 = [:] }
    changes.send(.anything)
  }

  func observe(_ notify: @escaping @Sendable (PreferenceChange) -> Void) -> PreferenceObservation {
    changes.observe(notify)
  }

  private func change(_ key: String, to value: PreferenceValue?) throws -> WriteOutcome {
    try PreferenceKeyName.validate(key)
    values.withLock { $0[key] = value }
    changes.send(PreferenceChange(keys: [key]))
    return .visible
  }
}
