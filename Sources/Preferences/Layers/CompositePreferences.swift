/// Several layers behind one face; the first that has a key answers for it.
///
/// **Who answers for what.** A key that is typed secret is looked up in, and written to, sealed layers only, and one that
/// is typed plain in plain layers only, unless it is declared ``PreferenceKey/allowingSealed()``. So a locked vault never
/// takes the server's port away, and never turns a missing password into a default one. A lookup by name asks every layer
/// in order.
///
/// A layer that fails stops the lookup. It is never skipped in favour of a lower one, since a locked vault
/// must not look like a setting that is not there. Composites nest.
///
/// Errors of a layer arrive as ``PreferencesError/Code/unavailable`` with the layer's name and the error
/// as cause. Only ``PreferencesError/Code/typeMismatch`` and ``PreferencesError/Code/outOfRange`` keep
/// their code: there the layer has answered, and the value is at fault.
public struct CompositePreferences: PreferencesStore {
  /// Which layers a write, a removal, a merge and ``removeAll()`` change: one rule for all of them.
  public enum WriteMode: Sendable, Hashable {
    /// The first layer that is a store and takes keys of that secrecy.
    case firstStore
    /// Every layer that is a store and takes keys of that secrecy.
    case allStores
  }

  public let name: String
  /// The layers in the order they win.
  public let layers: [any PreferencesReader]
  /// Which layers are changed.
  public let writeMode: WriteMode
  /// Names that are secret although they are asked for and written by name: see ``init(_:name:writeMode:secretKeys:)``.
  public let secretKeys: Set<String>
  /// Those of the layers that are stores, and where they stand. Asking a layer what it is costs more than asking it for a
  /// value.
  private let ranked: [(index: Int, store: any PreferencesStore)]

  /// Creates a composite of `layers`, in the order they win.
  ///
  /// - Parameters:
  ///   - writeMode: which layers writes change.
  ///   - secretKeys: names that are treated as secret on every path, also in lookups, writes and merges by name.
  public init(
    _ layers: [any PreferencesReader], name: String = "composite", writeMode: WriteMode = .firstStore,
    secretKeys: Set<String> = []
  ) {
    (self.name, self.layers, self.writeMode, self.secretKeys) = (name, layers, writeMode, secretKeys)
    ranked = layers.enumerated().compactMap { index, layer in (layer as? any PreferencesStore).map { (index, $0) } }
  }

  /// Whether any layer is sealed.
  public var isSealed: Bool { layers.contains { $0.isSealed } }
  public var isLayered: Bool { true }
  public var identity: StoreIdentity { StoreIdentity(Self.self, over: layers.map(\.identity)) }

  // MARK: Reading

  /// The value of the first layer that has `key`; nil when every layer says it is absent.
  public func value(forKey key: String) throws(PreferencesError) -> PreferenceValue? {
    try value(forKey: key, as: nil, secrecy: .any)
  }

  /// The value of the first layer that has `key`, parsed by that layer; nil when every layer says it is
  /// absent.
  public func value(
    forKey key: String, as kind: PreferenceValue.Kind
  ) throws(PreferencesError) -> PreferenceValue? {
    try value(forKey: key, as: kind, secrecy: .any)
  }

  /// The value of the first layer that has `key` and may answer for it.
  public func value(
    forKey key: String, as kind: PreferenceValue.Kind?, secrecy: Secrecy
  ) throws(PreferencesError) -> PreferenceValue? {
    try PreferenceKeyName.validate(key)
    let secrecy = self.secrecy(of: key, secrecy)
    for layer in layers {
      let value = try Self.asking(layer) { try layer.value(forKey: key, as: kind, secrecy: secrecy) }
      if let value { return value }
    }
    return nil
  }

  /// The keys of all layers, in the order of the layers, each once.
  public func keys() throws(PreferencesError) -> [String] {
    var seen: Set<String> = []
    var keys: [String] = []
    for layer in layers {
      keys += try Self.asking(layer) { try layer.keys() }.filter { seen.insert($0).inserted }
    }
    return keys
  }

  /// The secrecy that a key is asked for with: a listed one is secret, whoever asks.
  func secrecy(of key: String, _ asked: Secrecy) -> Secrecy {
    secretKeys.contains(key) ? .secret : asked
  }

  // MARK: Writing

  /// Stores `value` in the layers that ``writeMode`` names.
  ///
  /// - Returns: ``WriteOutcome/shadowed(by:)`` when an earlier layer holds the key: lookups still answer
  ///   from there.
  /// - Throws: ``PreferencesError/Code/noStore``, ``PreferencesError/Code/unavailable`` when an earlier
  ///   layer cannot say whether it holds the key. When one of several stores fails, those before it get back what they
  ///   had; the message says so if that fails, too.
  @discardableResult
  public func set(_ value: PreferenceValue, forKey key: String) throws(PreferencesError) -> WriteOutcome {
    try write(value, forKey: key, secrecy: .any)
  }

