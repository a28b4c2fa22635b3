import Foundation
import Preferences
import Synchronization

/// A store in memory that is sealed, can be locked, and counts its observers.
final class SealablePreferences: PreferencesStore {
  struct Locked: Error {}

  let name: String
  let custody: Custody
  private let base = DictionaryPreferences()
  private let state = Mutex((isLocked: false, observers: 0))

  init(_ name: String = "sealable", isSealed: Bool = false) {
    self.name = name
    custody = isSealed ? .sealed : .plain
  }

  var observerCount: Int { state.withLock(\.observers) }

  func setLocked(_ isLocked: Bool) { state.withLock { $0.isLocked = isLocked } }

  private func unlocked() throws -> DictionaryPreferences {
    if state.withLock(\.isLocked) { throw Locked() }
    return base
  }

  func value(for query: PreferenceQuery) throws -> PreferenceValue? { try unlocked().value(for: query) }
  func names(of secrecy: Secrecy) throws -> [PreferenceName] { try unlocked().names(of: secrecy) }
  func apply(_ edits: PreferenceEdits) throws -> WriteOutcome { try unlocked().apply(edits) }

  func observe(_ notify: @escaping @Sendable (PreferenceChange) -> Void) -> PreferenceObservation {
    let observation = base.observe(notify)
    state.withLock { $0.observers += 1 }
    return PreferenceObservation { [self] in
      observation.invalidate()
      state.withLock { $0.observers -= 1 }
    }
  }
}

/// A clock that does not advance until it is set.
final class Clock: Sendable {
  private let seconds = Mutex(1_000.0)

  func set(_ new: Double) { seconds.withLock { $0 = new } }
  func now() -> Date { Date(timeIntervalSince1970: seconds.withLock(\.self)) }
}

/// A store whose conditions never hold.
struct Refusing: PreferencesStore {
  let base: DictionaryPreferences
  let name = "refusing"
  func value(for query: PreferenceQuery) -> PreferenceValue? { base.value(for: query) }
  func names(of secrecy: Secrecy) -> [PreferenceName] { base.names(of: secrecy) }
  func apply(_ edits: PreferenceEdits) throws -> WriteOutcome { .conflict }
}

/// A store that writes, and then throws.
struct FailingLate: PreferencesStore {
  let base: DictionaryPreferences
  let name = "failing late"
  func value(for query: PreferenceQuery) -> PreferenceValue? { base.value(for: query) }
  func names(of secrecy: Secrecy) -> [PreferenceName] { base.names(of: secrecy) }
  func apply(_ edits: PreferenceEdits) throws -> WriteOutcome {
    _ = try base.apply(edits)
    throw FailingPreferences.Locked()
  }
}
