/// Several layers behind one face; the first that has a key answers for it.
///
/// A layer that fails stops the lookup. It is never skipped in favour of a lower one, since a locked vault
/// must not look like a setting that is not there. Composites nest.
///
/// Errors of a layer arrive as ``PreferencesError/Code/unavailable`` with the layer's name and the error
/// as cause. Only ``PreferencesError/Code/typeMismatch`` and ``PreferencesError/Code/outOfRange`` keep
/// their code: there the layer has answered, and the value is at fault.
public struct CompositePreferences: PreferencesStore {
  public let name: String
  /// The layers in the order they win.
  public let layers: [any PreferencesReader]
  private let target: (index: Int, store: any PreferencesStore)?

  /// Creates a composite of `layers`, in the order they win.
  ///
  /// Writes go to the first layer that is a ``PreferencesStore``, not counting composites without one.
  public init(_ layers: [any PreferencesReader], name: String = "composite") {
    self.name = name
    self.layers = layers
    for (index, layer) in layers.enumerated() {
      guard let store = layer as? any PreferencesStore else { continue }
      if let composite = store as? CompositePreferences, composite.target == nil { continue }
      target = (index, store)
      return
    }
    target = nil
  }

  /// Whether any layer is sealed.
  public var isSealed: Bool { layers.contains { $0.isSealed } }

  /// The value of the first layer that has `key`; nil when every layer says it is absent.
  public func value(forKey key: String) throws(PreferencesError) -> PreferenceValue? {
    try PreferenceKeyName.validate(key)
    for layer in layers {
      if let value = try Self.asking(layer, { try layer.value(forKey: key) }) { return value }
    }
    return nil
  }

  /// The value of the first layer that has `key`, parsed by that layer; nil when every layer says it is
  /// absent.
  public func value(
    forKey key: String, as kind: PreferenceValue.Kind
  ) throws(PreferencesError) -> PreferenceValue? {
    try PreferenceKeyName.validate(key)
    for layer in layers {
      if let value = try Self.asking(layer, { try layer.value(forKey: key, as: kind) }) { return value }
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

  /// Stores `value` in the first layer that is a store.
  ///
  /// - Returns: ``WriteOutcome/shadowed(by:)`` when an earlier layer holds the key: lookups still answer
  ///   from there.
  /// - Throws: ``PreferencesError/Code/noStore``, ``PreferencesError/Code/unavailable`` when an earlier
  ///   layer cannot say whether it holds the key; then nothing is written.
  @discardableResult
  public func set(_ value: PreferenceValue, forKey key: String) throws(PreferencesError) -> WriteOutcome {
    try write(key) { store in try store.set(value, forKey: key) }
  }

  /// Removes the value from the first layer that is a store, where ``set(_:forKey:)`` would write it.
  ///
  /// - Returns: ``WriteOutcome/shadowed(by:)`` when an earlier layer holds the key: lookups still answer
  ///   from there. ``WriteOutcome/visible`` otherwise, which does not say that the key is gone: a lower
  ///   layer that holds it answers from now on. ``explain(_:)`` shows which.
  /// - Throws: as ``set(_:forKey:)``.
  @discardableResult
  public func removeValue(forKey key: String) throws(PreferencesError) -> WriteOutcome {
    try write(key) { store in try store.removeValue(forKey: key) }
  }

  /// Empties the first layer that is a store, and no other.
  ///
  /// - Throws: ``PreferencesError/Code/noStore``, ``PreferencesError/Code/unavailable`` when that layer
  ///   fails.
  public func removeAll() throws(PreferencesError) {
    guard let target else { throw noStore }
    try Self.asking(target.store) { try target.store.removeAll() }
  }

  private func write(
    _ key: String, _ change: (any PreferencesStore) throws -> WriteOutcome
  ) throws(PreferencesError) -> WriteOutcome {
    try PreferenceKeyName.validate(key)
    guard let target else { throw noStore }
    // Asked before the write, so that a layer which cannot answer leaves everything as it was.
    var shadow: String?
    for layer in layers[..<target.index] where shadow == nil {
      if try Self.asking(layer, { try layer.value(forKey: key) }) != nil { shadow = layer.name }
    }
    let outcome = try Self.asking(target.store) { try change(target.store) }
    return shadow.map(WriteOutcome.shadowed) ?? outcome
  }

  private var noStore: PreferencesError {
    PreferencesError(.noStore, "no layer of \"\(name)\" can be written to")
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
