extension PreferencesReader {
  /// Returns the value of an optional key, which must be set.
  ///
  /// ```swift
  /// let token = try preferences.required(.githubToken)
  /// // absent: key "github.token" has no value in: vault com.example.shop/default
  /// ```
  ///
  /// - Throws: ``PreferencesError/Code/absent`` with the key and the layers that were looked up, without any value; the
  ///   errors of ``value(for:)-(PreferenceKey<Value>)``.
  public func required<Value: Sendable>(_ key: PreferenceKey<Value?>) throws -> Value {
    if let value = try value(for: key) { return value }
    let layers = try layers(for: try key.query()).joined(separator: ", ")
    throw PreferencesError(.absent, "key \"\(key.name)\" has no value in: \(layers.isEmpty ? "no layer" : layers)")
  }

  /// Returns the value under `key` as a `Value`, which must be set.
  ///
  /// - Throws: as ``required(_:)``.
  public func required<Value: PreferenceConvertible>(forKey key: String, as type: Value.Type) throws -> Value {
    try required(PreferenceKey<Value?>(key))
  }

  /// The names of the layers in which `query` is looked up, including the layers of nested composites.
  private func layers(for query: PreferenceQuery) throws(PreferencesError) -> [String] {
    guard let composite = self as? CompositePreferences else { return [name] }
    let secrecy = try composite.resolved(query.name, query.secrecy)
    var names: [String] = []
    for layer in composite.side(secrecy).layers {
      names += try layer.layers(for: PreferenceQuery(query.name, as: query.kind, secrecy: secrecy))
    }
    return names
  }
}
