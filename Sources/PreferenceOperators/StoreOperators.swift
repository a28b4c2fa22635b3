public import Preferences

infix operator ?= : AssignmentPrecedence

// Functions and not members, so that a store whose type is not known, such as one of the registry, is an operand, too.

/// Stores all of `values` over what is there, by name.
public func += (store: any PreferencesStore, values: [String: PreferenceValue]) throws { try store.set(values) }

/// Stores pairs of name and value over what is there; of a repeated name the last counts.
public func += (store: any PreferencesStore, pairs: some Sequence<(String, PreferenceValue)>) throws {
  try store.set(Dictionary(pairs, uniquingKeysWith: { _, last in last }))
}

/// Stores all values of `other` over what is there. Secrets are stored in sealed layers only.
///
/// - Throws: `PreferencesError.Code.noStore` for a secret when this store has no sealed layer, with nothing
///   stored; and whatever keeps one from reading or the other from writing.
public func += (store: any PreferencesStore, other: some PreferencesReader) throws {
  let custody = other.custody
  var edits = PreferenceEdits()
  for secrecy in [Secrecy.plain, .secret] where custody.holds(secrecy) {
    for name in try other.names(of: secrecy) {
      guard let content = try other.content(for: PreferenceQuery(name, secrecy: secrecy)) else { continue }
      edits.append(.init(name, to: content, secrecy: secrecy))
    }
  }
  try store.edit(edits)
}

/// Stores those of `values` whose names have none yet.
public func ?= (store: any PreferencesStore, values: [String: PreferenceValue]) throws {
  for (key, value) in values { try store.fill(key) { value } }
}

/// Stores what each closure returns, for those names that have no value yet; the others are not called.
public func ?= (store: any PreferencesStore, makers: [String: () throws -> PreferenceValue]) throws {
  for (key, make) in makers { try store.fill(key, make) }
}

/// Removes the value under `key`.
public func -= (store: any PreferencesStore, key: String) throws { try store.removeValue(forKey: key) }

/// Removes the values under `keys`.
public func -= (store: any PreferencesStore, keys: some Sequence<String>) throws {
  try store.edit { edits in for key in keys { try edits.removeValue(forKey: key) } }
}

extension PreferencesStore {
  fileprivate func fill(_ key: String, _ make: () throws -> PreferenceValue) throws {
    if try contains(key) { return }
    // Not stored when another write has come first meanwhile.
    try compareAndSet(nil, to: .value(try make()), for: try PreferenceQuery(key))
  }
}
