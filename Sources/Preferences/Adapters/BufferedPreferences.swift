package import DurableFiles
import Synchronization

/// Collects changes of a store: `commit()` writes them to the store, and ``rollback()`` discards them.
///
/// Reads return the collected changes and, for other keys, the values of the store. A collected value is returned as it
/// was set: text is not parsed before the commit, and the store may refuse a value only then. A key with a collected
/// removal reads as absent, even if the commit will uncover a value of a lower layer. Over a file, a collected value is
/// also found by the names inside it, and in the dictionary around it; over a view or a composite of a file, only after
/// the commit.
///
/// A commit is one transaction with the edits in the order they were made: over a file, a dictionary `server` that is
/// set after `server.port` replaces the port, too, as it would without a buffer. If the store has a different value of
/// a collected key than when its first change was collected, the commit is a conflict and writes nothing. Not compared
/// are a removal of a key that had no value, a key whose value could not be read, and what is set after `removeAll()`.
///
/// Over a composite, a secret and a plain value of the same name are separate values, as in the composite.
public final class BufferedPreferences: PreferencesStore, GuardingReader {
  private struct Slot: Hashable {
    var name: PreferenceName
    var secrecy: Secrecy
  }

  private struct Pending {
    var content: PreferenceContent?
    /// The higher number is the newer change.
    var number: UInt64
    /// What the store had when the key was first changed.
    var before: Before
  }

  private enum Before {
    case content(PreferenceContent?)
    /// It could not be read, or all values of the store were removed: nothing is compared.
    case unknown

    /// The condition of a change to `new`.
    func condition(for new: PreferenceContent?) -> PreferenceEdits.Condition {
      switch self {
      // A removal of nothing: the store may have no place for the name.
      case .content(nil) where new == nil: .always
      case .content(let content): .ifStored(content)
      case .unknown: .always
      }
    }
  }

  /// One change over a store in which a change of one name can change others.
  private struct Step {
    let slot: Slot
    let content: PreferenceContent?
    let number: UInt64
  }

  private struct State {
    var pending: [Slot: Pending] = [:]
    /// Over a file: the changes in order, without those that a later one makes void.
    var steps: [Step] = []
    /// The number of the last edit that removes all values of the store first; `nil` if there is none.
    var cleared: UInt64?
    var count: UInt64 = 0

    /// How many steps are kept before those that are void are dropped.
    var limit = 64

    mutating func add(_ step: Step) {
      steps.append(step)
      guard steps.count > limit else { return }
      dropVoidSteps()
      limit = max(64, steps.count * 2)
    }

    /// Drops what a later step of the same name makes void, except for names that lead into each other. A removal
    /// before a value stays: it may remove the name from two places.
    private mutating func dropVoidSteps() {
      func outer(_ name: String) -> [String] { name.indices.filter { name[$0] == "." }.map { String(name[..<$0]) } }
      let names = Set(pending.keys.map(\.name.text))
      let around = Set(names.flatMap(outer))
      var kept: [Step] = []
      var hasLaterValue: [Slot: Bool] = [:]
      for step in steps.reversed() {
        let name = step.slot.name.text
        let isAlone = !around.contains(name) && !outer(name).contains(where: names.contains)
        if isAlone, let isValue = hasLaterValue[step.slot], !isValue || step.content != nil { continue }
        hasLaterValue[step.slot] = step.content != nil
        kept.append(step)
      }
      steps = kept.reversed()
    }
  }

  /// The underlying store.
  public let base: any PreferencesStore
  private let state = Mutex(State())
  private let changes = ChangeBroadcast()

  /// Collects changes of `base`.
  public init(_ base: any PreferencesStore) { self.base = base }

  public var name: String { "\(base.name), buffered" }
  public var custody: Custody { base.custody }

  // MARK: Reading

  public func value(for query: PreferenceQuery) throws -> PreferenceValue? {
    if let preview = try preview(around: query.name) { return try preview.value(for: query) }
    return switch collected(query) {
    case .some(let content): try content?.value()
    case nil: try base.value(for: query)
    }
  }

