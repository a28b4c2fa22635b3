/// The layers of a composite that hold plain values, or those that hold secrets.
struct CompositeSide: Sendable {
  /// A layer that can be written to.
  struct Target: Sendable {
    /// How many layers of this side are above it.
    let rank: Int
    /// The index of the layer among all layers of the composite.
    let place: Int
    let store: any PreferencesStore
  }

  let layers: [any PreferencesReader]
  let stores: [Target]

  init(_ all: [any PreferencesReader], _ secrecy: Secrecy) {
    let ranked = all.enumerated().filter { $0.element.custody.fixed.holds(secrecy) }
    layers = ranked.map(\.element)
    stores = ranked.enumerated().compactMap { rank, layer in
      guard layer.element.custody.fixed.takes(secrecy) else { return nil }
      return (layer.element as? any PreferencesStore).map { Target(rank: rank, place: layer.offset, store: $0) }
    }
  }

  func value(for query: PreferenceQuery) throws(PreferencesError) -> PreferenceValue? {
    // By index: iterating over existentials copies each.
    var rank = 0
    while rank < layers.count {
      do { if let value = try layers[rank].value(for: query) { return value } } catch {
        throw Self.failure(of: layers[rank], error)
      }
      rank += 1
    }
    return nil
  }

  /// The first layer that has a value.
  ///
  /// - Parameter end: the rank at which the search stops.
  func layer(holding query: PreferenceQuery, above end: Int = .max) throws(PreferencesError) -> (any PreferencesReader)?
  {
    for layer in layers.prefix(end) where try Self.content(query, in: layer) != nil { return layer }
    return nil
  }

  func store(holding query: PreferenceQuery) throws(PreferencesError) -> (any PreferencesStore)? {
    for target in stores where try Self.content(query, in: target.store) != nil { return target.store }
    return nil
  }

  static func content(
    _ query: PreferenceQuery, in layer: any PreferencesReader
  ) throws(PreferencesError) -> PreferenceContent? {
    try asking(layer) { try layer.content(for: query) }
  }

  static func asking<Answer>(
    _ layer: any PreferencesReader, _ question: () throws -> Answer
  ) throws(PreferencesError) -> Answer {
    do { return try question() } catch { throw failure(of: layer, error) }
  }

  static func failure(of layer: any PreferencesReader, _ error: any Error) -> PreferencesError {
    // The text of a foreign error is not repeated, because it may contain a value.
    guard let error = error as? PreferencesError else {
      let code = (error as? any ClassifiedError).map { " (\($0.failureCode))" } ?? ""
      return PreferencesError(.unavailable, "layer \"\(layer.name)\" failed\(code)", cause: error)
    }
    let named = error.about("layer \"\(layer.name)\"")
    switch error.code {
    case .typeMismatch, .outOfRange: return named
    default: return PreferencesError(.unavailable, named.message, cause: error)
    }
  }
}
