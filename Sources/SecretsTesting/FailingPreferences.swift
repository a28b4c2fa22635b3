public import Preferences
internal import Synchronization

/// The values of another store, in a store that fails when it is told to, as a locked vault does.
///
/// ```swift
/// let vault = FailingPreferences(isSealed: true)
/// let preferences: CompositePreferences = [vault, settings]
/// vault.fail()
/// ```
public final class FailingPreferences: PreferencesStore {
  /// What is thrown unless another error is given.
  public struct Failure: Error, CustomStringConvertible {
    public init() {}
    public var description: String { "told to fail" }
  }

  public let name: String
  /// Whether the values count as sealed.
  public let isSealed: Bool
  private let base: any PreferencesStore
  private let failure = Mutex<(any Error)?>(nil)

  /// - Parameters:
  ///   - base: what keeps the values; memory unless another store is given.
  ///   - isSealed: whether they count as sealed; nil for as they are in `base`.
  public init(
    _ base: any PreferencesStore = DictionaryPreferences(), name: String = "failing", isSealed: Bool? = nil
  ) {
    (self.base, self.name, self.isSealed) = (base, name, isSealed ?? base.isSealed)
  }

  /// Every call throws `error` from now on.
  public func fail(with error: any Error = Failure()) { failure.withLock { $0 = error } }

  /// Nothing fails any more.
  public func recover() { failure.withLock { $0 = nil } }

  private var working: any PreferencesStore {
    get throws {
      if let failure = failure.withLock(\.self) { throw failure }
      return base
    }
  }

  public func value(forKey key: String) throws -> PreferenceValue? { try working.value(forKey: key) }

  public func value(forKey key: String, as kind: PreferenceValue.Kind) throws -> PreferenceValue? {
    try working.value(forKey: key, as: kind)
  }

  public func keys() throws -> [String] { try working.keys() }

  public func observe(_ notify: @escaping @Sendable (PreferenceChange) -> Void) -> PreferenceObservation {
    base.observe(notify)
  }

  public func handleFailure(_ error: any Error, key: String) { base.handleFailure(error, key: key) }

  @discardableResult
  public func set(_ value: PreferenceValue, forKey key: String) throws -> WriteOutcome {
    try working.set(value, forKey: key)
  }

  @discardableResult
  public func removeValue(forKey key: String) throws -> WriteOutcome { try working.removeValue(forKey: key) }

  public func removeAll() throws { try working.removeAll() }
  public func set(_ values: [String: PreferenceValue]) throws { try working.set(values) }
}

extension FailingPreferences: CustomStringConvertible, CustomReflectable {}
