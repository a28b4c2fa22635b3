public import Preferences

infix operator ?= : AssignmentPrecedence

// Global functions, not members, so that a store of unknown type, such as one from the registry, can be an operand.
// A write that a layer above hides is reported to `PreferenceFailures`, because an operator returns no outcome.

/// Stores all of `values` under their names, replacing existing values.
public func += (store: any PreferencesStore, values: [String: PreferenceValue]) throws {
  store.report(try store.set(values))
}

/// Stores pairs of name and value, replacing existing values. If a name is repeated, the last value is stored.
public func += (store: any PreferencesStore, pairs: some Sequence<(String, PreferenceValue)>) throws {
  store.report(try store.set(Dictionary(pairs, uniquingKeysWith: { _, last in last })))
}

/// Stores all values of `other`, replacing existing values. A dictionary of a file is one value, which replaces the
/// dictionary of that name. Secrets are stored in sealed layers only.
///
/// - Throws: `PreferencesError.Code.noStore` with nothing stored, for a secret if this store has no sealed layer; and
///   the errors of reading `other` and writing `store`.
public func += (store: any PreferencesStore, other: some PreferencesReader) throws {
  store.report(try store.edit(try other.copyingEdits(into: store)))
}

/// Stores each of `values` whose name has no value yet.
public func ?= (store: any PreferencesStore, values: [String: PreferenceValue]) throws {
  for (key, value) in values { try store.fill(key) { value } }
}

/// Calls the closure of each name that has no value yet, and stores its result. Other closures are not called.
public func ?= (store: any PreferencesStore, makers: [String: () throws -> PreferenceValue]) throws {
  for (key, make) in makers { try store.fill(key, make) }
}

/// Removes the value under `key`.
public func -= (store: any PreferencesStore, key: String) throws {
  store.report(try store.removeValue(forKey: key), key)
}

/// Removes the values under `keys`.
public func -= (store: any PreferencesStore, keys: some Sequence<String>) throws {
  store.report(try store.edit { edits in for key in keys { try edits.removeValue(forKey: key) } })
}

extension PreferencesStore {
  fileprivate func report(_ outcome: WriteOutcome, _ key: String = "*") {
    PreferenceFailures.report(outcome, key: key, writer: name)
  }

  fileprivate func fill(_ key: String, _ make: () throws -> PreferenceValue) throws {
    if try contains(key) { return }
    // Not stored if another write has stored a value in the meantime.
    try compareAndSet(nil, to: .value(try make()), for: try PreferenceQuery(key))
  }

  fileprivate func fill(_ key: String, _ make: () throws -> PreferenceValue) async throws {
    if try await reading({ try $0.contains(key) }) { return }
    try await compareAndSet(nil, to: .value(try make()), for: try PreferenceQuery(key))
  }
}

// MARK: The asynchronous forms, which do not block the calling thread

/// The asynchronous form of `store += values`.
public func += (store: any PreferencesStore, values: [String: PreferenceValue]) async throws {
  store.report(try await store.set(values))
}

/// The asynchronous form of `store += pairs`.
public func += (store: any PreferencesStore, pairs: some Sequence<(String, PreferenceValue)>) async throws {
  store.report(try await store.set(Dictionary(pairs, uniquingKeysWith: { _, last in last })))
}

/// The asynchronous form of `store += other`.
public func += (store: any PreferencesStore, other: some PreferencesReader) async throws {
  let edits = try await other.reading { other in try other.copyingEdits(into: store) }
  store.report(try await store.edit(edits))
}

/// The asynchronous form of `store ?= values`.
public func ?= (store: any PreferencesStore, values: [String: PreferenceValue]) async throws {
  for (key, value) in values { try await store.fill(key) { value } }
}

/// The asynchronous form of `store ?= makers`.
public func ?= (store: any PreferencesStore, makers: [String: () throws -> PreferenceValue]) async throws {
  for (key, make) in makers { try await store.fill(key, make) }
}

/// The asynchronous form of `store -= key`.
public func -= (store: any PreferencesStore, key: String) async throws {
  store.report(try await store.removeValue(forKey: key), key)
}

/// The asynchronous form of `store -= keys`.
public func -= (store: any PreferencesStore, keys: some Sequence<String>) async throws {
  store.report(try await store.edit { edits in for key in keys { try edits.removeValue(forKey: key) } })
}
