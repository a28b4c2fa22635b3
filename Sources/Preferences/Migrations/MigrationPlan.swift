/// The changes that a migration will write to a store.
struct MigrationPlan {
  /// A value that is written if the store still has what the steps have read.
  struct Write {
    let store: any PreferencesStore
    let query: PreferenceQuery
    /// The new content; `nil` removes the value.
    let content: PreferenceContent?
    let before: PreferenceContent?

    var edit: PreferenceEdits.Edit { .init(query.name, to: content, secrecy: query.secrecy, if: .ifStored(before)) }
  }

  /// A name, and whether its value is a secret. A composite can have two values under one name.
  struct QualifiedName: Hashable {
    let name: PreferenceName
    let secrecy: Secrecy

    var query: PreferenceQuery { PreferenceQuery(name, secrecy: secrecy) }
  }

  let store: any PreferencesStore
  /// The values that are moved into other stores.
  var sealed: [Write] = []
  private var before: [QualifiedName: PreferenceContent?] = [:]
  private var changes: [QualifiedName: PreferenceContent?] = [:]

  init(_ store: any PreferencesStore) { self.store = store }

  /// Where a value is: a value of a name that a sealed layer claims is a secret.
  func place(_ query: PreferenceQuery) -> QualifiedName {
    QualifiedName(name: query.name, secrecy: store.custody.secrecy(of: query.name, asked: query.secrecy))
  }

  /// The content after the steps planned so far.
  mutating func content(for query: PreferenceQuery) throws -> PreferenceContent? {
    let place = place(query)
    if let changed = changes[place] { return changed }
    let content = try store.content(for: query)
    before[place] = .some(content)
    return content
  }

  /// Plans a change. The steps must have read the content before.
  mutating func change(_ query: PreferenceQuery, to content: PreferenceContent?) {
    changes[place(query)] = .some(content)
  }

  var writes: [Write] {
    changes.compactMap { place, content in
      content.map { Write(store: store, query: place.query, content: $0, before: before[place] ?? nil) }
    }.sorted { $0.query.name < $1.query.name }
  }

  var removals: [QualifiedName] { changes.filter { $0.value == nil }.keys.sorted { $0.name < $1.name } }

  /// The removals of dictionaries inside which values are written, such as that of `server` if `server.port` is
  /// written. A store over a file removes the new values, too, if it makes these removals after the writes.
  ///
  /// - Parameter secrecies: of the values that are written as one transaction.
  func removalsAroundWrites(of secrecies: Set<Secrecy>) -> [Write] {
    let writes = writes
    return removals.filter { place in
      let prefix = place.name.text + "."
      return secrecies.contains(place.secrecy)
        && writes.contains { $0.query.secrecy == place.secrecy && $0.query.name.text.hasPrefix(prefix) }
    }.map { Write(store: store, query: $0.query, content: nil, before: before[$0] ?? nil) }
  }
}
