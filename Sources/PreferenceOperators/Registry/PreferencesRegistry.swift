public import Preferences

import Synchronization

/// Stores that a program shares, by any key, and the one that is meant when none is named.
///
/// There is one for the program, and tests make their own, see `with`. All of it may be used from any
/// thread.
public final class PreferencesRegistry: Sendable {
  // `AnyHashable` takes 1 and 1.0 for one key, so the type is part of it. It is made of a `Sendable` value only.
  private struct Key: Hashable, @unchecked Sendable {
    let type: ObjectIdentifier
    let value: AnyHashable

    init<Value: Hashable & Sendable>(_ value: Value) {
      (type, self.value) = (ObjectIdentifier(Value.self), AnyHashable(value))
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
  @TaskLocal private static var scoped: PreferencesRegistry?

  /// The program's registry, or that of the surrounding `with`.
  public static var current: PreferencesRegistry { scoped ?? standard }

  /// Runs `body` with another registry in place of the program's, for this task and its children.
  public static func with<R>(_ registry: PreferencesRegistry, _ body: () throws -> R) rethrows -> R {
    try $scoped.withValue(registry, operation: body)
  }

  /// As the synchronous form.
  public static func with<R>(_ registry: PreferencesRegistry, _ body: () async throws -> R) async rethrows -> R {
    try await $scoped.withValue(registry, operation: body)
  }

  // MARK: The shared store

  /// The store that ``SharedPreferences`` means. Who takes it from here keeps it when it is replaced.
  public var shared: any PreferencesStore { state.withLock(\.shared) }

  /// Makes `store` the shared one. Those who use ``SharedPreferences`` see its values from now on.
  ///
  /// Given ``SharedPreferences``, it is the store that they mean now; no other store may be made of them.
  public func share(_ store: any PreferencesStore) {
    // It would ask itself otherwise, without end.
    let store = store is SharedPreferences ? Self.current.shared : store
    state.withLock { state in
      state.shared = store
      state.version += 1
    }
    tellReplacement()
  }

  /// Calls `notify` with changes in whatever is shared, and when that is replaced.
  func observeShared(_ notify: @escaping @Sendable (PreferenceChange) -> Void) -> PreferenceObservation {
    let followed = Followed()
    let follow: @Sendable () -> Void = { [self] in
      var seen: UInt64
      repeat {
        let (shared, version) = state.withLock { ($0.shared, $0.version) }
        let new = shared.observe(notify)
        followed.exchange(new)?.invalidate()
        seen = version
        // Replaced meanwhile: what is followed may be the older one.
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

  /// Also where observation is suppressed: that is meant for values, and those who follow must not lose the store.
  private func tellReplacement() {
    ObservationSuppression.lifted { replacements.send(.anything) }
  }

  // MARK: Stores by key

  /// The store that is registered under `key`; setting nil takes it out. Keys of two types are never equal.
  public subscript(key: some Hashable & Sendable) -> (any PreferencesStore)? {
    get { state.withLock { $0.stores[Key(key)] } }
    set { register(newValue, for: key) }
  }

  /// Registers `store` under `key` in place of another; nil takes that one out.
  /// - Returns: what was registered before.
  @discardableResult
  public func register(
    _ store: (any PreferencesStore)?, for key: some Hashable & Sendable
  ) -> (any PreferencesStore)? {
    state.withLock { state in
      defer { state.stores[Key(key)] = store }
      return state.stores[Key(key)]
    }
  }

  /// The store under `key`; when there is none, the one that `make` returns is registered. Of several that come at once
  /// all get the same store.
  public func store(
    for key: some Hashable & Sendable, orRegister make: @autoclosure () throws -> any PreferencesStore
  ) rethrows -> any PreferencesStore {
    if let store = self[key] { return store }
    // Made with no lock held; another may have come first.
    let made = try make()
    return state.withLock { state in
      let store = state.stores[Key(key)] ?? made
      state.stores[Key(key)] = store
      return store
    }
  }

  /// Takes the store under `key` out.
  /// - Returns: that store; nil when there was none.
  @discardableResult
  public func unregister(_ key: some Hashable & Sendable) -> (any PreferencesStore)? { register(nil, for: key) }

  /// Takes out all stores, and makes the shared one an empty one in memory.
  public func reset() {
    state.withLock { $0 = State(version: $0.version + 1) }
    tellReplacement()
  }
}

/// The observation of the store that is shared now.
private final class Followed: Sendable {
  private let observation = Mutex<PreferenceObservation?>(nil)

  func exchange(_ new: PreferenceObservation?) -> PreferenceObservation? {
    observation.withLock { observation in
      defer { observation = new }
      return observation
    }
  }
}
