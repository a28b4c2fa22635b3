public import Preferences

import Synchronization

extension Field {
  /// Keeps the field and its preference in `store` equal, while the observation is held or its owner is alive.
  ///
  /// The field takes the stored value now, `nil` if there is none, and again after each change of the store. A
  /// different value that is set in the field is stored in the background; of several values set meanwhile, only the
  /// newest is stored. Setting does not wait; ``save()`` does. If the store cannot be written to, or the value breaks a
  /// rule of the field, the field keeps its value, nothing is stored, and the field is
  /// ``FieldLoadState/failed(_:)``; this error, and later errors of reading the store, are reported to
  /// `PreferenceFailures`. Values that are set before the observation ends are still stored. If a layer above hides a
  /// stored value, this is reported there, too, and the field takes the value of that layer.
  ///
  /// ```swift
  /// let binding = try person.name.bind(to: settings)
  /// person.name.value = "Ann"
  /// try await person.name.save()
  /// ```
  ///
  /// - Throws: as ``PreferencesReader/value(for:)-(PreferenceKey<Value>)``, with the field unchanged and not bound.
  public func bind(to store: any PreferencesStore) throws -> PreferenceObservation {
    let binding = FieldBinding(self, store)
    let changes = store.observe { [key] change in if change.concerns(key.name) { binding.storeChanged() } }
    let observation = add(.store(binding), id: binding.id) { changes.invalidate() }
    try binding.begin(observation)
    return observation
  }

  /// Returns when the value is stored; tries again if the last attempt failed.
  ///
  /// - Throws: ``PreferencesError/Code/noStore`` if the field is bound to no store; the error of the store, with the
  ///   field ``FieldLoadState/failed(_:)``.
  public func save() async throws {
    let bindings = state.withLock { state in
      state.observers.compactMap { if case .store(let binding) = $0.kind { binding } else { nil } }
    }
    guard !bindings.isEmpty else {
      throw PreferencesError(.noStore, "the field is bound to no store").about(key: name)
    }
    for binding in bindings { try await binding.save() }
  }
}

/// Keeps a field and its preference in a store equal.
///
/// The store is read after each of its changes; while values are being stored, only after the last value: the
/// notification of an older value must not replace a newer value in the field.
final class FieldBinding<Value: Sendable & Equatable>: Sendable {
  /// A value of the field, with the field's generation.
  private typealias Write = (value: Value?, generation: Int)

  private struct State {
    weak var field: Field<Value>?
    weak var observation: PreferenceObservation?
    /// Stores values until none is waiting.
    var task: Task<Void, any Error>?
    var waiting: Write?
    /// The value whose storing failed.
    var unsaved: Write?
    /// The generation of the newest value that the field has sent.
    var newest = -1
  }

  let id = nextFieldNumber()
  private let key: PreferenceKey<Value?>
  private let rules: [Rule<Value>]
  private let store: any PreferencesStore
  private let state = Mutex(State())

  init(_ field: Field<Value>, _ store: any PreferencesStore) {
    key = field.key
    rules = field.rules
    self.store = store
    state.withLock { $0.field = field }
  }

  func begin(_ observation: PreferenceObservation) throws {
    state.withLock { $0.observation = observation }
    try pull()
  }

  // MARK: From the field to the store

  /// Stores a value in the background. Does nothing if the field has sent a newer value.
  func store(_ value: Value?, generation: Int) {
    state.withLock { state in
      guard generation > state.newest else { return }
      state.newest = generation
      state.waiting = (value, generation)
      start(&state)
    }
  }

  func save() async throws {
    let task = state.withLock { state in
      if state.task == nil, let unsaved = state.unsaved {
        state.waiting = unsaved
        start(&state)
      }
      return state.task
    }
    try await task?.value
  }

  private func start(_ state: inout State) {
    if state.task == nil { state.task = Task { try await self.write() } }
  }

  private func write() async throws {
    var failed: (write: Write, error: any Error)?
    while let next = next(after: failed?.write) {
      do {
        try rules.check(next.value, of: key.name)
        let outcome = try await store.set(next.value, for: key)
        failed = nil
        PreferenceFailures.report(outcome, key: key.name, writer: store.name)
      } catch {
        failed = (next, error)
        report(error)
      }
    }
    let failure = failed
    // The read may wait, and so may observers of the field.
    try await BlockingWork.run {
      guard let failure else { return pullReporting() }
      state.withLock(\.field)?.fail(failure.error, ifGeneration: failure.write.generation)
      throw failure.error
    }
  }

  /// Returns the value to store next. If there is none, the task ends.
  private func next(after failed: Write?) -> Write? {
    state.withLock { state in
      defer { state.waiting = nil }
      if state.waiting == nil {
        state.task = nil
        state.unsaved = failed
      }
      return state.waiting
    }
  }

  // MARK: From the store to the field

  func storeChanged() {
    guard state.withLock(\.observation)?.isWanted ?? false else { return }
    pullReporting()
  }

  private func pullReporting() {
    do { try pull() } catch { report(error) }
  }

  /// Reads the store; reads it again if the field was set in between.
  private func pull() throws {
    while let field = state.withLock(\.field) {
      let generation = field.state.withLock(\.generation)
      guard state.withLock(\.task) == nil else { return }
      let value = try store.value(for: key)
      if field.change(.store(generation: generation, id: id), { $0 = value }) {
        return state.withLock { $0.unsaved = nil }
      }
    }
  }

  private func report(_ error: any Error) { PreferenceFailures.report(error, key: key.name, reader: store.name) }
}
