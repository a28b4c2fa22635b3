public import Preferences

import Synchronization

/// The stores that a program shares: one for each registered key, and the shared store for code that names no store.
///
/// A program has one registry. Tests create their own and install it with `with`. Every member can be used from any
/// thread.
public final class PreferencesRegistry: Sendable {
  // `AnyHashable` treats 1 and 1.0 as equal, so the key includes the type. The wrapped value is always `Sendable`.
  private struct Key: Hashable, @unchecked Sendable {
    let type: ObjectIdentifier
    let value: AnyHashable

    init<Value: Hashable & Sendable>(_ value: Value) {
      type = ObjectIdentifier(Value.self)
      self.value = AnyHashable(value)
    }
  }

  private struct State {
    var stores: [Key: any PreferencesStore] = [:]
    var shared: any PreferencesStore = DictionaryPreferences()
    var version: UInt64 = 0
  }

  private let state = Mutex(State())
  private let replacements = ChangeBroadcast()

  /// Creates a registry whose shared store is empty and in memory.
  public init() {}

  // MARK: Which registry

  private static let standard = PreferencesRegistry()
  @TaskLocal static var scoped: PreferencesRegistry?

  /// The program's registry, or the registry of the surrounding `with`.
  public static var current: PreferencesRegistry { scoped ?? standard }

  /// Runs `body` with `registry` in place of the program's registry, in this task and its child tasks.
  public static func with<R>(_ registry: PreferencesRegistry, _ body: () throws -> R) rethrows -> R {
    try $scoped.withValue(registry, operation: body)
  }

  /// The asynchronous form: runs `body` with `registry` in place of the program's, in this task and its child tasks.
  public static func with<R>(_ registry: PreferencesRegistry, _ body: () async throws -> R) async rethrows -> R {
    try await $scoped.withValue(registry, operation: body)
  }

  // MARK: The shared store

  /// The store that ``SharedPreferences`` uses. A store that was returned earlier does not follow a replacement.
  public var shared: any PreferencesStore { state.withLock(\.shared) }

  /// Makes `store` the shared store. Users of ``SharedPreferences`` see its values from now on.
  ///
  /// If `store` is ``SharedPreferences``, its current store is shared. `store` must not be any other store that is
  /// built on `SharedPreferences`.
  public func share(_ store: any PreferencesStore) {
    // Otherwise a lookup would recurse without end.
    let store = (store as? SharedPreferences)?.store ?? store
    // Released with no lock held: a store may use the registry when it ends.
    let old = state.withLock { state in
      state.version += 1
      return exchange(&state.shared, store)
    }
    tellReplacement()
    withExtendedLifetime(old) {}
  }

  /// Calls `notify` for changes of the shared store, and when the shared store is replaced.
  func observeShared(_ notify: @escaping @Sendable (PreferenceChange) -> Void) -> PreferenceObservation {
    let followed = Followed()
    let follow: @Sendable () -> Void = { [self] in
      var seen: UInt64
      repeat {
        let (shared, version) = state.withLock { ($0.shared, $0.version) }
        let new = shared.observe(notify)
        followed.exchange(new)?.invalidate()
        seen = version
        // If the store was replaced in the meantime, the observed store may be the old store.
      } while seen != state.withLock(\.version)
    }
    let own = replacements.observe { _ in
      follow()
      notify(.anything)
    }
    follow()
    return PreferenceObservation {
      own.invalidate()
      followed.exchange(nil)?.invalidate()
    }
  }

  /// Notifies even while observation is suppressed: suppression applies to values, and observers must follow the new
  /// store.
  private func tellReplacement() {
    ChangeBroadcast.unsuppressed { replacements.send(.anything) }
  }

  // MARK: Stores by key

  /// The store that is registered under `key`; setting `nil` removes it. Keys of different types are never equal.
  public subscript(key: some Hashable & Sendable) -> (any PreferencesStore)? {
    get { state.withLock { $0.stores[Key(key)] } }
    set { register(newValue, for: key) }
  }

  /// Registers `store` under `key`, replacing any previous store; `nil` removes the previous store.
  /// - Returns: the previous store.
  @discardableResult
  public func register(
    _ store: (any PreferencesStore)?, for key: some Hashable & Sendable
  ) -> (any PreferencesStore)? {
    state.withLock { state in
      defer { state.stores[Key(key)] = store }
      return state.stores[Key(key)]
    }
  }

  /// Returns the store under `key`. If there is none, registers the result of `make`. Concurrent callers get the same
  /// store.
  public func store(
    for key: some Hashable & Sendable, orRegister make: @autoclosure () throws -> any PreferencesStore
  ) rethrows -> any PreferencesStore {
    if let store = self[key] { return store }
    // Created with no lock held; another thread may have registered a store first.
    let made = try make()
    return state.withLock { state in
      let store = state.stores[Key(key)] ?? made
      state.stores[Key(key)] = store
      return store
    }
  }

  /// Removes the store under `key`.
  /// - Returns: the removed store; `nil` if there was none.
  @discardableResult
  public func unregister(_ key: some Hashable & Sendable) -> (any PreferencesStore)? { register(nil, for: key) }

  /// Removes all stores, and makes an empty store in memory the shared store.
  public func reset() {
    let old = state.withLock { state in exchange(&state, State(version: state.version + 1)) }
    tellReplacement()
    withExtendedLifetime(old) {}
  }
}

private func exchange<Value>(_ place: inout Value, _ new: Value) -> Value {
  defer { place = new }
  return place
}

/// Holds the observation of the current shared store.
private final class Followed: Sendable {
  private let observation = Mutex<PreferenceObservation?>(nil)

  func exchange(_ new: PreferenceObservation?) -> PreferenceObservation? {
    observation.withLock { observation in
      defer { observation = new }
      return observation
    }
  }
}
