extension PreferencesStore {
  /// Stores `new` if a lookup still returns `old`; `nil` removes the value.
  ///
  /// - Returns: ``WriteOutcome/conflict``, with nothing changed, if the lookup returns a different value.
  @discardableResult
  public func compareAndSet(
    _ old: PreferenceContent?, to new: PreferenceContent?, for query: PreferenceQuery
  ) throws -> WriteOutcome {
    try edit(PreferenceEdits(query, from: old, to: new))
  }

  /// The asynchronous form of `compareAndSet(_:to:for:)`; does not block the calling thread.
  @discardableResult
  public func compareAndSet(
    _ old: PreferenceContent?, to new: PreferenceContent?, for query: PreferenceQuery
  ) async throws -> WriteOutcome {
    try await edit(PreferenceEdits(query, from: old, to: new))
  }

  /// Stores `new` under `key` if a lookup still returns `old`; `nil` removes the value.
  ///
  /// - Returns: ``WriteOutcome/conflict``, with nothing changed, if the lookup returns a different value.
  /// - Throws: ``PreferencesError/Code/invalidKey``, and any error of the store.
  @discardableResult
  public func compareAndSet(
    _ old: PreferenceValue?, to new: PreferenceValue?, forKey key: String
  ) throws -> WriteOutcome {
    try compareAndSet(
      old.map(PreferenceContent.value), to: new.map(PreferenceContent.value), for: try PreferenceQuery(key))
  }

  /// The asynchronous form of `compareAndSet(_:to:forKey:)`; does not block the calling thread.
  @discardableResult
  public func compareAndSet(
    _ old: PreferenceValue?, to new: PreferenceValue?, forKey key: String
  ) async throws -> WriteOutcome {
    try await compareAndSet(
      old.map(PreferenceContent.value), to: new.map(PreferenceContent.value), for: try PreferenceQuery(key))
  }

  /// Changes the value of a declared key with compare-and-set, so that no concurrent change is lost.
  ///
  /// `change` gets the value or the default. It runs with no lock held, and again if another write came first, at most
  /// 10,000 times. It must not write the same key.
  /// - Throws: what `change` throws, with the previous value intact; ``PreferencesError/Code/conflict`` if another
  ///   write came first each time; the errors of
  ///   ``PreferencesReader/value(for:)-(PreferenceKey<Value>)`` and `set(_:for:)`.
  @discardableResult
  public func update<Value>(
    _ key: PreferenceKey<Value>, _ change: (inout Value) throws -> Void
  ) throws -> WriteOutcome {
    for _ in 0..<UpdateLimit.attempts {
      let attempt = try UpdateAttempt(key, of: try content(for: try key.query()), in: self) { try change(&$0) }
      let outcome = try compareAndSet(attempt.stored, to: attempt.content, for: attempt.query)
      if outcome != .conflict { return outcome }
    }
    throw UpdateLimit.refusal.about(key: key.name)
  }

  /// The asynchronous form of `update(_:_:)`; does not block the calling thread.
  @discardableResult
  public func update<Value>(
    _ key: PreferenceKey<Value>, _ change: (inout Value) throws -> Void
  ) async throws -> WriteOutcome {
    for _ in 0..<UpdateLimit.attempts {
      let stored = try await reading { try $0.content(for: try key.query()) }
      let attempt = try UpdateAttempt(key, of: stored, in: self) { try change(&$0) }
      let outcome = try await compareAndSet(attempt.stored, to: attempt.content, for: attempt.query)
      if outcome != .conflict { return outcome }
    }
    throw UpdateLimit.refusal.about(key: key.name)
  }
}

/// The end of a compare-and-set that runs a closure of the caller again after each conflict.
package enum UpdateLimit {
  /// A thousand writers of one key are far from losing as often in a row. A closure that writes the key itself always
  /// loses.
  package static let attempts = 10_000
  package static let refusal = PreferencesError(
    .conflict, "the value was changed during each of \(attempts) attempts to update it; the closure must not write it")
}

/// The stored value of a key, and the content that a change replaces it with.
private struct UpdateAttempt {
  let query: PreferenceQuery
  let stored: PreferenceContent?
  let content: PreferenceContent?

  init<Value: Sendable>(
    _ key: PreferenceKey<Value>, of stored: PreferenceContent?, in reader: some PreferencesReader,
    _ change: (inout Value) throws -> Void
  ) throws {
    query = try key.query()
    self.stored = stored
    var value = try stored.map { try key.decoded($0, of: reader) } ?? key.defaultValue
    try change(&value)
    content = try key.encoded(value, for: reader)
  }
}
