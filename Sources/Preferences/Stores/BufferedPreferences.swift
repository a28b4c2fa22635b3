import Synchronization

/// Changes of a store that are collected first: nothing reaches it before ``commit()``, and ``rollback()`` forgets them.
///
/// Reads see the collected changes over what the store has. A commit carries sets and removals in the order they were made,
/// and each with the secrecy it was written with.
///
/// Over a composite, a key that is typed secret and one of the same name that is typed plain are two, here as there. What
/// was written by name alone is a secret when all that it goes to is sealed, and is seen by plain keys otherwise.
public final class BufferedPreferences: PreferencesStore {
  private struct Slot: Hashable {
    var key: String
    var secrecy: Secrecy
  }

  private struct Pending {
    var value: PreferenceValue?
    /// Tells which of two is newer.
    var number: UInt64
  }

  private struct State {
    var pending: [Slot: Pending] = [:]
    /// Whether everything that the store has is to go first.
    var removesAll = false
    var count: UInt64 = 0

    /// The newest of what was collected for a key and may be seen by who asks with that secrecy.
    func pending(_ key: String, _ secrecy: Secrecy) -> Pending? {
      let seen: [Secrecy] =
        switch secrecy {
        case .plain: [.plain, .any]
        case .secret: [.secret]
        case .any: [.plain, .any, .secret]
        }
      return seen.compactMap { pending[Slot(key: key, secrecy: $0)] }.max { $0.number < $1.number }
    }
  }

  /// The store underneath.
  public let base: any PreferencesStore
  private let state = Mutex(State())
  private let changes = ChangeBroadcast()

  /// Collects changes of `base`.
  public init(_ base: any PreferencesStore) { self.base = base }

  public var name: String { "\(base.name), buffered" }
  public var isSealed: Bool { base.isSealed }
  public var isLayered: Bool { base.isLayered }

  // MARK: Reading

  public func value(forKey key: String) throws -> PreferenceValue? { try value(forKey: key, as: nil, secrecy: .any) }

  public func value(forKey key: String, as kind: PreferenceValue.Kind) throws -> PreferenceValue? {
    try value(forKey: key, as: kind, secrecy: .any)
  }

  public func value(
    forKey key: String, as kind: PreferenceValue.Kind?, secrecy: Secrecy
  ) throws -> PreferenceValue? {
    try PreferenceKeyName.validate(key)
    guard isLayered || secrecy.admits(sealed: isSealed) else { return nil }
    // By name all that was collected is seen, whatever it was collected as.
    let seen = secrecy == .any ? .any : kept(secrecy, key)
    let (pending, removesAll) = state.withLock { ($0.pending(key, seen), $0.removesAll) }
    if let pending { return pending.value }
    return removesAll ? nil : try base.value(forKey: key, as: kind, secrecy: secrecy)
  }

  public func keys() throws -> [String] {
    let (pending, removesAll) = state.withLock { state in
      let keys = Set(state.pending.keys.map(\.key))
      return (keys.map { ($0, state.pending($0, .any)?.value != nil) }, state.removesAll)
    }
    let collected = Dictionary(uniqueKeysWithValues: pending)
    let stored = removesAll ? [] : try base.keys().filter { collected[$0] == nil }
    return stored + collected.filter(\.value).keys.sorted()
  }

  // MARK: Collecting

  @discardableResult
  public func set(_ value: PreferenceValue, forKey key: String) throws(PreferencesError) -> WriteOutcome {
    try write(value, forKey: key, secrecy: .any)
  }

  /// In one step: no reader sees a part of it.
  public func set(_ values: [String: PreferenceValue]) throws(PreferencesError) {
    for key in values.keys { try PreferenceKeyName.validate(key) }
    try collect(values.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }, .any)
  }

  @discardableResult
  public func removeValue(forKey key: String) throws(PreferencesError) -> WriteOutcome {
    try write(nil, forKey: key, secrecy: .any)
  }

  public func accepts(_ secrecy: Secrecy) -> Bool { base.accepts(secrecy) }

  public func secrecy(ofWriting key: String, asked: Secrecy) -> Secrecy {
    base.secrecy(ofWriting: key, asked: asked)
  }

  @discardableResult
  public func write(
    _ value: PreferenceValue?, forKey key: String, secrecy: Secrecy
  ) throws(PreferencesError) -> WriteOutcome {
    try PreferenceKeyName.validate(key)
    try collect([(key, value)], secrecy)
    return .visible
  }

  public func removeAll() {
    state.withLock { $0 = State(removesAll: true, count: $0.count) }
    changes.send(.anything)
  }

  private func collect(
    _ written: [(key: String, value: PreferenceValue?)], _ secrecy: Secrecy
  ) throws(PreferencesError) {
    guard accepts(routed(secrecy)) else { throw .noStore(in: name, for: secrecy) }
    guard !written.isEmpty else { return }
    state.withLock { state in
      for (key, value) in written {
        state.count += 1
        state.pending[Slot(key: key, secrecy: kept(secrecy, key))] = Pending(value: value, number: state.count)
      }
    }
    changes.send(PreferenceChange(keys: Set(written.map(\.key))))
  }

  /// What a key is collected under. A store by itself has one value for a key, whoever asks, and what will be sealed is
  /// secret from the beginning.
  private func kept(_ secrecy: Secrecy, _ key: String) -> Secrecy {
    isLayered ? base.secrecy(ofWriting: key, asked: secrecy) : .any
  }

  // MARK: Ending

  /// Whether nothing waits to be committed.
  public var isClean: Bool { state.withLock { $0.pending.isEmpty && !$0.removesAll } }

  /// Writes everything that was collected to the store, in the order it was made. Commit in one thread at a time.
  ///
  /// - Throws: what the store throws; what it has not taken is still collected then.
  public func commit() throws {
    // What a removal uncovers underneath is news, too.
    defer { changes.send(.anything) }
    if state.withLock({ $0.removesAll }) {
      try base.removeAll()
      state.withLock { $0.removesAll = false }
    }
    for (slot, change) in state.withLock({ $0.pending }).sorted(by: { $0.value.number < $1.value.number }) {
      try base.write(change.value, forKey: slot.key, secrecy: slot.secrecy)
      state.withLock { state in
        // Changed again meanwhile: that one is for the next commit.
        if state.pending[slot]?.number == change.number { state.pending[slot] = nil }
      }
    }
  }

  /// Forgets everything that was collected.
  public func rollback() {
    state.withLock { $0 = State(count: $0.count) }
    changes.send(.anything)
  }

  public func observe(_ notify: @escaping @Sendable (PreferenceChange) -> Void) -> PreferenceObservation {
    let own = changes.observe(notify)
    let underneath = base.observe(notify)
    return PreferenceObservation {
      own.invalidate()
      underneath.invalidate()
    }
  }
}

extension BufferedPreferences: CustomStringConvertible, CustomReflectable {}
