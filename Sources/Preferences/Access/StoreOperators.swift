infix operator ?= : AssignmentPrecedence

extension PreferencesStore {
  /// Stores all of `values` over what is there, by name.
  public static func += (store: Self, values: [String: PreferenceValue]) throws { try store.set(values) }

  /// Stores pairs of name and value over what is there; of a repeated name the last counts.
  public static func += (store: Self, pairs: some Sequence<(String, PreferenceValue)>) throws {
    try store.set(Dictionary(pairs, uniquingKeysWith: { _, last in last }))
  }

  /// Stores all values of `other` over what is there. What is sealed there goes to sealed layers only.
  ///
  /// - Throws: ``PreferencesError/Code/noStore`` for a sealed value when this store has no sealed layer, with nothing
  ///   stored; and whatever keeps one from reading or the other from writing.
  public static func += (store: Self, other: some PreferencesReader) throws {
    var plain: [String: PreferenceValue] = [:]
    var secret: [String: PreferenceValue] = [:]
    for key in try other.keys() {
      guard let value = try other.value(forKey: key) else { continue }
      if try other.isHeldSealed(key) { secret[key] = value } else { plain[key] = value }
    }
    guard secret.isEmpty || store.accepts(.secret) else { throw PreferencesError.noStore(in: store.name, for: .secret) }
    for (key, value) in secret { try store.write(value, forKey: key, secrecy: .secret) }
    try store.set(plain)
  }

  /// Stores those of `values` whose names have none yet.
  public static func ?= (store: Self, values: [String: PreferenceValue]) throws {
    for (key, value) in values { try store.fill(key) { value } }
  }

  /// Stores what each closure returns, for those names that have no value yet; the others are not called.
  public static func ?= (store: Self, makers: [String: () throws -> PreferenceValue]) throws {
    for (key, make) in makers { try store.fill(key, make) }
  }

  /// Removes the value under `key`.
  public static func -= (store: Self, key: String) throws { try store.removeValue(forKey: key) }

  /// Removes the values under `keys`.
  public static func -= (store: Self, keys: some Sequence<String>) throws {
    for key in keys { try store.removeValue(forKey: key) }
  }

  private func fill(_ key: String, _ make: () throws -> PreferenceValue) throws {
    if try contains(key) { return }
    // Not stored when another has come first meanwhile.
    _ = try exchange(nil, for: try make(), forKey: key, as: nil, secrecy: .any)
  }
}
