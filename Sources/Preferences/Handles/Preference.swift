/// One preference of one store: where it is, and what may be done with it.
///
/// ```swift
/// let visits: Preference<Int> = store <| "visits"
/// try visits += 1
/// ```
///
/// A handle holds no value. Each read asks the store, and each change is one `update(_:_:)`, so that
/// of changes made at once none is lost. A handle of a key with a default reads as that default while nothing is stored.
public struct Preference<Value: Sendable>: Sendable {
  /// The store that has the value.
  public let store: any PreferencesStore
  /// The name and type; reads as nil, or as its default, while nothing is stored.
  public let key: PreferenceKey<Value?>
  private var substitute: @Sendable (Value?) -> Value? = { $0 }
  private var notify: (@Sendable (_ old: Value?, _ new: Value?) -> Void)?

  init(_ store: any PreferencesStore, _ key: PreferenceKey<Value?>) { (self.store, self.key) = (store, key) }

  // MARK: Reading

  /// What the preference reads as; nil when it is absent and nothing stands in for it.
  ///
  /// - Throws: as ``PreferencesReader/value(for:)-(PreferenceKey<Value>)``.
  public func get() throws -> Value? { substitute(try store.value(for: key)) }

  /// Whether something is stored, of whatever kind.
  public var hasValue: Bool {
    get throws {
      try store.content(for: PreferenceQuery(try key.checkedName(), secrecy: key.secrecy)) != nil
    }
  }

  /// Whether nothing is stored.
  public var isEmpty: Bool { get throws { try !hasValue } }

  /// Sugar for ``get()`` and `set(_:)`: failures go to ``PreferenceFailures`` and read as nil.
  public var value: Value? {
    get { store.reporting(key.name, or: nil) { try get() } }
    nonmutating set { store.reporting(key.name, or: ()) { _ = try set(newValue) } }
  }

  // MARK: Changing

  /// Stores `value`; nil removes what is stored.
  @discardableResult
  public func set(_ value: Value?) throws -> WriteOutcome {
    // The old value is needed only if a callback is registered.
    guard notify != nil else { return try store.set(value, for: key) }
    return try apply { _ in value }
  }

  /// The asynchronous form of `set(_:)`; does not block the calling thread.
  @discardableResult
  public func set(_ value: Value?) async throws -> WriteOutcome {
    guard notify != nil else { return try await store.set(value, for: key) }
    return try await apply { _ in value }
  }

  /// Removes what is stored.
  @discardableResult
  public func clear() throws -> WriteOutcome { try set(nil) }

  /// The asynchronous form of `clear()`; does not block the calling thread.
  @discardableResult
  public func clear() async throws -> WriteOutcome { try await set(nil) }

  /// Stores what `change` makes of what the preference reads as; nil removes it. Of several changes at once none is lost.
  ///
  /// `change` runs with no lock held, and again when another change came between.
  /// - Throws: what `change` throws, with the old value still there.
  @discardableResult
  public func apply(_ change: (Value?) throws -> Value?) throws -> WriteOutcome {
    while true {
      let attempt = try attempt(change)
      let outcome = try store.compareAndSet(attempt.stored, to: attempt.content, for: attempt.query)
      if outcome != .conflict { return finished(attempt, outcome) }
    }
  }

  /// The asynchronous form of `apply(_:)`; does not block the calling thread.
  @discardableResult
  public func apply(_ change: (Value?) throws -> Value?) async throws -> WriteOutcome {
    while true {
      let attempt = try attempt(change)
      let outcome = try await store.compareAndSet(attempt.stored, to: attempt.content, for: attempt.query)
      if outcome != .conflict { return finished(attempt, outcome) }
    }
  }

  private func attempt(_ change: (Value?) throws -> Value?) throws -> UpdateAttempt<Value?> {
    try UpdateAttempt(key, in: store) { $0 = try change(substitute($0)) }
  }

  private func finished(_ attempt: UpdateAttempt<Value?>, _ outcome: WriteOutcome) -> WriteOutcome {
    notify?(substitute(attempt.old), substitute(attempt.new))
    return outcome
  }

  /// Writes the value in another type, under the same name: handles and keys of the old type fail from then on.
  ///
  /// An absent value is given to `change` as nil, or as the default.
  /// - Returns: the handle of the new type.
  public func rewrite<New: PreferenceConvertible>(
    as type: New.Type = New.self, _ change: (Value?) throws -> New?
  ) throws -> Preference<New> {
    let next = Preference<New>(store, PreferenceKey<New?>(key.name, like: key))
    let query = try key.query()
    while true {
      let stored = try store.content(for: query)
      let new = try change(substitute(try stored.map { try key.decoded($0) } ?? key.defaultValue))
      let content = try next.key.content(of: new)
      if try store.compareAndSet(stored, to: content, for: query) != .conflict { return next }
    }
  }

