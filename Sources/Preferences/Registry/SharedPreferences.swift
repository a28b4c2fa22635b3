/// The shared store of the registry, whichever that is at each call: who holds this follows a replacement.
public struct SharedPreferences: PreferencesStore {
  /// Creates a view of the shared store.
  public init() {}

  private var store: any PreferencesStore { PreferencesRegistry.current.shared }

  public var name: String { store.name }
  public var isSealed: Bool { store.isSealed }
  public var isLayered: Bool { store.isLayered }
  public var identity: StoreIdentity { store.identity }

  public func value(forKey key: String) throws -> PreferenceValue? { try store.value(forKey: key) }

  public func value(forKey key: String, as kind: PreferenceValue.Kind) throws -> PreferenceValue? {
    try store.value(forKey: key, as: kind)
  }

  public func value(
    forKey key: String, as kind: PreferenceValue.Kind?, secrecy: Secrecy
  ) throws -> PreferenceValue? {
    try store.value(forKey: key, as: kind, secrecy: secrecy)
  }

  public func keys() throws -> [String] { try store.keys() }

  public func observe(_ notify: @escaping @Sendable (PreferenceChange) -> Void) -> PreferenceObservation {
    PreferencesRegistry.current.observeShared(notify)
  }

  public func handleFailure(_ error: any Error, key: String) { store.handleFailure(error, key: key) }

  @discardableResult
  public func set(_ value: PreferenceValue, forKey key: String) throws -> WriteOutcome {
    try store.set(value, forKey: key)
  }

  @discardableResult
  public func removeValue(forKey key: String) throws -> WriteOutcome { try store.removeValue(forKey: key) }

  public func removeAll() throws { try store.removeAll() }
  public func set(_ values: [String: PreferenceValue]) throws { try store.set(values) }
  public func accepts(_ secrecy: Secrecy) -> Bool { store.accepts(secrecy) }

  public func secrecy(ofWriting key: String, asked: Secrecy) -> Secrecy {
    store.secrecy(ofWriting: key, asked: asked)
  }

  @discardableResult
  public func write(_ value: PreferenceValue?, forKey key: String, secrecy: Secrecy) throws -> WriteOutcome {
    try store.write(value, forKey: key, secrecy: secrecy)
  }

  @discardableResult
  public func exchange(
    _ old: PreferenceValue?, for new: PreferenceValue?, forKey key: String, as kind: PreferenceValue.Kind?,
    secrecy: Secrecy
  ) throws -> WriteOutcome? {
    try store.exchange(old, for: new, forKey: key, as: kind, secrecy: secrecy)
  }
}

extension SharedPreferences: CustomStringConvertible, CustomReflectable {}
