import Preferences
import Synchronization

/// A store that does only what a store has to do itself: the example of `PreferencesStore`, and its observers.
final class MinimalPreferences: PreferencesStore {
  let name = "memory"
  private let values = Mutex<[PreferenceName: PreferenceValue]>([:])
  private let changes = ChangeBroadcast()

  func value(for query: PreferenceQuery) -> PreferenceValue? { values.withLock { $0[query.name] } }
  func names(of secrecy: Secrecy) -> [PreferenceName] { values.withLock { Array($0.keys) } }

  func apply(_ edits: PreferenceEdits) throws -> WriteOutcome {
    let outcome = try values.withLock { try edits.apply(to: &$0) }
    if outcome != .conflict { changes.send(edits.clears ? .anything : PreferenceChange(keys: edits.names)) }
    return outcome
  }

  func observe(_ notify: @escaping @Sendable (PreferenceChange) -> Void) -> PreferenceObservation {
    changes.observe(notify)
  }
}
