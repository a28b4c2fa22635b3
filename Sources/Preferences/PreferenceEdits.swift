/// Changes that a store makes as one transaction: all of them or none.
///
/// ```swift
/// try store.edit { edits in
///   try edits.set(8080, for: .port)
///   try edits.removeValue(forKey: "server.host")
/// }
/// ```
public struct PreferenceEdits: Sendable {
  /// The condition of an edit.
  public enum Condition: Sendable {
    /// Always holds.
    case always
    /// Holds if a lookup returns this content or, for `nil`, finds no value. Text is first parsed as the content's
    /// kind.
    case ifStored(PreferenceContent?)
  }

  /// The change of one name.
  public struct Edit: Sendable {
    /// The name that is changed.
    public let name: PreferenceName
    /// Whether the value is a secret.
    public let secrecy: Secrecy
    /// The new content; `nil` removes the stored value.
    public let content: PreferenceContent?
    /// The condition of the edit.
    public let condition: Condition

    /// Creates the change of `name` to `content`; `nil` removes the stored value.
    public init(
      _ name: PreferenceName, to content: PreferenceContent?, secrecy: Secrecy = .plain,
      if condition: Condition = .always
    ) {
      self.name = name
      self.content = content
      self.secrecy = secrecy
      self.condition = condition
    }

    var isUnconditional: Bool { if case .always = condition { true } else { false } }
  }

  /// Whether all values of the store are removed first.
  public private(set) var clears = false
  /// The changes of names, in order.
  public private(set) var edits: [Edit] = []
  /// Whether the edits are the entries of a dictionary, which has no order. A file then changes outer names first, so
  /// that all are kept; otherwise each edit is made over the result of those before.
  package var isUnordered = false
  private(set) var changesSecrets = false

  /// Creates edits that are made in the given order.
  ///
  /// - Parameter clears: whether all values of the store are removed first.
  public init(_ edits: [Edit] = [], clearing clears: Bool = false) {
    self.edits = edits
    self.clears = clears
    changesSecrets = edits.contains { $0.secrecy == .secret }
  }

  init(_ edit: Edit) {
    edits = [edit]
    changesSecrets = edit.secrecy == .secret
  }

  /// Whether nothing is changed.
  public var isEmpty: Bool { edits.isEmpty && !clears }

  /// Whether no edit has a condition.
  package var isUnconditional: Bool { edits.allSatisfy(\.isUnconditional) }

  /// The changed names, without those that are only cleared.
  var names: Set<String> { Set(edits.lazy.map(\.name.text)) }

  /// What a store's observers receive after the edits are made: the changed names, or ``PreferenceChange/anything`` if
  /// everything else is removed.
  public var change: PreferenceChange {
    guard !clears else { return .anything }
    return edits.count == 1 ? PreferenceChange(key: edits[0].name.text) : PreferenceChange(keys: names)
  }

  // MARK: Collecting

  /// Adds an edit.
  public mutating func append(_ edit: Edit) {
    edits.append(edit)
    if edit.secrecy == .secret { changesSecrets = true }
  }

  /// Removes all values of the store; edits collected before are dropped.
  public mutating func removeAll() {
    clears = true
    edits = []
    changesSecrets = false
  }

  /// Stores `value` under `key`; `nil` removes the stored value.
  ///
  /// - Throws: ``PreferencesError/Code/invalidKey``.
  public mutating func set(_ value: PreferenceValue?, forKey key: String) throws(PreferencesError) {
    append(Edit(try PreferenceName(key), to: value.map(PreferenceContent.value)))
  }

  /// Removes the value under `key`.
  ///
  /// - Throws: ``PreferencesError/Code/invalidKey``.
  public mutating func removeValue(forKey key: String) throws(PreferencesError) { try set(nil, forKey: key) }

  /// Stores `value` under a declared key; `nil` for an optional key removes the stored value.
  ///
  /// - Throws: ``PreferencesError/Code/invalidKey``, and what the key's conversion throws.
  public mutating func set<Value>(_ value: Value, for key: PreferenceKey<Value>) throws {
    append(Edit(try key.checkedName(), to: try key.content(of: value), secrecy: key.secrecy))
  }

  /// Removes the value of a declared key.
  ///
  /// - Throws: ``PreferencesError/Code/invalidKey``.
  public mutating func reset<Value>(_ key: PreferenceKey<Value>) throws(PreferencesError) {
    append(Edit(try key.checkedName(), to: nil, secrecy: key.secrecy))
  }

  // MARK: Applying

  /// Makes the edits in a dictionary. A store in memory calls it under its lock to implement
  /// `PreferencesStore.apply(_:)`.
  ///
  /// - Returns: ``WriteOutcome/conflict``, with nothing changed, if a condition does not hold.
  /// - Throws: what opening a guarded value throws, with nothing changed.
  public func apply(to values: inout [PreferenceName: PreferenceValue]) throws -> WriteOutcome {
    // By index: iterating copies each edit. Guarded values are opened before any change, since opening may fail.
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