  public func guardedValue(for query: PreferenceQuery) throws -> (any GuardedValue)? {
    if let preview = try preview(around: query.name) { return try preview.guardedLookUp(query) }
    return switch collected(query) {
    case .some(let content): content?.guarded
    case nil: try base.guardedLookUp(query)
    }
  }

  /// The collected content, which is `nil` for a removal; `nil` if nothing was collected for the name.
  private func collected(_ query: PreferenceQuery) -> PreferenceContent?? {
    let slot = slot(query.name, query.secrecy)
    return state.withLock { state in
      if let pending = state.pending[slot] { return .some(pending.content) }
      return state.cleared == nil ? nil : .some(nil)
    }
  }

  private func slot(_ name: PreferenceName, _ secrecy: Secrecy) -> Slot {
    Slot(name: name, secrecy: custody.secrecy(of: name, asked: secrecy))
  }

  /// The store as it would be after a commit, if a name that was changed leads into the value of `name`, or the other
  /// way round. A value that was collected itself, and last, is returned as it was set.
  private func preview(around name: PreferenceName) throws -> (any PreferencesReader)? {
    guard let base = base as? any PreviewingStore else { return nil }
    let state = state.withLock(\.self)
    let text = name.text
    let own = state.pending[slot(name, .plain)]?.number
    let isAround = state.pending.contains { slot, pending in
      let other = slot.name.text
      return (other.hasPrefix(text + ".") || text.hasPrefix(other + ".")) && pending.number > own ?? 0
    }
    return isAround ? try base.preview(of: edits(of: state)) : nil
  }

  public func names(of secrecy: Secrecy) throws -> [PreferenceName] {
    if let base = base as? any PreviewingStore { return try names(after: edits(of: state.withLock(\.self)), in: base) }
    let (pending, isCleared) = state.withLock { ($0.pending.filter { $0.key.secrecy == secrecy }, $0.cleared != nil) }
    let stored = isCleared ? [] : try base.names(of: secrecy)
    let own = pending.filter { $0.value.content != nil }.map(\.key.name).sorted()
    return stored.filter { pending[Slot(name: $0, secrecy: secrecy)] == nil } + own
  }

  /// The names after `edits`: first those that the store has and that are not changed, as over any other store.
  private func names(after edits: PreferenceEdits, in base: any PreviewingStore) throws -> [PreferenceName] {
    let after = try base.preview(of: edits).names(of: .plain)
    let (known, changed) = (Set(after), Set(edits.edits.map(\.name)))
    let kept = edits.clears ? [] : try base.names(of: .plain).filter { known.contains($0) && !changed.contains($0) }
    let keptNames = Set(kept)
    return kept + after.filter { !keptNames.contains($0) }
  }

  // MARK: Collecting

  /// Collects the edits in one step: no reader sees a part of them. A condition is compared with the value that this
  /// store returns, including collected changes.
  @discardableResult
  public func apply(_ edits: PreferenceEdits) throws -> WriteOutcome {
    for edit in edits.edits where !custody.takes(custody.secrecy(of: edit.name, asked: edit.secrecy)) {
      throw PreferencesError.noStore(in: name, for: edit.secrecy)
    }
    while true {
      // Conditions are checked with no lock held, because this reads the underlying store. They are checked again if
      // another change was collected in the meantime.
      let (count, known) = state.withLock { ($0.count, $0.pending) }
      // Read before the conditions are checked: after a write in between, the commit is a conflict.
      var before: [Slot: Before] = [:]
      for edit in edits.edits {
        let slot = slot(edit.name, edit.secrecy)
        before[slot] = edits.clears ? .unknown : known[slot]?.before ?? stored(slot)
      }
      for edit in edits.edits {
        guard case .ifStored(let expected) = edit.condition else { continue }
        let query = PreferenceQuery(edit.name, as: expected?.kind, secrecy: edit.secrecy)
        guard try content(for: query).isSame(as: expected) else { return .conflict }
      }
      let isCollected = state.withLock { state in
        guard state.count == count else { return false }
        state.count += 1
        if edits.clears {
          state.pending = [:]
          state.steps = []
          state.cleared = state.count
        }
        for edit in ordered(edits) {
          state.count += 1
          let slot = slot(edit.name, edit.secrecy)
          state.pending[slot] = Pending(
            content: edit.content, number: state.count, before: before[slot] ?? .unknown)
          if base is any PreviewingStore { state.add(Step(slot: slot, content: edit.content, number: state.count)) }
        }
        return true
      }
      if isCollected { break }
    }
    // Over a file, also what is around the names and inside may have changed.
    changes.send(base is any PreviewingStore ? .anything : edits.change)
    return .visible
  }

