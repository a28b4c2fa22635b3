/// Several layers as one store; the first layer that has a key returns its value.
///
/// ```swift
/// let settings: CompositePreferences = [
///   vault.claiming(.names(["github"])), EnvironmentPreferences(prefix: "SHOP"), defaults,
/// ]
/// ```
///
/// **Which layers.** Secrets are looked up in, and written to, sealed layers only; plain values in the other layers
/// only: see ``Custody``. A sealed layer declares which names it claims; until it does, every lookup and write throws
/// ``PreferencesError/Code/unclaimed``.
///
/// A layer that fails stops the lookup. It is never skipped in favour of a lower layer, because a locked vault must not
/// look like an absent setting. Composites nest.
///
/// An error of a layer is thrown as ``PreferencesError/Code/unavailable`` with the name of the layer, and with the
/// original error as its cause. Only ``PreferencesError/Code/typeMismatch`` and ``PreferencesError/Code/outOfRange``
/// keep their code: the layer has returned a value, and the value is at fault.
public struct CompositePreferences: PreferencesStore, GuardingReader {
  /// Which layers are changed by writes, removals, merges and removals of everything.
  public enum WriteMode: Sendable, Hashable {
    /// The first layer that is a store and accepts values of the edit's secrecy.
    case firstStore
    /// Every layer that is a store and accepts values of the edit's secrecy.
    case allStores
  }

  public let name: String
  /// The layers, highest precedence first.
  public let layers: [any PreferencesReader]
  /// Which layers are changed.
  public let writeMode: WriteMode
  public let custody: Custody
  let plain: CompositeSide
  let sealed: CompositeSide
  private let refusal: PreferencesError?

  /// Creates a composite of `layers`, highest precedence first.
  ///
  /// - Parameter writeMode: which layers writes change.
  public init(_ layers: [any PreferencesReader], name: String = "composite", writeMode: WriteMode = .firstStore) {
    self.name = name
    self.layers = layers
    self.writeMode = writeMode
    custody = Custody(of: layers)
    plain = CompositeSide(layers, .plain)
    sealed = CompositeSide(layers, .secret)
    refusal = layers.first { $0.custody.fixed.claim == nil }.map { layer in
      PreferencesError(.unclaimed, "sealed layer \"\(layer.name)\" does not say which names it claims")
    }
  }

  // MARK: Reading

  /// Returns the value of the first layer that has it, among the layers that hold values of its secrecy; `nil` if it is
  /// absent in all of them. A plain layer's dictionary is returned without the entries that a sealed layer claims, such
  /// as `db.password` in `db`. So is the text of a JSON object: as a dictionary if a layer claims one of its entries.
  public func value(for query: PreferenceQuery) throws(PreferencesError) -> PreferenceValue? {
    switch try resolved(query.name, query.secrecy) {
    case .plain:
      guard let value = try plain.value(for: query) else { return nil }
      return custody.withoutClaimed(value, under: query.name.text)
    case .secret: return try sealed.value(for: PreferenceQuery(query.name, as: query.kind, secrecy: .secret))
    }
  }

  public func guardedValue(for query: PreferenceQuery) throws -> (any GuardedValue)? {
    guard try resolved(query.name, query.secrecy) == .secret else {
      return try value(for: query).map { PreferenceContent.value($0).guarded }
    }
    let query = PreferenceQuery(query.name, as: query.kind, secrecy: .secret)
    for layer in sealed.layers {
      if let value = try CompositeSide.asking(layer, { try layer.guardedLookUp(query) }) { return value }
    }
    return nil
  }

  /// The names in all layers that hold values of this secrecy, in the order of the layers, without duplicates. A plain
  /// layer's name that a sealed layer claims is left out.
  public func names(of secrecy: Secrecy) throws(PreferencesError) -> [PreferenceName] {
    if let refusal { throw refusal }
    var seen: Set<PreferenceName> = []
    var names: [PreferenceName] = []
    for layer in side(secrecy).layers {
      for name in try CompositeSide.asking(layer, { try layer.names(of: secrecy) })
      where (secrecy == .secret || custody.secrecy(of: name) == .plain) && seen.insert(name).inserted {
        names.append(name)
      }
    }
    return names
  }

