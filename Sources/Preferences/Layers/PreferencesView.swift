/// A view of a reader: with different names, with additional claimed names, or read-only.
///
/// The underlying reader decides which values exist and what may be read and written, by its own names. Views nest. A
/// view can be written to if `Base` is a store.
public struct PreferencesView<Base: Sendable>: GuardingReader {
  private let base: Base
  let reader: any PreferencesReader
  private let mapping: NameMapping
  private let captured: Custody

  fileprivate init(_ base: Base, reader: any PreferencesReader, _ mapping: NameMapping, _ custody: Custody) {
    self.base = base
    self.reader = reader
    self.mapping = mapping
    captured = custody
  }

  public var custody: Custody { captured.isReplaceable ? reader.custody.mapped(mapping) : captured }

  public var name: String {
    switch mapping {
    case .identity, .renamed: reader.name
    case .below(let prefix): "\(reader.name) below \"\(prefix)\""
    case .mounted(let prefix): "\(reader.name) at \"\(prefix)\""
    }
  }

  public func value(for query: PreferenceQuery) throws -> PreferenceValue? {
    guard let name = try mapping.underneath(query.name) else { return nil }
    return try reader.value(for: PreferenceQuery(name, as: query.kind, secrecy: query.secrecy))
  }

  public func guardedValue(for query: PreferenceQuery) throws -> (any GuardedValue)? {
    guard let name = try mapping.underneath(query.name) else { return nil }
    return try reader.guardedLookUp(PreferenceQuery(name, as: query.kind, secrecy: query.secrecy))
  }

  public func names(of secrecy: Secrecy) throws -> [PreferenceName] {
    let names = try reader.names(of: secrecy).compactMap(mapping.above)
    guard secrecy == .plain else { return names }
    return try names + renamedDictionaries(beside: names)
  }

  /// The renamed dictionaries of a file, which lists their entries alone: under its own names.
  private func renamedDictionaries(beside names: [PreferenceName]) throws -> [PreferenceName] {
    guard case .renamed(let underneath, _) = mapping else { return [] }
    let unlisted = Set(underneath.keys).subtracting(names).filter { custody.secrecy(of: $0) == .plain }
    return try unlisted.filter { try value(for: PreferenceQuery($0))?.kind == .dictionary }.sorted()
  }

  public func observe(_ notify: @escaping @Sendable (PreferenceChange) -> Void) -> PreferenceObservation {
    if mapping.isIdentity { return reader.observe(notify) }
    return reader.observe { [mapping] change in
      let mapped = change.mapKeys { key in
        PreferenceName.isValid(key) ? mapping.above(.init(checked: key))?.text : nil
      }
      if let mapped { notify(mapped) }
    }
  }
}

extension PreferencesReader {
  /// Returns the value for `query` as a guarded value. If the reader has no guarded memory, the value stays in ordinary
  /// memory.
  public func guardedLookUp(_ query: PreferenceQuery) throws -> (any GuardedValue)? {
    if query.secrecy == .secret, !custody.holds(.secret) { return nil }
    if let reader = self as? any GuardingReader { return try reader.guardedValue(for: query) }
    return try value(for: query).map(OrdinaryValue.init)
  }
}

extension PreferenceContent {
  /// The content as a guarded value; a value in ordinary memory stays there.
  public var guarded: any GuardedValue {
    switch self {
    case .value(let value): OrdinaryValue(value)
    case .guarded(let guarded): guarded
    }
  }
}

/// A value of a reader that has no guarded memory.
private final class OrdinaryValue: GuardedValue {
  private let stored: PreferenceValue
  init(_ stored: PreferenceValue) { self.stored = stored }
  func value() -> PreferenceValue { stored }
  func isSame(as other: any GuardedValue) throws -> Bool { Optional(stored).isSame(as: try other.value()) }
  func hash(into hasher: inout Hasher) { Optional(stored).feed(&hasher) }
}

extension PreferencesView: PreferencesStore where Base: PreferencesStore {
  @discardableResult
  public func apply(_ edits: PreferenceEdits) throws -> WriteOutcome {
    let mapped = try underneath(edits)
    return mapped.isEmpty && !edits.isEmpty ? .visible : try base.apply(mapped)
  }