  // MARK: Making others

  /// A handle that calls `notify` after each change that is made through it, equal values included, and no other. A change
  /// fails when the old value cannot be read. For changes made elsewhere see ``PreferencesReader/observe(_:options:_:)``.
  public func didSet(_ notify: @escaping @Sendable (_ old: Value?, _ new: Value?) -> Void) -> Self {
    var handle = self
    let earlier = self.notify
    handle.notify = { old, new in
      earlier?(old, new)
      notify(old, new)
    }
    return handle
  }

  /// A handle that reads as `value` while this one reads as nil; nothing is stored.
  public func whenNil(use value: @escaping @autoclosure @Sendable () -> Value) -> Self {
    ensure(when: { $0 == nil }, use: value())
  }

  /// A handle that reads as `value` whenever `condition` holds for what this one reads as; nothing is stored. Conditions
  /// are asked in the order in which they were added.
  public func ensure(
    when condition: @escaping @Sendable (Value?) -> Bool, use value: @escaping @autoclosure @Sendable () -> Value?
  ) -> Self {
    var handle = self
    let earlier = substitute
    handle.substitute = {
      let seen = earlier($0)
      return condition(seen) ? value() : seen
    }
    return handle
  }

  /// What `operation` makes of two preferences; of an absent one and another, the other; nil when both are absent.
  public func combined(
    with other: Self, by operation: (Value, Value) throws -> Value
  ) throws -> Value? {
    guard let mine = try get() else { return try other.get() }
    guard let theirs = try other.get() else { return mine }
    return try operation(mine, theirs)
  }

  /// Stores `value` if nothing is stored; it is computed only then. A default does not count as stored.
  public func setIfAbsent(_ value: @autoclosure () throws -> Value) throws {
    guard try isEmpty else { return }
    let new = try value()
    let outcome = try store.compareAndSet(nil, to: try key.content(of: new), for: try key.query())
    if outcome != .conflict { notify?(substitute(key.defaultValue), substitute(new)) }
  }
}

extension Preference: Identifiable {
  /// Which preference a handle is of: equal for two of one key of one store, however they were made.
  public struct ID: Sendable, Hashable {
    let store: StoreIdentity
    let name: String
  }

  public var id: ID { ID(store: store.identity, name: key.name) }
}

extension Preference: CustomStringConvertible, CustomReflectable {
  /// The key and the store, without the value.
  public var description: String { escapedForDisplay("preference \"\(key.name)\" in \(store.name)") }
  public var customMirror: Mirror { Mirror(self, children: EmptyCollection<Mirror.Child>()) }
}

extension PreferencesStore {
  /// The handle of a declared key with a default.
  public func preference<Value>(for key: PreferenceKey<Value>) -> Preference<Value> { Preference(self, key.lifted) }

  /// The handle of a declared key that may be nil.
  public func preference<Value>(for key: PreferenceKey<Value?>) -> Preference<Value> { Preference(self, key) }

  /// The handle of the plain preference with this name.
  public func preference<Value: PreferenceConvertible>(
    _ name: String, as type: Value.Type = Value.self
  ) -> Preference<Value> {
    Preference(self, PreferenceKey(name))
  }
}

extension PreferenceKey {
  /// The same key, in which nil stands for removal.
  var lifted: PreferenceKey<Value?> {
    PreferenceKey<Value?>(
      name, kind: kind, secrecy: secrecy, makeDefault: { [makeDefault] in makeDefault() },
      decode: { [decode] value throws(PreferencesError) in try decode(value) },
      encode: { [encode] value throws(PreferencesError) in
        guard let value else { return nil }
        return try encode(value)
      })
  }

  /// A key of another type with the name and secrecy of `other`.
  init<Wrapped: PreferenceConvertible>(_ name: String, like other: PreferenceKey<some Sendable>)
  where Value == Wrapped? {
    self.init(
      name, kind: Wrapped.preferenceKind, secrecy: other.secrecy, makeDefault: { nil },
      decode: { value throws(PreferencesError) in try Wrapped(preferenceValue: value) },
      encode: { value throws(PreferencesError) in value?.preferenceValue })
  }
}