  /// Receives the changes of every layer. ``PreferencesReader/updates(for:initial:buffering:)`` delivers a value only
  /// if the effective value has changed.
  public func observe(_ notify: @escaping @Sendable (PreferenceChange) -> Void) -> PreferenceObservation {
    let observations = layers.map { $0.observe(notify) }
    return PreferenceObservation { observations.forEach { $0.invalidate() } }
  }

  func resolved(_ name: PreferenceName, _ asked: Secrecy) throws(PreferencesError) -> Secrecy {
    if let refusal { throw refusal }
    return custody.secrecy(of: name, asked: asked)
  }

  func side(_ secrecy: Secrecy) -> CompositeSide { secrecy == .secret ? sealed : plain }

  // MARK: Writing

  /// Makes the edits in the layers that ``writeMode`` selects. A removal of everything removes the plain values of the
  /// first store that takes plain values and the secrets of the first that takes secrets, or empties all stores.
  /// Conditions are checked against lookups in the composite. A dictionary replaces that of the store as a whole: with
  /// entries of it that a sealed layer claims, which lookups leave out.
  ///
  /// - Returns: ``WriteOutcome/shadowed(by:)`` if a higher layer has the key, so that lookups still return its value;
  ///   otherwise ``WriteOutcome/visible``, even if after a removal a lower layer has the key: see ``explain(_:)``.
  /// - Throws: ``PreferencesError/Code/noStore``; ``PreferencesError/Code/notStorable`` for a plain dictionary, or the
  ///   text of a JSON object, with an entry that a sealed layer claims; ``PreferencesError/Code/unavailable`` if a
  ///   layer fails. If one of several stores fails, the values of all are restored, except after a removal of
  ///   everything; the message says so if that fails, too. The labels, attributes and expiries of records in a vault
  ///   are not restored.
  @discardableResult
  public func apply(_ edits: PreferenceEdits) throws(PreferencesError) -> WriteOutcome {
    if let refusal { throw refusal }
    try checkClaims(edits)
    if let store = try soleTarget(of: edits) {
      do { return try store.apply(edits) } catch { throw CompositeSide.failure(of: store, error) }
    }
    guard let plan = try CompositePlan(edits, in: self) else { return .conflict }
    var done: [CompositePlan.Step] = []
    for step in plan.steps {
      do throws(PreferencesError) {
        let outcome = try CompositeSide.asking(step.store) { try step.store.apply(step.edits) }
        if outcome == .conflict {
          try Self.undo(done)
          return .conflict
        }
        done.append(step.finished(outcome))
      } catch {
        try Self.undo(done, and: step, after: error)
        throw error
      }
    }
    return plan.outcome(of: done)
  }

  /// The asynchronous form of `apply(_:)`; does not block the calling thread.
  @discardableResult
  public func apply(_ edits: PreferenceEdits) async throws -> WriteOutcome {
    if let refusal { throw refusal }
    try checkClaims(edits)
    if let store = try soleTarget(of: edits) {
      do { return try await store.apply(edits) } catch { throw CompositeSide.failure(of: store, error) }
    }
    guard let plan = try await reading({ try CompositePlan(edits, in: $0) }) else { return .conflict }
    var done: [CompositePlan.Step] = []
    for step in plan.steps {
      let outcome: WriteOutcome
      do { outcome = try await step.store.apply(step.edits) } catch {
        let error = CompositeSide.failure(of: step.store, error)
        try await Self.undo(done, and: step, after: error)
        throw error
      }
      if outcome == .conflict {
        try await Self.undo(done)
        return .conflict
      }
      done.append(step.finished(outcome))
    }
    return plan.outcome(of: done)
  }

  /// No plain layer receives a value under a name that a sealed layer claims.
  private func checkClaims(_ edits: PreferenceEdits) throws(PreferencesError) {
    guard custody.holds(.secret) else { return }
    for edit in edits.edits where edit.secrecy == .plain {
      guard case .value(let value)? = edit.content, custody.secrecy(of: edit.name) == .plain,
        let claimed = custody.claimedName(in: value, under: edit.name.text)
      else { continue }
      throw PreferencesError(.notStorable, "a sealed layer claims \"\(claimed)\": store it under that name")
        .about(key: edit.name.text)
    }
  }

