import Synchronization

/// Preferences in memory, such as defaults at the end of a composite or a store for a test.
///
/// Every call is atomic, on any thread. Initial names that break the rule of ``PreferenceName`` are left out, and so
/// are initial values that are nested deeper than 128 levels.
public final class DictionaryPreferences: PreferencesStore {
  public let name: String
  private let values: Mutex<[PreferenceName: PreferenceValue]>
  private let changes = ChangeBroadcast()

  /// Creates a store with a copy of `values`.
  public init(_ values: [String: PreferenceValue], name: String = "dictionary") {
    self.name = name
    let valid = values.lazy.filter { PreferenceName.isValid($0.key) && !$0.value.isTooDeep }
    self.values = Mutex(Dictionary(valid.map { (PreferenceName(checked: $0.key), $0.value) }) { $1 })
  }

  /// Creates a store with values of one type, such as a `[String: String]`.
  public convenience init(_ values: [String: some PreferenceConvertible], name: String = "dictionary") {
    self.init(values.mapValues(\.preferenceValue), name: name)
  }

  /// Creates an empty store.
  public convenience init() { self.init([:]) }

  /// Creates a store with the current values of `reader`.
  ///
  /// - Parameter includingSealed: whether sealed values are copied, too. In this store they are plain.
  /// - Throws: what the reader throws.
  public convenience init(
    copying reader: some PreferencesReader, includingSealed: Bool = false, name: String = "dictionary"
  ) throws {
    let values = try includingSealed ? reader.dictionary(revealingSecrets: true) : reader.plainValues()
    self.init(values, name: name)
  }

  public func value(for query: PreferenceQuery) -> PreferenceValue? { values.withLock { $0[query.name] } }

  /// The names in ascending order.
  public func names(of secrecy: Secrecy) -> [PreferenceName] { values.withLock { Array($0.keys) }.sorted() }

  /// The keys in ascending order.
  public func keys() -> [String] { names(of: .plain).map(\.text) }

  /// Makes the edits in one step: no reader sees a part of them, and no other write comes between a condition and its
  /// edit.
  @discardableResult
  public func apply(_ edits: PreferenceEdits) throws -> WriteOutcome {
    let (outcome, removed) = try values.withLock { values in
      let removed = edits.clears ? values.keys.map(\.text) : []
      return (try edits.apply(to: &values), removed)
    }
    if outcome != .conflict, !edits.edits.isEmpty || !removed.isEmpty {
      changes.send(edits.clears ? PreferenceChange(keys: edits.names.union(removed)) : edits.change)
    }
    return outcome
  }

  public func observe(_ notify: @escaping @Sendable (PreferenceChange) -> Void) -> PreferenceObservation {
    changes.observe(notify)
  }
}

extension DictionaryPreferences: Sequence {
  /// Iterates over the current keys and values, in ascending order of the keys.
  public func makeIterator() -> some IteratorProtocol<(key: String, value: PreferenceValue)> {
    let values = values.withLock { $0 }
    return values.map { (key: $0.key.text, value: $0.value) }.sorted { $0.key < $1.key }.makeIterator()
  }
}

extension DictionaryPreferences: ExpressibleByDictionaryLiteral {
  /// Creates a store; the last value of a repeated key counts.
  public convenience init(dictionaryLiteral elements: (String, PreferenceValue)...) {
    self.init(Dictionary(elements, uniquingKeysWith: { _, last in last }))
  }
}

extension DictionaryPreferences: CustomStringConvertible, CustomReflectable {}
