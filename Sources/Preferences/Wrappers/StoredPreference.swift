/// A property whose value is a preference of a store.
///
/// ```swift
/// @StoredPreference("server.port", in: store) var port = 8080
/// @StoredPreference("proxy.host", in: store) var proxyHost: String?
/// @StoredPreference(.limits, in: store) var limits
/// ```
///
/// It is a handle as well: with a key that has a default its value is never nil.
///
/// ```swift
/// enum Settings {
///   static let port = StoredPreference(.serverPort, in: store)
/// }
/// Settings.port.value += 1
/// ```
///
/// Each access reads the store; failures go to ``PreferenceFailures`` and read as the default. A write that a layer above
/// hides is not reported by `wrappedValue` and `value`; `set(_:)` returns the outcome.
///
/// With a transformed key the property has the transformed type. Changes, made here or elsewhere, are seen by
/// `withObservationTracking`; in an `@Observable` class mark the property `@ObservationIgnored`, too.
@propertyWrapper
public struct StoredPreference<Value: Sendable>: Sendable {
  /// The store that has the value.
  public let store: any PreferencesStore
  private let tracked: TrackedPreference<Value>

  /// Wraps a declared key.
  public init(_ key: PreferenceKey<Value>, in store: any PreferencesStore) {
    self.store = store
    tracked = TrackedPreference(store, key)
  }

  /// Wraps a name; reads as the property's initial value while nothing is stored.
  public init(wrappedValue: Value, _ name: String, in store: any PreferencesStore)
  where Value: PreferenceConvertible {
    self.init(PreferenceKey(name, default: wrappedValue), in: store)
  }

  /// Wraps a name; reads as nil while nothing is stored.
  public init<Wrapped: PreferenceConvertible>(_ name: String, in store: any PreferencesStore)
  where Value == Wrapped? {
    self.init(PreferenceKey(name), in: store)
  }

  /// What the key reads as now, its default when that fails; setting stores. Failures are told to the store.
  public var wrappedValue: Value {
    get { tracked.value }
    nonmutating set { store[tracked.key] = newValue }
  }

  /// As ``wrappedValue``, for a constant that is used as a handle.
  public var value: Value {
    get { wrappedValue }
    nonmutating set { wrappedValue = newValue }
  }

  /// The wrapper itself, for what a value cannot do.
  public var projectedValue: Self { self }

  /// The name, type and default.
  public var key: PreferenceKey<Value> { tracked.key }

  /// The value, or what keeps the store from reading it.
  public func get() throws -> Value { try store.value(for: key) }

  /// Stores `value`, or throws what keeps the store from writing.
  @discardableResult
  public func set(_ value: Value) throws -> WriteOutcome { try store.set(value, for: key) }

  /// The asynchronous form of `set(_:)`; does not block the calling thread.
  @discardableResult
  public func set(_ value: Value) async throws -> WriteOutcome { try await store.set(value, for: key) }

  /// Changes the value in one step, see `PreferencesStore.update(_:_:)`.
  @discardableResult
  public func update(_ change: (inout Value) throws -> Void) throws -> WriteOutcome { try store.update(key, change) }

  /// The asynchronous form of `update(_:)`; does not block the calling thread.
  @discardableResult
  public func update(_ change: (inout Value) throws -> Void) async throws -> WriteOutcome {
    try await store.update(key, change)
  }

  /// Removes what is stored, so that the property reads as its default.
  @discardableResult
  public func reset() throws -> WriteOutcome { try store.reset(key) }

  /// The asynchronous form of `reset()`; does not block the calling thread.
  @discardableResult
  public func reset() async throws -> WriteOutcome { try await store.reset(key) }

  /// The values, from the present one on.
  public var updates: AsyncStream<Value> { store.updates(for: key) }
}
