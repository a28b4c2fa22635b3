/// The plan for the edits of a composite: one transaction for each store that is changed.
struct CompositePlan {
  struct Step {
    let store: any PreferencesStore
    let edits: PreferenceEdits
    /// Restores the previous values, name by name, unless another write has happened in between.
    let undo: [PreferenceEdits]
    private(set) var outcome = WriteOutcome.visible

    /// Whether an undo that failed has left a value changed. If it cannot be read, it counts as changed if the write
    /// was acknowledged.
    func isChanged(despite undoing: PreferenceEdits, wasDone: Bool) -> Bool {
      undoing.edits.contains { edit in
        let query = PreferenceQuery(edit.name, secrecy: edit.secrecy)
        do { return try !store.content(for: query).isSame(as: edit.content) } catch { return wasDone }
      }
    }

    /// The error of an undo that was not made because the value is not the written one; `nil` if other code has changed
    /// it, or it is the old one. Where names lead into each other, it can also have been changed by the next edit.
    func conflict(of undoing: PreferenceEdits) -> PreferencesError? {
      guard !CompositePlan.nestedNames(of: edits).isEmpty, isChanged(despite: undoing, wasDone: true) else {
        return nil
      }
      return PreferencesError(.unavailable, "a value has changed").about("\"\(store.name)\"")
    }

    fileprivate init(_ store: any PreferencesStore, _ edits: PreferenceEdits, undo: [PreferenceEdits]) {
      self.store = store
      self.edits = edits
      self.undo = undo
    }

    func finished(_ outcome: WriteOutcome) -> Self {
      guard outcome != .visible else { return self }
      // The written values cannot be read back, so they are undone unconditionally.
      let blind = undo.map { undoing in
        PreferenceEdits(undoing.edits.map { .init($0.name, to: $0.content, secrecy: $0.secrecy) })
      }
      var step = Step(store, edits, undo: blind)
      step.outcome = outcome
      return step
    }
  }

  private(set) var steps: [Step] = []
  private var shadow: String?

  /// Reads everything before the first write, so that a failing layer leaves every store unchanged.
  ///
  /// - Returns: `nil` if a condition does not hold.
  init?(_ edits: PreferenceEdits, in composite: CompositePreferences) throws(PreferencesError) {
    var parts: [Int: (store: any PreferencesStore, edits: PreferenceEdits)] = [:]
    if edits.clears {
      for secrecy in [Secrecy.plain, .secret] {
        for target in Self.targets(of: secrecy, in: composite) {
          parts[target.place] = (target.store, try Self.clearing(target, of: secrecy, in: composite))
        }
      }
      if parts.isEmpty { throw .noStore(in: composite.name, for: .plain) }
    }
    for edit in edits.edits {
      let secrecy = try composite.resolved(edit.name, edit.secrecy)
      let targets = Self.targets(of: secrecy, in: composite)
      guard let first = targets.first else { throw .noStore(in: composite.name, for: secrecy) }
      var condition = edit.condition
      if case .ifStored(let expected) = edit.condition {
        let query = PreferenceQuery(edit.name, as: expected?.kind, secrecy: secrecy)
        // Read before the lookup: a write in between makes the store's own condition fail.
        let stored = try CompositeSide.content(query, in: first.store)
        let isMet = try CompositeSide.asking(composite) { try composite.content(for: query).isSame(as: expected) }
        guard isMet else { return nil }
        condition = .ifStored(stored)
      }
      if shadow == nil {
        let query = PreferenceQuery(edit.name, secrecy: secrecy)
        shadow = try composite.side(secrecy).layer(holding: query, above: first.rank)?.name
      }
      for target in targets {
        var part = parts[target.place] ?? (target.store, PreferenceEdits())
        part.edits.isUnordered = edits.isUnordered
        part.edits.append(.init(edit.name, to: edit.content, secrecy: secrecy, if: condition))
        condition = .always
        parts[target.place] = part
      }
    }
    // Last what cannot be undone, and before it what loses the metadata of a record when it is undone.
    let places = parts.map { place, part in
      (place, part, last: part.edits.clears ? 2 : part.store.custody.takes(.secret) ? 1 : 0)
    }.sorted { ($0.last, $0.0) < ($1.last, $1.0) }
    for (index, (_, part, _)) in places.enumerated() {
      var undo: [PreferenceEdits] = []
      // A single step is never undone, and a removal of everything cannot be.
      if places.count > 1, !part.edits.clears {
        do throws(PreferencesError) { undo = try Self.undoing(part.edits, in: part.store) } catch {
          // The last step is undone only if its store throws after it has written: an expired value can be replaced.
          guard index + 1 == places.count else { throw error }
        }
      }
      steps.append(Step(part.store, part.edits, undo: undo))
    }
  }

