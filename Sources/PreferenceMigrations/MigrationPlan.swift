internal import Preferences

/// The changes that a migration will write to a store.
struct MigrationPlan {
  struct Sealed {
    let value: PreferenceValue
    let name: PreferenceName
    let wasThere: Bool
    let store: any PreferencesStore

    var query: PreferenceQuery { PreferenceQuery(name, secrecy: .secret) }
  }

  let store: any PreferencesStore
  private(set) var changes: [String: PreferenceValue?] = [:]
  var sealed: [Sealed] = []

  init(_ store: any PreferencesStore) { self.store = store }

  /// The value after the steps planned so far.
  func value(forKey key: String) throws -> PreferenceValue? {
    let query = try PreferenceQuery(key)
    if let changed = changes[key] { return changed }
    return try store.value(for: query)
  }

  mutating func change(_ key: String, to value: PreferenceValue?) { changes[key] = .some(value) }

  var writes: [String: PreferenceValue] { changes.compactMapValues(\.self) }
  var removals: [String] { changes.filter { $0.value == nil }.keys.sorted() }
}
