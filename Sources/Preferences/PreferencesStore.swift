/// A reader that can be written to.
///
/// A store implements `apply(_:)`: `Preferences.docc/PreferencesStore.md` has a complete one. Every other write calls
/// `edit(_:)`. In an `async` function the compiler chooses the form that suspends; in a closure without an `await`,
/// such as `Task { try store.set(1, for: key) }`, the form that blocks.
public protocol PreferencesStore: PreferencesReader {
  /// Makes all of `edits` or none. Call `edit(_:)` instead, which refuses secrets if the store holds none.
  ///
  /// - Returns: ``WriteOutcome/conflict``, with nothing changed, if a condition does not hold.
  /// - Throws: any error of the store, with nothing changed unless the store documents otherwise.
  @discardableResult
  func apply(_ edits: PreferenceEdits) throws -> WriteOutcome

  /// The asynchronous form of `apply(_:)`; does not block the calling thread. A store that never blocks implements only
  /// the synchronous form.
  @discardableResult
  func apply(_ edits: PreferenceEdits) async throws -> WriteOutcome
}

extension PreferencesReader {
  /// Throws `noStore` for secrets if the reader does not accept them, and `limitExceeded` for a value that is nested
  /// too deep.
  func checkTakes(_ edits: PreferenceEdits) throws(PreferencesError) {
    // By index: iterating copies each edit.
    for index in edits.edits.indices {
      if case .value(let value)? = edits.edits[index].content, value.isTooDeep {
        throw PreferencesError.tooDeep.about(key: edits.edits[index].name.text)
      }
    }
    guard edits.changesSecrets, !custody.takes(.secret) else { return }
    throw .noStore(in: name, for: .secret)
  }
}

// MARK: One transaction

extension PreferencesStore {
  /// Makes all of `edits` or none.
  ///
  /// - Returns: ``WriteOutcome/conflict``, with nothing changed, if a condition does not hold.
  /// - Throws: ``PreferencesError/Code/noStore`` for a secret if the store holds none,
  ///   ``PreferencesError/Code/limitExceeded`` for a value that is nested deeper than 128 levels, and any error of the
  ///   store.
  @discardableResult
  public func edit(_ edits: PreferenceEdits) throws -> WriteOutcome {
    try checkTakes(edits)
    return edits.isEmpty ? .visible : try apply(edits)
  }

  /// The asynchronous form of `edit(_:)`; does not block the calling thread. Observers run on a helper thread, before
  /// it returns.
  @discardableResult
  public func edit(_ edits: PreferenceEdits) async throws -> WriteOutcome {
    try checkTakes(edits)
    guard !edits.isEmpty else { return .visible }
    return try await ChangeBroadcast.notifyingOnHelper { try await apply(edits) }
  }

  /// Makes all edits that `collect` adds, or none; as `edit(_:)`.
  @discardableResult
  public func edit(_ collect: (inout PreferenceEdits) throws -> Void) throws -> WriteOutcome {
    try edit(try PreferenceEdits(collecting: collect))
  }

  /// The asynchronous form of `edit(_:)`; does not block the calling thread.
  @discardableResult
  public func edit(_ collect: (inout PreferenceEdits) throws -> Void) async throws -> WriteOutcome {
    try await edit(try PreferenceEdits(collecting: collect))
  }
}

extension PreferenceEdits {
  /// Creates the edits that `collect` adds.
  init(collecting collect: (inout PreferenceEdits) throws -> Void) rethrows {
    self.init()
    try collect(&self)
  }

  /// Creates the edits that store the entries of a dictionary.
  init(_ values: [String: PreferenceValue]) throws(PreferencesError) {
    self.init()
    isUnordered = true
    for (key, value) in values { try set(value, forKey: key) }
  }

  init(_ key: String, to value: PreferenceValue?) throws(PreferencesError) {
    self.init(Edit(try PreferenceName(key), to: value.map(PreferenceContent.value)))
  }

  /// One edit that is made only if a lookup still returns `old`.
  init(_ query: PreferenceQuery, from old: PreferenceContent?, to new: PreferenceContent?) {
    self.init(Edit(query.name, to: new, secrecy: query.secrecy, if: .ifStored(old)))
  }
}