  /// The asynchronous form of `apply(_:)`; reads the store without blocking the calling thread.
  @discardableResult
  public func apply(_ edits: PreferenceEdits) async throws -> WriteOutcome {
    try await ChangeBroadcast.notifyingOnHelper { try await reading { try $0.apply(edits) } }
  }

  /// Outer names first if they have no order, as a file makes the edits of one call. The store may be a view of one.
  private func ordered(_ edits: PreferenceEdits) -> [PreferenceEdits.Edit] {
    guard edits.isUnordered else { return edits.edits }
    let lengths = edits.edits.enumerated().map { ($1.name.text.utf8.count, $0) }.sorted { $0 < $1 }
    return lengths.map { edits.edits[$0.1] }
  }

  /// What the store has now.
  private func stored(_ slot: Slot) -> Before {
    if state.withLock({ $0.cleared != nil }) { return .unknown }
    do { return .content(try base.content(for: PreferenceQuery(slot.name, secrecy: slot.secrecy))) } catch {
      // The value was unreadable to its writer, too.
      return .unknown
    }
  }

  // MARK: Ending

  /// Whether there are no changes to commit.
  public var isClean: Bool { state.withLock { $0.pending.isEmpty && $0.cleared == nil } }

  /// Writes all collected changes to the store, as one transaction. Commit from one thread at a time.
  ///
  /// - Returns: `WriteOutcome.conflict` if other code has changed one of the values in the store. Nothing is written,
  ///   and the changes remain collected: ``rollback()`` discards them.
  /// - Throws: the error of the store. The changes then remain collected.
  @discardableResult
  public func commit() throws -> WriteOutcome {
    let collected = state.withLock(\.self)
    let outcome = try base.edit(edits(of: collected))
    if outcome != .conflict { forget(collected) }
    return outcome
  }

  /// The asynchronous form of `commit()`; does not block the calling thread.
  @discardableResult
  public func commit() async throws -> WriteOutcome {
    let collected = state.withLock(\.self)
    return try await ChangeBroadcast.notifyingOnHelper {
      let outcome = try await base.edit(edits(of: collected))
      if outcome != .conflict { forget(collected) }
      return outcome
    }
  }

  private func edits(of collected: State) -> PreferenceEdits {
    var steps = collected.steps
    if !(base is any PreviewingStore) {
      let all = collected.pending.map { Step(slot: $0, content: $1.content, number: $1.number) }
      steps = all.sorted { $0.number < $1.number }
    }
    var edits = PreferenceEdits([], clearing: collected.cleared != nil)
    var compared: Set<Slot> = []
    for step in steps {
      let pending = collected.pending[step.slot]
      let condition = compared.insert(step.slot).inserted ? pending?.before.condition(for: pending?.content) : nil
      edits.append(
        .init(step.slot.name, to: step.content, secrecy: step.slot.secrecy, if: condition ?? .always))
    }
    return edits
  }

  private func forget(_ collected: State) {
    state.withLock { state in
      if state.cleared == collected.cleared { state.cleared = nil }
      state.steps.removeAll { $0.number <= collected.count }
      // A key that was changed again in the meantime is kept for the next commit.
      state.pending = state.pending.filter { $0.value.number != collected.pending[$0.key]?.number }
      for (slot, written) in collected.pending where state.pending[slot] != nil {
        // A removal may have uncovered a value of a lower layer.
        state.pending[slot]?.before = written.content.map { .content($0) } ?? .unknown
      }
      state.count += 1
    }
    // A removal can also uncover a value of a lower layer, which is a change.
    changes.send(.anything)
  }

  /// Discards all collected changes.
  public func rollback() {
    state.withLock { $0 = State(count: $0.count + 1) }
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
extension BufferedPreferences: WaitingReader { package var threads: HelperPool? { base.readingThreads } }
