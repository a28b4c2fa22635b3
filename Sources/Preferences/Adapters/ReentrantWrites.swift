import Synchronization

/// The writes of a store without transactions, one at a time, and the observers of its changes.
///
/// A closure that runs during a write may write as well, on the same thread. Observers are notified after the outermost
/// write, with no lock held.
final class ReentrantWrites: Sendable {
  private struct State {
    var depth = 0
    var changed: Set<String> = []
  }

  let changes = ChangeBroadcast()
  private let lock = RecursiveLock()
  private let state = Mutex(State())

  /// Makes edits as ``PreferenceEdits/applyOneByOne(in:write:)``.
  func apply(
    _ edits: PreferenceEdits, in reader: some PreferencesReader,
    write: (PreferenceValue?, PreferenceName) throws -> Void
  ) throws -> WriteOutcome {
    var changed: Set<String> = []
    let result = lock.withLock { () -> Result<WriteOutcome, any Error> in
      state.withLock { $0.depth += 1 }
      var written: Set<String> = []
      let result = Result {
        try edits.applyOneByOne(in: reader) { value, name in
          try write(value, name)
          written.insert(name.text)
        }.outcome
      }
      // Also after a failure: what was written before may not have been taken back.
      changed = finish(written)
      return result
    }
    if !changed.isEmpty { changes.send(PreferenceChange(keys: changed)) }
    return try result.get()
  }

  /// - Returns: the names that the outermost write and those inside it have written; none inside another write.
  private func finish(_ written: Set<String>) -> Set<String> {
    state.withLock { state in
      state.depth -= 1
      state.changed.formUnion(written)
      guard state.depth == 0 else { return [] }
      defer { state.changed = [] }
      return state.changed
    }
  }
}
