public import Preferences

/// A handle of one preference in one store.
///
/// ```swift
/// let visits: Preference<Int> = store <| "visits"
/// try visits += 1
/// ```
///
/// A handle holds no value: each read looks it up. `apply(_:)` uses compare-and-set, so no concurrent change is lost.
public struct Preference<Value: Sendable>: Sendable {
  /// The store that is read and written.
  public let store: any PreferencesStore
  /// The name and type. Reads as the default, or as `nil`, while nothing is stored.
  public let key: PreferenceKey<Value?>
  private var substitute: @Sendable (Value?) -> Value? = { $0 }
  private var notify: (@Sendable (_ old: Value?, _ new: Value?) -> Void)?

  init(_ store: any PreferencesStore, _ key: PreferenceKey<Value?>) {
    self.store = store
    self.key = key
  }

  // MARK: Reading

  /// Returns the value, after ``whenNil(use:)`` and ``ensure(when:use:)`` are applied; `nil` if there is none.
  ///
  /// - Throws: as `PreferencesReader.value(for:)`.
  public func get() throws -> Value? { substitute(try store.value(for: key)) }

  /// Whether a value of any kind is stored.
  public var hasValue: Bool {
    get throws {
      try store.content(for: PreferenceQuery(try key.query().name, secrecy: key.secrecy)) != nil
    }
  }

  /// Whether no value is stored.
  public var isEmpty: Bool { get throws { try !hasValue } }

  /// The value; setting `nil` removes it. Errors are reported to `PreferenceFailures`, and so is a write that a layer
  /// above hides; a failed read returns `nil`, and a change in place of a value that cannot be read writes nothing.
  public var value: Value? {
    get { ChangeInPlace(of: key.name, in: store.name, or: nil) { try get() }.value }
    @available(*, noasync, message: "the property may block: await set(_:)")
    nonmutating set { PreferenceFailures.writing(key.name, in: store.name) { try set(newValue) } }
    nonmutating _modify {
      var change = ChangeInPlace(of: key.name, in: store.name, or: nil) { try get() }
      defer { change.finish { value = $0 } }
      yield &change.value
    }
  }

  // MARK: Changing

  /// Stores `value`; `nil` removes the stored value.
  ///
  /// - Throws: as `PreferencesStore.set(_:for:)`; with ``onChange(_:)`` also as ``get()``.
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

  /// Removes the stored value.
  @discardableResult
  public func clear() throws -> WriteOutcome { try set(nil) }

  /// The asynchronous form of `clear()`; does not block the calling thread.
  @discardableResult
  public func clear() async throws -> WriteOutcome { try await set(nil) }

  /// Replaces the value by the result of `change`; `nil` removes it. No concurrent change is lost.
  ///
  /// `change` gets the result of ``get()``. It runs with no lock held, and again if another write came first.
  /// - Throws: what `change` throws, with the previous value intact; as ``get()`` and `set(_:)`.
  @discardableResult
  public func apply(_ change: (Value?) throws -> Value?) throws -> WriteOutcome {
    var (old, new): (Value?, Value?)
    let outcome = try store.update(key) { value in
      old = value
      value = try change(substitute(value))
      new = value
    }
    notify?(substitute(old), substitute(new))
    return outcome
  }

  /// The asynchronous form of `apply(_:)`; does not block the calling thread.
  @discardableResult
  public func apply(_ change: (Value?) throws -> Value?) async throws -> WriteOutcome {
    var (old, new): (Value?, Value?)
    let outcome = try await store.update(key) { value in
      old = value
      value = try change(substitute(value))
      new = value
    }
    notify?(substitute(old), substitute(new))
    return outcome
  }

  /// Replaces the value by a value of a different type; handles and keys of the old type may then fail to read it.
  ///
  /// `change` gets `nil`, or the default, if nothing is stored. Callbacks of ``onChange(_:)`` are not called.
  /// - Returns: the handle of the new type.
  public func rewrite<New: PreferenceConvertible>(
    as type: New.Type = New.self, _ change: (Value?) throws -> New?
  ) throws -> Preference<New> {
    let next = Preference<New>(store, PreferenceKey<New?>(key.name, like: key))
    let query = try key.query()
    for _ in 0..<UpdateLimit.attempts {
      let stored = try store.content(for: query)
      let new = try rewriting(stored, for: next.key, change)
      let outcome = try store.compareAndSet(stored, to: new, for: query)
      report(outcome)
      if outcome != .conflict { return next }
    }
    throw UpdateLimit.refusal.about(key: key.name)
  }

  /// The asynchronous form of `rewrite(as:_:)`; does not block the calling thread.
  public func rewrite<New: PreferenceConvertible>(
    as type: New.Type = New.self, _ change: (Value?) throws -> New?
  ) async throws -> Preference<New> {
    let next = Preference<New>(store, PreferenceKey<New?>(key.name, like: key))
    let query = try key.query()
    for _ in 0..<UpdateLimit.attempts {
      let stored = try await store.reading { try $0.content(for: query) }
      let new = try rewriting(stored, for: next.key, change)
      let outcome = try await store.compareAndSet(stored, to: new, for: query)
      report(outcome)
      if outcome != .conflict { return next }
    }
    throw UpdateLimit.refusal.about(key: key.name)
  }

