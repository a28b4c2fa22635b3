import Preferences
import Synchronization

/// A store that another process writes to before one of its own writes.
final class Racing: PreferencesStore {
  let name = "racing"
  private let base: DictionaryPreferences
  private let interrupts: @Sendable (DictionaryPreferences) throws -> Void
  private let writes = Mutex(0)
  private let turn: Int

  /// - Parameter turn: the write that is preceded, counted from 1.
  init(
    _ base: DictionaryPreferences, at turn: Int = 1,
    _ interrupts: @escaping @Sendable (DictionaryPreferences) throws -> Void
  ) {
    self.base = base
    self.turn = turn
    self.interrupts = interrupts
  }

  func value(for query: PreferenceQuery) -> PreferenceValue? { base.value(for: query) }
  func names(of secrecy: Secrecy) -> [PreferenceName] { base.names(of: secrecy) }
  func observe(_ notify: @escaping @Sendable (PreferenceChange) -> Void) -> PreferenceObservation {
    base.observe(notify)
  }

  func apply(_ edits: PreferenceEdits) throws -> WriteOutcome {
    let count = writes.withLock { writes in
      writes += 1
      return writes
    }
    if count == turn { try interrupts(base) }
    return try base.apply(edits)
  }
}

/// A store that keeps nothing of what is written.
struct Losing: PreferencesStore {
  let base: DictionaryPreferences
  let name = "losing"
  func value(for query: PreferenceQuery) -> PreferenceValue? { base.value(for: query) }
  func names(of secrecy: Secrecy) -> [PreferenceName] { base.names(of: secrecy) }
  func apply(_ edits: PreferenceEdits) throws -> WriteOutcome {
    for edit in edits.edits {
      guard case .ifStored(let expected) = edit.condition else { continue }
      let isMet = try base.content(for: PreferenceQuery(edit.name)).isSame(as: expected)
      if !isMet { return .conflict }
    }
    return .visible
  }
}