  /// Removes the value where ``set(_:forKey:)`` would write it.
  ///
  /// - Returns: ``WriteOutcome/shadowed(by:)`` when an earlier layer holds the key: lookups still answer
  ///   from there. ``WriteOutcome/visible`` otherwise, which does not say that the key is gone: a lower
  ///   layer that holds it answers from now on. ``explain(_:)`` shows which.
  /// - Throws: as ``set(_:forKey:)``.
  @discardableResult
  public func removeValue(forKey key: String) throws(PreferencesError) -> WriteOutcome {
    try write(nil, forKey: key, secrecy: .any)
  }

  /// Stores or removes a value in the layers that ``writeMode`` names, of those that take keys of that secrecy.
  @discardableResult
  public func write(
    _ value: PreferenceValue?, forKey key: String, secrecy: Secrecy
  ) throws(PreferencesError) -> WriteOutcome {
    try PreferenceKeyName.validate(key)
    let secrecy = self.secrecy(of: key, secrecy)
    let targets = try targets(secrecy)
    // Asked before the write, so that a layer which cannot answer leaves everything as it was.
    let shadow = try shadow(of: key, above: targets[0].index, secrecy)
    var outcome: WriteOutcome?
    try Self.changing(targets.map(\.store), [(key, secrecy)]) { store in
      let written = try store.write(value, forKey: key, secrecy: secrecy)
      outcome = outcome ?? written
    }
    return shadow.map(WriteOutcome.shadowed) ?? outcome ?? .visible
  }

  /// Changes keys in each of `stores`. When one fails, those before it get back what they had.
  private static func changing(
    _ stores: [any PreferencesStore], _ keys: [(name: String, secrecy: Secrecy)],
    _ change: (any PreferencesStore) throws -> Void
  ) throws(PreferencesError) {
    // Asked of all before any is written; the last has nobody behind it who could fail.
    var undoing: [(store: any PreferencesStore, key: String, secrecy: Secrecy, old: PreferenceValue?)] = []
    for store in stores.dropLast() {
      for key in keys {
        let old = try asking(store) { try store.value(forKey: key.name, as: nil, secrecy: key.secrecy) }
        undoing.append((store, key.name, key.secrecy, old))
      }
    }
    for (index, store) in stores.enumerated() {
      do throws(PreferencesError) { try asking(store) { try change(store) } } catch {
        do {
          for one in undoing.prefix(index * keys.count).reversed() {
            try one.store.write(one.old, forKey: one.key, secrecy: one.secrecy)
          }
        } catch let failure {
          throw PreferencesError(
            .unavailable, "\(error.message); what was written before could not be taken back", cause: failure)
        }
        throw error
      }
    }
  }

  /// As ``write(_:forKey:secrecy:)``, when the effective value is still `old`. Keeps out whoever the first of the written
  /// stores keeps out of its own exchanges.
  @discardableResult
  public func exchange(
    _ old: PreferenceValue?, for new: PreferenceValue?, forKey key: String, as kind: PreferenceValue.Kind?,
    secrecy: Secrecy
  ) throws(PreferencesError) -> WriteOutcome? {
    try PreferenceKeyName.validate(key)
    let secrecy = self.secrecy(of: key, secrecy)
    let targets = try targets(secrecy)
    let (index, first) = targets[0]
    // Read before the lookup: a write that comes between makes the store's own exchange fail.
    let stored = try Self.asking(first) { try first.value(forKey: key, as: kind, secrecy: secrecy) }
    guard try value(forKey: key, as: kind, secrecy: secrecy).isSame(as: old) else { return nil }
    let shadow = try shadow(of: key, above: index, secrecy)
    var (exchanged, isFirst): (WriteOutcome?, Bool) = (nil, true)
    try Self.changing(targets.map(\.store), [(key, secrecy)]) { store in
      if isFirst {
        isFirst = false
        exchanged = try first.exchange(stored, for: new, forKey: key, as: kind, secrecy: secrecy)
      } else if exchanged != nil {
        try store.write(new, forKey: key, secrecy: secrecy)
      }
    }
    guard let exchanged else { return nil }
    return shadow.map(WriteOutcome.shadowed) ?? exchanged
  }

  /// The layer above that one which answers for `key`.
  private func shadow(of key: String, above index: Int, _ secrecy: Secrecy) throws(PreferencesError) -> String? {
    for layer in layers[..<index] {
      let value = try Self.asking(layer) { try layer.value(forKey: key, as: nil, secrecy: secrecy) }
      if value != nil { return layer.name }
    }
    return nil
  }

