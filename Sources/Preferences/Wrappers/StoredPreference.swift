/// A property whose value is a preference of a store.
///
/// ```swift
/// @StoredPreference("server.port", in: store) var port = 8080
/// @StoredPreference("proxy.host", in: store) var proxyHost: String?
/// @StoredPreference(.limits, in: store) var limits
/// ```
///
/// It is also a handle, whose value is never `nil` if the key has a default:
///
/// ```swift
/// enum Settings {
///   static let port = StoredPreference(.serverPort, in: store)
/// }
/// Settings.port.value += 1
/// ```
///
/// Each access reads the store. Errors are reported to ``PreferenceFailures``, and a failed read returns the default. A
/// change in place, such as `port += 1`, writes nothing if the value cannot be read, unless the property is a local
/// variable, which the compiler reads and then assigns. A write that a layer above hides is reported, too; `set(_:)`
/// returns it as the outcome.
///
/// With a transformed key the property has the transformed type. `withObservationTracking` detects all changes that the
/// store reports; in an `@Observable` class mark the property `@ObservationIgnored`.
@propertyWrapper
public struct StoredPreference<Value: Sendable>: Sendable {
  /// The store that is read and written.
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

  /// Wraps a name; reads as `nil` while nothing is stored.
  public init<Wrapped: PreferenceConvertible>(_ name: String, in store: any PreferencesStore)
  where Value == Wrapped? {
    self.init(PreferenceKey(name), in: store)
  }

  /// The current value. Errors are reported to ``PreferenceFailures``; a failed read returns the default.
  public var wrappedValue: Value {
    get { tracked.value }
    @available(*, noasync, message: "the property may block: await set(_:)")
    nonmutating set { store[tracked.key] = newValue }
    nonmutating _modify {
      tracked.access()
      yield &store[tracked.key]
    }
  }

  /// As ``wrappedValue``, for use as a handle.
  public var value: Value {
    get { wrappedValue }
    @available(*, noasync, message: "the property may block: await set(_:)")
    nonmutating set { wrappedValue = newValue }
    nonmutating _modify { yield &wrappedValue }
  }

  /// The wrapper, for its methods.
  public var projectedValue: Self { self }

  /// The name, type and default.
  public var key: PreferenceKey<Value> { tracked.key }

  /// Returns the current value.
  ///
  /// - Throws: as ``PreferencesReader/value(for:)-(PreferenceKey<Value>)``.
  public func get() throws -> Value { try store.value(for: key) }

  /// Stores `value`.
  ///
  /// - Throws: as `PreferencesStore.set(_:for:)`.
  @discardableResult
  public func set(_ value: Value) throws -> WriteOutcome { try store.set(value, for: key) }

  /// The asynchronous form of `set(_:)`; does not block the calling thread.
  @discardableResult
  public func set(_ value: Value) async throws -> WriteOutcome { try await store.set(value, for: key) }

  /// Changes the value with compare-and-set, see `PreferencesStore.update(_:_:)`.
  @discardableResult
  public func update(_ change: (inout Value) throws -> Void) throws -> WriteOutcome { try store.update(key, change) }

  /// The asynchronous form of `update(_:)`; does not block the calling thread.
  @discardableResult
  public func update(_ change: (inout Value) throws -> Void) async throws -> WriteOutcome {
    try await store.update(key, change)
  }

  /// Removes the stored value, so that the property reads as its default.
  @discardableResult
  public func reset() throws -> WriteOutcome { try store.reset(key) }

  /// The asynchronous form of `reset()`; does not block the calling thread.
  @discardableResult
  public func reset() async throws -> WriteOutcome { try await store.reset(key) }

  /// The values, beginning with the current one.
  public var updates: AsyncStream<Value> { store.updates(for: key) }
}
