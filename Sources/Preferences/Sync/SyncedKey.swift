/// A key of a ``PreferenceSync``, whatever its type.
struct SyncedKey: Sendable {
  /// What a store holds for a key. Without a time it was never written by a sync, or by nobody at all.
  struct Content {
    var value: PreferenceValue?
    var time: Int64?
  }

  /// What a store held when it was synced last; no value is kept.
  struct Seen: Sendable {
    struct Side: Sendable, Equatable {
      var fingerprint: Int
      var time: Int64?
    }
    var local: Side
    var remote: Side
  }

  let name: String
  private(set) var observations: [PreferenceObservation] = []
  /// Nil before the first time.
  var seen: Seen?

  private let kind: PreferenceValue.Kind
  private let secrecy: Secrecy
  private let isDefault: @Sendable (PreferenceValue) -> Bool

  /// - Throws: `invalidKey`, and `noStore` when one of the stores does not take the key.
  init<Value>(
    _ key: PreferenceKey<Value>, _ local: any PreferencesStore, _ remote: any PreferencesStore
  ) throws(PreferencesError) {
    try PreferenceKeyName.validate(key.name)
    try PreferenceKeyName.validate(PreferenceSync.timeKey(for: key.name))
    // What came from a sealed layer must not end in a plain one.
    let isSecret = key.secrecy == .secret || key.secrecy == .any && (local.isSealed || remote.isSealed)
    (name, kind, secrecy) = (key.name, key.kind, isSecret ? .secret : key.secrecy)
    for store in [local, remote] where !store.accepts(store.routed(secrecy)) {
      throw PreferencesError.noStore(in: store.name, for: secrecy).about(key: key.name)
    }
    isDefault = { value in
      do { return try key.encode(key.defaultValue).fingerprint == Optional(value).fingerprint } catch { return false }
    }
  }

  func observed(by observations: [PreferenceObservation]) -> Self {
    var key = self
    key.observations = observations
    return key
  }

  /// Whether nobody has chosen what a store holds: nothing, or the default, and never synced.
  func isUnset(_ content: Content) -> Bool {
    content.time == nil && content.value.map(isDefault) ?? true
  }

  func read(_ store: any PreferencesStore) throws(SyncFailure) -> Content {
    try SyncFailure.telling(store) {
      let secrecy = store.routed(secrecy)
      let value = try store.value(forKey: name, as: kind, secrecy: secrecy)
      let time = try store.value(forKey: PreferenceSync.timeKey(for: name), as: .integer, secrecy: secrecy)
      switch time {
      case nil: return Content(value: value)
      case .integer(let microseconds)?: return Content(value: value, time: microseconds)
      // Taken for none it would be written again, and so for ever where a store turns numbers into something else.
      default: throw PreferencesError(.typeMismatch, "the time it was synced at is no integer").about(key: name)
      }
    }
  }

  /// Makes a store that holds `old` hold `new`, and returns what it holds then.
  func write(_ new: Content, over old: Content, _ store: any PreferencesStore) throws(SyncFailure) -> Seen.Side {
    // The value before its time: a crash in between leaves an old time, and the key is synced again.
    let outcome = try SyncFailure.telling(store) {
      let outcome = new.holdsSame(as: old) ? .visible : try store.write(new.value, forKey: name, secrecy: secrecy)
      if let time = new.time, time != old.time {
        try store.write(.integer(time), forKey: PreferenceSync.timeKey(for: name), secrecy: secrecy)
      }
      return outcome
    }
    let present = try read(store).seen
    // What hides the written value was not written just now. Nor was an old value that is still there: taken for a removal
    // of the new one, it would win.
    return outcome == .visible && present != old.seen ? new.seen : present
  }
}

extension SyncedKey.Content {
  var seen: SyncedKey.Seen.Side { SyncedKey.Seen.Side(fingerprint: value.fingerprint, time: time) }

  func holdsSame(as other: Self) -> Bool { value.fingerprint == other.value.fingerprint }

  /// Whether the value was changed by other code, which keeps no times: the time is the same, or was removed together
  /// with the value.
  func isRewritten(since seen: SyncedKey.Seen.Side) -> Bool {
    value.fingerprint != seen.fingerprint && (time == nil || time == seen.time)
  }

  func isNewer(than other: Self) -> Bool { (time ?? .min) > (other.time ?? .min) }
}
