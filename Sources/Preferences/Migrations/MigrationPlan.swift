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
  /// The content of each changed name after the steps planned so far.
  private var changes: [QualifiedName: PreferenceContent?] = [:]
  /// The changes of plain values, in the order of the steps.
  private var edits = PreferenceEdits()
  /// The values after `edits`; `nil` if there are none, or the names of the store do not lead into each other.
  private var after: (any PreferencesReader)?

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
    guard place.secrecy == .plain else { return content }
    if let after { return try after.content(for: query) }
    try checkIsApart(place, content)
    return content
  }

  /// Refuses a value that an earlier step may have changed through a different name. Only a file can say what it will
  /// have then: a composite or a view of a file cannot.
  private func checkIsApart(_ place: QualifiedName, _ content: PreferenceContent?) throws(PreferencesError) {
    for (other, changed) in changes where other.secrecy == .plain {
      let old: PreferenceContent? = before[other] ?? nil
      let isInside = old.leads(from: other.name, to: place.name) || changed.leads(from: other.name, to: place.name)
      guard !isInside, !content.leads(from: place.name, to: other.name) else {
        throw PreferencesError(
          .conflict, "a step before changes \"\(other.name)\": put this step into a migration of its own"
        ).about(key: place.name.text)
      }
    }
  }

  /// Plans a change. The steps must have read the content before.
  mutating func change(_ query: PreferenceQuery, to content: PreferenceContent?) throws {
    let place = place(query)
    changes[place] = .some(content)
    guard place.secrecy == .plain, let store = store as? any PreviewingStore else { return }
    edits.append(.init(place.name, to: content))
    let after = try store.preview(of: edits)
    // In a file, this also changes what is around the name and inside.
    for place in changes.keys where place.secrecy == .plain {
      changes[place] = .some(try after.content(for: place.query))
    }
    self.after = after
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

extension PreferenceContent? {
  /// Whether this is a dictionary, called `outer`, in which the dots of `name` lead to a value.
  fileprivate func leads(from outer: PreferenceName, to name: PreferenceName) -> Bool {
    let prefix = outer.text + "."
    guard case .value(.dictionary(let members))? = self, name.text.hasPrefix(prefix) else { return false }
    return NestedValues.find(name.text.dropFirst(prefix.count), in: members) != nil
  }
}