  /// Merges `values` into the layers where ``set(_:forKey:)`` would write each.
  ///
  /// - Throws: as ``set(_:forKey:)``; what is in ``secretKeys`` is written behind the rest.
  public func set(_ values: [String: PreferenceValue]) throws(PreferencesError) {
    for key in values.keys { try PreferenceKeyName.validate(key) }
    let secret = values.filter { secretKeys.contains($0.key) }
    for (part, secrecy) in [(values.filter { secret[$0.key] == nil }, Secrecy.any), (secret, .secret)]
    where !part.isEmpty {
      try Self.changing(try targets(secrecy).map(\.store), part.keys.map { ($0, secrecy) }) { store in
        // A composite routes each by itself; whether a store inside takes it must not depend on its neighbours.
        if secrecy == .any { return try store.set(part) }
        for (key, value) in part { try store.write(value, forKey: key, secrecy: secrecy) }
      }
    }
  }

  /// Empties the layers that ``writeMode`` names, and no other.
  ///
  /// - Throws: ``PreferencesError/Code/noStore``, ``PreferencesError/Code/unavailable`` when a layer fails; those before
  ///   it are empty then.
  public func removeAll() throws(PreferencesError) {
    for (_, store) in try targets(.any) { try Self.asking(store) { try store.removeAll() } }
  }

  /// Whether a layer is a store that takes keys of that secrecy.
  public func accepts(_ secrecy: Secrecy) -> Bool {
    ranked.contains { $0.store.accepts(secrecy) }
  }

  public func secrecy(ofWriting key: String, asked: Secrecy) -> Secrecy {
    let secrecy = secrecy(of: key, asked)
    let stores = ranked.map(\.store).filter { $0.accepts(secrecy) }
    guard secrecy == .any, !stores.isEmpty else { return secrecy }
    let targets = writeMode == .firstStore ? stores.prefix(1) : stores[...]
    return targets.allSatisfy { $0.secrecy(ofWriting: key, asked: .any) == .secret } ? .secret : .any
  }

  private func targets(_ secrecy: Secrecy) throws(PreferencesError) -> [(index: Int, store: any PreferencesStore)] {
    let stores = ranked.filter { $0.store.accepts(secrecy) }
    guard let first = stores.first else { throw .noStore(in: name, for: secrecy) }
    return writeMode == .firstStore ? [first] : stores
  }

  // MARK: Looking inside

  /// The layers that can be written to, in order.
  public var stores: [any PreferencesStore] {
    ranked.map(\.store).filter { $0.accepts(.any) }
  }

  /// The layers that cannot, in order.
  public var readOnlyLayers: [any PreferencesReader] {
    layers.filter { !(($0 as? any PreferencesStore)?.accepts(.any) ?? false) }
  }

  /// The layer that answers for `key` by name; nil when none has it.
  public func layer(holding key: String) throws(PreferencesError) -> (any PreferencesReader)? {
    try PreferenceKeyName.validate(key)
    for layer in layers {
      let value = try Self.asking(layer) {
        try layer.value(forKey: key, as: nil, secrecy: secrecy(of: key, .any))
      }
      if value != nil { return layer }
    }
    return nil
  }

  /// The first layer that can be written to and has `key`; nil when none has it.
  public func store(holding key: String) throws(PreferencesError) -> (any PreferencesStore)? {
    try PreferenceKeyName.validate(key)
    for store in stores {
      let value = try Self.asking(store) {
        try store.value(forKey: key, as: nil, secrecy: secrecy(of: key, .any))
      }
      if value != nil { return store }
    }
    return nil
  }

  /// Tells of changes in any layer. What ``PreferencesReader/updates(for:initial:buffering:)`` gives is told only when
  /// the effective value is another.
  public func observe(_ notify: @escaping @Sendable (PreferenceChange) -> Void) -> PreferenceObservation {
    let observations = layers.map { $0.observe(notify) }
    return PreferenceObservation { observations.forEach { $0.invalidate() } }
  }

  private static func asking<Answer>(
    _ layer: any PreferencesReader, _ question: () throws -> Answer
  ) throws(PreferencesError) -> Answer {
    do {
      return try question()
    } catch let error as PreferencesError {
      let told = error.about("layer \"\(layer.name)\"")
      switch error.code {
      case .typeMismatch, .outOfRange: throw told
      default: throw PreferencesError(.unavailable, told.message, cause: error)
      }
    } catch {
      // The text of a foreign error is not ours to repeat: it may hold a value.
      throw PreferencesError(.unavailable, "layer \"\(layer.name)\" failed", cause: error)
    }
  }
}

extension CompositePreferences: ExpressibleByArrayLiteral {
  public init(arrayLiteral layers: any PreferencesReader...) {
    self.init(layers)
  }
}

extension CompositePreferences: CustomStringConvertible, CustomReflectable {}
