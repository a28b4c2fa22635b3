/// A key of a ``PreferenceSync``, without its value type.
struct SyncedKey: Sendable {
  /// The content of a key in one store. The time is `nil` if no sync has written the key.
  struct Content {
    var content: PreferenceContent?
    var time: Int64?
  }

  /// The state of both stores at the last sync, as fingerprints; no value is kept.
  struct Seen: Sendable {
    struct Side: Sendable, Equatable {
      var fingerprint: Int
      var time: Int64?
    }
    var local: Side
    var remote: Side
  }

  /// The name of the key.
  var name: String { checkedName.text }
  private(set) var observations: [PreferenceObservation] = []
  /// `nil` until the first sync.
  var seen: Seen?
  var failedWrites = FailedWrites()

  /// The writes of a key that were not successful. At either limit the sync gives up.
  struct FailedWrites {
    /// The number of writes that a store has not kept, minus the writes that both stores have kept since.
    var lost = 0
    /// The number of writes since the last successful one that were not made, because other code had written first.
    var conflicts = 0

    /// A few writes can be lost because other code replaced the value at once.
    static let mostLost = 20
    /// A store may return a different value at each read.
    static let mostConflicts = 1_000
  }

  private let checkedName: PreferenceName
  private let timeName: PreferenceName
  private let kind: PreferenceValue.Kind
  private let secrecy: Secrecy
  private let isDefault: @Sendable (PreferenceContent) -> Bool
  /// The content as the key compares it, which a store may have converted; `nil` if it is a secret, or no value of the
  /// key.
  private let canonical: @Sendable (PreferenceContent?) -> PreferenceContent?

  /// - Throws: `invalidKey`, and `noStore` if one of the stores does not accept the key.
  init<Value>(
    _ key: PreferenceKey<Value>, _ local: any PreferencesStore, _ remote: any PreferencesStore
  ) throws(PreferencesError) {
    let name = try key.query().name
    timeName = try PreferenceName(PreferenceSync.timeKey(for: key.name))
    // A value from a sealed layer must not be written to a plain layer.
    let isSecret = [local, remote].contains { $0.custody.secrecy(of: name, asked: key.secrecy) == .secret }
    checkedName = name
    kind = key.kind
    secrecy = isSecret ? .secret : .plain
    for store in [local, remote] where !store.custody.takes(secrecy) {
      throw PreferencesError.noStore(in: store.name, for: secrecy).about(key: key.name)
    }
    canonical = { [secrecy] content in
      guard secrecy == .plain, let content else { return nil }
      do { return try key.compared(try key.decoded(content)) } catch { return nil }
    }
    isDefault = { content in
      do {
        let stored = try key.comparison == nil ? content : key.compared(try key.decoded(content))
        return try key.compared(key.defaultValue).fingerprint == stored.fingerprint
      } catch { return false }
    }
  }

  func observed(by observations: [PreferenceObservation]) -> Self {
    var key = self
    key.observations = observations
    return key
  }

  /// Whether no caller has chosen the content: it is absent or the default, and was never synced.
  func isUnset(_ content: Content) -> Bool {
    content.time == nil && content.content.map(isDefault) ?? true
  }

  func read(_ store: any PreferencesStore) throws(SyncFailure) -> Content {
    try SyncFailure.telling(store) {
      let content = try store.content(for: PreferenceQuery(checkedName, as: kind, secrecy: secrecy))
      let time = try store.lookUp(PreferenceQuery(timeName, as: .integer, secrecy: secrecy))
      switch time {
      case nil: return Content(content: content)
      case .integer(let microseconds)?: return Content(content: content, time: microseconds)
      // If such a time counted as absent, the sync would write it again, endlessly for a store that converts numbers.
      default: throw PreferencesError(.typeMismatch, "the time it was synced at is no integer").about(key: name)
      }
    }
  }

  /// Replaces `old` with `new` in a store. Returns the state of the store afterwards, and whether the store has kept
  /// the written value; `nil`, with nothing written, if other code has written since `old` was read.
  func write(
    _ new: Content, over old: Content, _ store: any PreferencesStore
  ) throws(SyncFailure) -> (seen: Seen.Side, isKept: Bool)? {
    let outcome = try SyncFailure.telling(store) {
      try store.edit { edits in
        if !new.holdsSame(as: old) {
          edits.append(.init(checkedName, to: new.content, secrecy: secrecy, if: .ifStored(old.content)))
        }
        if let time = new.time, time != old.time {
          let before = old.time.map { PreferenceContent.value(.integer($0)) }
          edits.append(.init(timeName, to: .value(.integer(time)), secrecy: secrecy, if: .ifStored(before)))
        }
      }
    }
    let read = try read(store)
    let present = read.seen
    if outcome == .conflict {
      if present != old.seen { return nil }
      // Trying again would never end.
      let cause = PreferencesError(.unavailable, "it refuses a write although nothing has changed").about(key: name)
      throw SyncFailure(store: store, cause: cause)
    }
    // If a layer hides the written value, it is unknown whether the store has kept it.
    if case .shadowed = outcome { return (present, true) }
    // The written value in the form of the store, such as an integer for an unsigned one, is no later change.
    if present.time == new.time, let form = canonical(read.content), let sent = canonical(new.content),
      Optional(form).fingerprint == Optional(sent).fingerprint
    {
      return (present, true)
    }
    // Other code may have replaced the value since, but no other code writes the time.
    let isKept =
      present.time == new.time
      && (present.fingerprint == new.seen.fingerprint || present.fingerprint != old.seen.fingerprint)
    // If the store still has the old value, that value must not count as a later change, because it would win.
    return (present != old.seen ? new.seen : present, isKept)
  }
}

extension SyncedKey.Content {
  var seen: SyncedKey.Seen.Side { SyncedKey.Seen.Side(fingerprint: content.fingerprint, time: time) }

  func holdsSame(as other: Self) -> Bool { content.fingerprint == other.content.fingerprint }

  /// Whether the value was changed by other code, which keeps no times: the time is the same, or was removed together
  /// with the value.
  func isRewritten(since seen: SyncedKey.Seen.Side) -> Bool {
    content.fingerprint != seen.fingerprint && (time == nil || time == seen.time)
  }

  func isNewer(than other: Self) -> Bool { (time ?? .min) > (other.time ?? .min) }
}