  func outcome(of done: [Step]) -> WriteOutcome {
    shadow.map(WriteOutcome.shadowed) ?? done.lazy.map(\.outcome).first { $0 != .visible } ?? .visible
  }

  static func notTakenBack(_ failure: PreferencesError?, _ cause: any Error) -> PreferencesError {
    let reason = failure.map { "\($0.message); " } ?? ""
    return PreferencesError(
      .unavailable, "\(reason)what was written before could not be taken back", cause: cause)
  }

  private static func targets(
    of secrecy: Secrecy, in composite: CompositePreferences
  ) -> ArraySlice<CompositeSide.Target> {
    let stores = composite.side(secrecy).stores
    return composite.writeMode == .firstStore ? stores.prefix(1) : stores[...]
  }

  /// The removal of all values of this secrecy from a store, and of all others if it is the target of those, too.
  private static func clearing(
    _ target: CompositeSide.Target, of secrecy: Secrecy, in composite: CompositePreferences
  ) throws(PreferencesError) -> PreferenceEdits {
    let other: Secrecy = secrecy == .plain ? .secret : .plain
    let isTargetOfOthers = targets(of: other, in: composite).contains { $0.place == target.place }
    guard target.store.custody.fixed.takes(other), !isTargetOfOthers else { return PreferenceEdits([], clearing: true) }
    let names = try CompositeSide.asking(target.store) { try target.store.names(of: secrecy) }
    return PreferenceEdits(names.map { .init($0, to: nil, secrecy: secrecy) })
  }

  private static func undoing(
    _ edits: PreferenceEdits, in store: any PreferencesStore
  ) throws(PreferencesError) -> [PreferenceEdits] {
    let nested = nestedNames(of: edits)
    // In a file, an edit also changes the values around its name and inside, so that these are restored in one step.
    let after = try CompositeSide.asking(store) {
      nested.isEmpty ? nil : try (store as? any PreviewingStore)?.preview(of: edits)
    }
    var together = PreferenceEdits()
    together.isUnordered = true
    var undo: [PreferenceEdits] = []
    for edit in edits.edits.reversed() {
      let query = PreferenceQuery(edit.name, secrecy: edit.secrecy)
      let old = try CompositeSide.content(query, in: store)
      if let after, nested.contains(edit.name.text) {
        let written = try CompositeSide.content(query, in: after)
        together.append(.init(edit.name, to: old, secrecy: edit.secrecy, if: .ifStored(written)))
      } else {
        undo.append(PreferenceEdits(query, from: edit.content, to: old))
      }
    }
    return together.isEmpty ? undo : [together] + undo
  }

  /// The names that lead into each other, as `server` and `server.port`.
  private static func nestedNames(of edits: PreferenceEdits) -> Set<String> {
    let names = edits.names
    var nested: Set<String> = []
    for name in names {
      for dot in name.indices where name[dot] == "." && names.contains(String(name[..<dot])) {
        nested.formUnion([name, String(name[..<dot])])
      }
    }
    return nested
  }
}