  @discardableResult
  public func apply(_ edits: PreferenceEdits) async throws -> WriteOutcome {
    // Only to remove all values, those underneath are read.
    let mapped = edits.clears ? try await reading { try $0.underneath(edits) } : try underneath(edits)
    return mapped.isEmpty && !edits.isEmpty ? .visible : try await base.apply(mapped)
  }

  private func underneath(_ edits: PreferenceEdits) throws -> PreferenceEdits {
    if mapping.isIdentity { return edits }
    var mapped = PreferenceEdits([], clearing: edits.clears && mapping.showsEverything)
    mapped.isUnordered = edits.isUnordered
    // Removes only the values that have a name in this view.
    if edits.clears, !mapped.clears {
      for secrecy in [Secrecy.plain, .secret] where custody.holds(secrecy) {
        for name in try reader.names(of: secrecy) where mapping.above(name) != nil {
          mapped.append(.init(name, to: nil, secrecy: secrecy))
        }
      }
    }
    for edit in edits.edits {
      if let name = try mapping.underneath(edit.name) {
        mapped.append(.init(name, to: edit.content, secrecy: edit.secrecy, if: edit.condition))
      } else if edit.content != nil || !edit.isUnconditional {
        throw PreferencesError(.invalidKey, "key \"\(edit.name)\": \"\(name)\" has no place for it underneath")
      }
    }
    return mapped
  }
}

extension PreferencesView: Identifiable {
  public var id: StoreIdentity {
    mapping.isIdentity
      ? reader.identity
      : StoreIdentity(PreferencesView<any PreferencesReader>.self, name: mapping.text, over: [reader.identity])
  }
}

extension PreferencesReader {
  /// Returns the keys below `prefix`, without the prefix: with the prefix `server.` the key `port` is `server.port` in
  /// the underlying reader.
  ///
  /// The prefix is used as written, including its separator; an empty prefix changes nothing.
  public func below(_ prefix: String) -> PreferencesView<Self> { view(prefix.isEmpty ? .identity : .below(prefix)) }

  /// Returns the same values under longer names: with the prefix `secrets.` the key `secrets.token` is `token` in the
  /// underlying reader, and no other names exist. A sealed store that declares no claim claims all these names.
  public func mounted(at prefix: String) -> PreferencesView<Self> {
    let (mapping, fixed) = (prefix.isEmpty ? NameMapping.identity : .mounted(prefix), custody.fixed)
    return PreferencesView(
      self, reader: self, mapping, fixed.claim == nil ? fixed.claiming(.prefix(prefix)) : fixed.mapped(mapping))
  }

  /// Returns the same values under different names.
  ///
  /// - Parameter names: the underlying name of each renamed key; keys that are not in the dictionary keep their names.
  /// - Throws: ``PreferencesError/Code/invalidKey`` if two keys have the same underlying name.
  public func renaming(_ names: [String: String]) throws(PreferencesError) -> PreferencesView<Self> {
    view(try .renaming(names))
  }

  /// A read-only view of the same values. The underlying store is not reachable through the view.
  public var readOnly: PreferencesView<any PreferencesReader> {
    PreferencesView(self, reader: self, .identity, custody)
  }

  /// Returns the same values, for use as a layer of a composite that claims the names in `claim`: see ``Custody``. A
  /// sealed store must claim names; a reader without secrets has nothing to claim.
  public func claiming(_ claim: PreferenceClaim) -> PreferencesView<Self> {
    PreferencesView(self, reader: self, .identity, custody.fixed.claiming(claim))
  }

  /// The same values, for use as a layer of a composite that claims no names: only keys of secret types are looked up
  /// in it.
  public var unclaimed: PreferencesView<Self> { claiming(.nothing) }

  private func view(_ mapping: NameMapping) -> PreferencesView<Self> {
    PreferencesView(self, reader: self, mapping, custody.mapped(mapping))
  }
}

extension PreferencesView: CustomStringConvertible, CustomReflectable {}