  /// The store that can receive the edits directly; `nil` unless there is one edit, without a condition, and no layer
  /// is above its target.
  private func soleTarget(of edits: PreferenceEdits) throws(PreferencesError) -> (any PreferencesStore)? {
    guard writeMode == .firstStore, !edits.clears, edits.edits.count == 1, edits.edits[0].isUnconditional else {
      return nil
    }
    let secrecy = edits.edits[0].secrecy
    guard try resolved(edits.edits[0].name, secrecy) == secrecy else { return nil }
    let stores = secrecy == .secret ? sealed.stores : plain.stores
    return !stores.isEmpty && stores[0].rank == 0 ? stores[0].store : nil
  }

  /// Restores the values of the stores. One that cannot be restored does not keep the others from it.
  ///
  /// - Parameter failed: the step that threw. Its store may have made the edits all the same.
  private static func undo(
    _ done: [CompositePlan.Step], and failed: CompositePlan.Step? = nil, after failure: PreferencesError? = nil
  ) throws(PreferencesError) {
    var cause: (any Error)? = irrevocable(done)
    for (step, wasDone) in toUndo(done, failed) {
      for undoing in step.undo {
        do {
          if try step.store.apply(undoing) == .conflict { cause = step.conflict(of: undoing) ?? cause }
        } catch {
          if step.isChanged(despite: undoing, wasDone: wasDone) { cause = error }
        }
      }
    }
    if let cause { throw CompositePlan.notTakenBack(failure, cause) }
  }

  private static func undo(
    _ done: [CompositePlan.Step], and failed: CompositePlan.Step? = nil, after failure: PreferencesError? = nil
  ) async throws {
    var cause: (any Error)? = irrevocable(done)
    for (step, wasDone) in toUndo(done, failed) {
      for undoing in step.undo {
        do {
          if try await step.store.apply(undoing) == .conflict {
            cause = await step.store.reading { _ in step.conflict(of: undoing) } ?? cause
          }
        } catch {
          let isChanged = await step.store.reading { _ in step.isChanged(despite: undoing, wasDone: wasDone) }
          if isChanged { cause = error }
        }
      }
    }
    if let cause { throw CompositePlan.notTakenBack(failure, cause) }
  }

  /// The steps to undo, the last one first, and whether each was acknowledged.
  private static func toUndo(
    _ done: [CompositePlan.Step], _ failed: CompositePlan.Step?
  ) -> [(CompositePlan.Step, wasDone: Bool)] {
    (done.map { ($0, true) } + [failed].compactMap { $0 }.map { ($0, false) }).reversed()
  }

  /// The error of a removal of everything, which cannot be undone; `nil` if there was none.
  private static func irrevocable(_ done: [CompositePlan.Step]) -> PreferencesError? {
    done.first { $0.edits.clears }.map { PreferencesError(.unavailable, "\($0.store.name) has been emptied") }
  }

  // MARK: Looking inside

  /// The layers that can be written to, in order.
  public var stores: [any PreferencesStore] { layers.compactMap(Self.store) }

  /// The layers that cannot be written to, in order.
  public var readOnlyLayers: [any PreferencesReader] { layers.filter { Self.store($0) == nil } }

  /// The layer that a lookup of `key` by name returns its value from; `nil` if no layer has the key.
  public func layer(holding key: String) throws(PreferencesError) -> (any PreferencesReader)? {
    let name = try PreferenceName(key)
    let secrecy = try resolved(name, .plain)
    return try side(secrecy).layer(holding: PreferenceQuery(name, secrecy: secrecy))
  }

  /// The first layer that can be written to and has `key`; `nil` if there is none.
  public func store(holding key: String) throws(PreferencesError) -> (any PreferencesStore)? {
    let name = try PreferenceName(key)
    let secrecy = try resolved(name, .plain)
    return try side(secrecy).store(holding: PreferenceQuery(name, secrecy: secrecy))
  }

  /// The layer as a store; `nil` for a composite of read-only layers.
  static func store(_ layer: any PreferencesReader) -> (any PreferencesStore)? {
    layer.custody.fixed.takes(.plain) || layer.custody.fixed.takes(.secret) ? layer as? any PreferencesStore : nil
  }
}

extension CompositePreferences: Identifiable {
  public var id: StoreIdentity { StoreIdentity(Self.self, over: layers.map(\.identity)) }
}

extension CompositePreferences: ExpressibleByArrayLiteral {
  public init(arrayLiteral layers: any PreferencesReader...) {
    self.init(layers)
  }
}

extension CompositePreferences: CustomStringConvertible, CustomReflectable {}
