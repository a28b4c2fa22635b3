/// Changes that a store makes as one: all of them or, when one fails, none.
///
/// ```swift
/// try store.edit { edits in
///   try edits.set(8080, for: .port)
///   try edits.removeValue(forKey: "server.host")
/// }
/// ```
public struct PreferenceEdits: Sendable {
  /// What must hold for an edit to be made.
  public enum Condition: Sendable {
    /// Nothing.
    case always
    /// A lookup returns this content, nil meaning that it finds nothing. Text is parsed as the content's kind first.
    case ifStored(PreferenceContent?)
  }

  /// The change of one name.
  public struct Edit: Sendable {
    /// The name that is changed.
    public let name: PreferenceName
    /// Whether the value is a secret.
    public let secrecy: Secrecy
    /// What is stored; nil removes what is there.
    public let content: PreferenceContent?
    /// What must hold.
    public let condition: Condition

    /// Creates the change of `name` to `content`; nil removes what is stored.
    public init(
      _ name: PreferenceName, to content: PreferenceContent?, secrecy: Secrecy = .plain,
      if condition: Condition = .always
    ) {
      (self.name, self.content, self.secrecy, self.condition) = (name, content, secrecy, condition)
    }

    /// Whether it is made whatever is stored.
    public var isUnconditional: Bool { if case .always = condition { true } else { false } }
  }

  /// Whether everything that the store holds is removed first.
  public private(set) var clears = false
  /// The changes of names, in the order they are made.
  public private(set) var edits: [Edit] = []
  /// Whether one of them changes a secret.
  private(set) var changesSecrets = false

  /// Creates edits that change nothing.
  public init() {}

  /// Creates edits from a list, made in its order.
  ///
  /// - Parameter clears: whether everything that the store holds is removed first.
  public init(_ edits: [Edit], clearing clears: Bool = false) {
    (self.edits, self.clears) = (edits, clears)
    changesSecrets = edits.contains { $0.secrecy == .secret }
  }

  /// Creates edits of one name.
  init(_ edit: Edit) { (edits, changesSecrets) = ([edit], edit.secrecy == .secret) }

  /// Whether nothing is changed.
  public var isEmpty: Bool { edits.isEmpty && !clears }

  /// The names that are changed, without those that are cleared.
  public var names: Set<String> { Set(edits.lazy.map(\.name.text)) }

  // MARK: Collecting

  /// Adds an edit.
  public mutating func append(_ edit: Edit) {
    edits.append(edit)
    if edit.secrecy == .secret { changesSecrets = true }
  }

  /// Removes everything that the store holds; what was collected before is forgotten.
  public mutating func removeAll() { (clears, edits, changesSecrets) = (true, [], false) }

  /// Stores `value` under `key`; nil removes what is there.
  public mutating func set(_ value: PreferenceValue?, forKey key: String) throws(PreferencesError) {
    append(Edit(try PreferenceName(key), to: value.map(PreferenceContent.value)))
  }

  /// Removes the value under `key`.
  public mutating func removeValue(forKey key: String) throws(PreferencesError) { try set(nil, forKey: key) }

  /// Stores `value` under a declared key; setting an optional key to nil removes it.
  public mutating func set<Value>(_ value: Value, for key: PreferenceKey<Value>) throws {
    append(Edit(try key.checkedName(), to: try key.content(of: value), secrecy: key.secrecy))
  }

  /// Removes what is stored under a declared key.
  public mutating func reset<Value>(_ key: PreferenceKey<Value>) throws(PreferencesError) {
    append(Edit(try key.checkedName(), to: nil, secrecy: key.secrecy))
  }

  // MARK: Making them

  /// Makes the edits in a dictionary: what a store in memory does in `PreferencesStore.apply(_:)`, behind its lock.
  ///
  /// - Returns: ``WriteOutcome/conflict``, with nothing changed, when a condition does not hold.
  public func apply(to values: inout [PreferenceName: PreferenceValue]) throws -> WriteOutcome {
    // By index: iterating copies each edit. A guarded value is opened before anything is changed: opening may fail.
    var opened: [Int: PreferenceValue] = [:]
    for index in edits.indices {
      if case .ifStored(let expected) = edits[index].condition {
        let stored = values[edits[index].name].map(PreferenceContent.value)
        guard try stored.isSame(as: expected) else { return .conflict }
      }
      if case .guarded(let guarded)? = edits[index].content { opened[index] = try guarded.value() }
    }
    if clears { values.removeAll() }
    for index in edits.indices {
      if case .value(let value)? = edits[index].content {
        values[edits[index].name] = value
      } else {
        values[edits[index].name] = opened[index]
      }
    }
    return .visible
  }
}
