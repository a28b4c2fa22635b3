extension PreferenceEdits {
  /// Makes the edits one after another, for a store without transactions. If one fails, the previous ones are undone.
  /// Call it while no other write of the store runs.
  ///
  /// - Parameter write: stores a value; removes it if the value is `nil`.
  /// - Returns: the outcome, and the changed names.
  /// - Throws: what reading and writing throw; `unavailable` if the previous edits could not be
  ///   undone.
  public func applyOneByOne(
    in reader: some PreferencesReader, write: (PreferenceValue?, PreferenceName) throws -> Void
  ) throws -> (outcome: WriteOutcome, changed: Set<String>) {
    for edit in edits {
      guard case .ifStored(let expected) = edit.condition else { continue }
      let stored = try reader.content(for: PreferenceQuery(edit.name, as: expected?.kind, secrecy: edit.secrecy))
      guard try stored.isSame(as: expected) else { return (.conflict, []) }
    }
    let custody = reader.custody
    var changes: [(PreferenceName, PreferenceValue?)] = []
    for secrecy in [Secrecy.plain, .secret] where clears && custody.holds(secrecy) {
      changes += try reader.names(of: secrecy).map { ($0, nil) }
    }
    changes += try edits.map { ($0.name, try $0.content?.value()) }
    var undo: [(PreferenceName, PreferenceValue?)] = []
    for (name, value) in changes {
      do {
        // The last change is never undone.
        let old = undo.count + 1 < changes.count ? try reader.value(for: PreferenceQuery(name)) : nil
        try write(value, name)
        undo.append((name, old))
      } catch {
        do { for (name, old) in undo.reversed() { try write(old, name) } } catch let failure {
          throw PreferencesError(
            .unavailable, "a change of \"\(reader.name)\" failed, and those before it could not be taken back",
            cause: failure)
        }
        throw error
      }
    }
    return (.visible, Set(changes.map(\.0.text)))
  }
}