  /// Reports a hidden write, for an operator, which returns no outcome.
  func report(_ outcome: WriteOutcome) { PreferenceFailures.report(outcome, key: key.name, writer: store.name) }

  /// Returns the content of a key of a different type that replaces the stored content.
  private func rewriting<New>(
    _ stored: PreferenceContent?, for next: PreferenceKey<New?>, _ change: (Value?) throws -> New?
  ) throws -> PreferenceContent? {
    let new = try change(substitute(try stored.map { try key.decoded($0, of: store) } ?? key.defaultValue))
    return try next.encoded(new, for: store)
  }

  // MARK: Other handles

  /// Returns a handle that calls `notify` after each change made through it, even if the value is equal. A change
  /// throws if the old value cannot be read. For changes made elsewhere see
  /// `PreferencesReader.observe(_:initial:prior:_:)`.
  public func onChange(_ notify: @escaping @Sendable (_ old: Value?, _ new: Value?) -> Void) -> Self {
    var handle = self
    let earlier = self.notify
    handle.notify = { old, new in
      earlier?(old, new)
      notify(old, new)
    }
    return handle
  }

  /// Returns a handle that reads as `value` if this handle reads as `nil`. Nothing is stored.
  public func whenNil(use value: @escaping @autoclosure @Sendable () -> Value) -> Self {
    ensure(when: { $0 == nil }, use: value())
  }

  /// Returns a handle that reads as `value` if `condition` holds for the value of this handle. Nothing is stored.
  /// Conditions are checked in the order in which they were added.
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

  /// Returns the result of `operation` on both values; if only one handle has a value, that value; if neither has,
  /// `nil`.
  public func combined(
    with other: Self, by operation: (Value, Value) throws -> Value
  ) throws -> Value? {
    guard let mine = try get() else { return try other.get() }
    guard let theirs = try other.get() else { return mine }
    return try operation(mine, theirs)
  }

  /// Stores `value` if nothing is stored; otherwise `value` is not evaluated. A default does not count as stored.
  public func setIfAbsent(_ value: @autoclosure () throws -> Value) throws {
    guard try isEmpty else { return }
    let new = try value()
    let outcome = try store.compareAndSet(nil, to: try key.encoded(new, for: store), for: try key.query())
    if outcome != .conflict { notify?(substitute(key.defaultValue), substitute(new)) }
  }

  /// The asynchronous form of `setIfAbsent(_:)`; does not block the calling thread.
  public func setIfAbsent(_ value: @autoclosure () throws -> Value) async throws {
    guard try await store.reading({ _ in try isEmpty }) else { return }
    let new = try value()
    let outcome = try await store.compareAndSet(nil, to: try key.encoded(new, for: store), for: try key.query())
    if outcome != .conflict { notify?(substitute(key.defaultValue), substitute(new)) }
  }
}

extension Preference: Identifiable {
  /// Identifies a preference: handles of the same key in the same store have equal identifiers.
  public struct ID: Sendable, Hashable {
    let store: StoreIdentity
    let name: String
  }

  public var id: ID { ID(store: store.identity, name: key.name) }
}

extension Preference: CustomStringConvertible, CustomReflectable {
  /// The names of the key and the store, without the value.
  public var description: String {
    // The message of an error is escaped for display.
    PreferencesError(.unavailable, "preference \"\(key.name)\" in \(store.name)").message
  }
  public var customMirror: Mirror { Mirror(self, children: EmptyCollection<Mirror.Child>()) }
}

extension PreferencesStore {
  /// Returns the handle of a declared key.
  public func preference<Value>(for key: PreferenceKey<Value>) -> Preference<Value> { Preference(self, key.lifted) }

  /// Returns the handle of a declared optional key.
  public func preference<Value>(for key: PreferenceKey<Value?>) -> Preference<Value> { Preference(self, key) }

  /// Returns the handle of the plain preference called `name`.
  public func preference<Value: PreferenceConvertible>(
    _ name: String, as type: Value.Type = Value.self
  ) -> Preference<Value> {
    Preference(self, PreferenceKey(name))
  }
}

extension PreferenceKey {
  /// The same key with an optional type; `nil` removes the value.
  var lifted: PreferenceKey<Value?> {
    var key = PreferenceKey<Value?>(
      name, kind: kind, secrecy: secrecy, guarding: guarding?.lifted, makeDefault: { [self] in defaultValue },
      decode: { [decode] value throws(PreferencesError) in try decode(value) },
      encode: { [encode] value throws(PreferencesError) in
        guard let value else { return nil }
        return try encode(value)
      })
    key.comparison = comparing { value throws(PreferencesError) in value }
    return key
  }

  /// Creates a key with the secrecy of `other`.
  init<Wrapped: PreferenceConvertible>(_ name: String, like other: PreferenceKey<some Sendable>)
  where Value == Wrapped? {
    self.init(
      name, kind: Wrapped.preferenceKind, secrecy: other.secrecy, makeDefault: { nil },
      decode: { value throws(PreferencesError) in try Wrapped(preferenceValue: value) },
      encode: { value throws(PreferencesError) in value?.preferenceValue })
  }
}
