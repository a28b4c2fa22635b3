public import Preferences
internal import Synchronization

/// The values of another store, in a store that fails when it is told to, as a locked vault does.
///
/// ```swift
/// let vault = FailingPreferences(isSealed: true)
/// let preferences: CompositePreferences = [vault.claiming(.names(["token"])), settings]
/// vault.fail()
/// ```
public final class FailingPreferences: PreferencesStore, GuardingReader {
  /// What is thrown unless another error is given.
  public struct Failure: Error, CustomStringConvertible {
    public init() {}
    public var description: String { "told to fail" }
  }

  public let name: String
  public let custody: Custody
  private let base: any PreferencesStore
  private let failure = Mutex<(any Error)?>(nil)

  /// - Parameters:
  ///   - base: what keeps the values; memory unless another store is given.
  ///   - isSealed: whether they count as sealed; nil for as they are in `base`.
  public init(
    _ base: any PreferencesStore = DictionaryPreferences(), name: String = "failing", isSealed: Bool? = nil
  ) {
    (self.base, self.name, custody) = (base, name, isSealed.map { $0 ? .sealed : .plain } ?? base.custody)
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

  public func value(for query: PreferenceQuery) throws -> PreferenceValue? { try working.value(for: query) }

  public func guardedValue(for query: PreferenceQuery) throws -> (any GuardedValue)? {
    try working.guardedLookUp(PreferenceQuery(query.name, as: query.kind, secrecy: underneath(query.secrecy)))
  }

  public func names(of secrecy: Secrecy) throws -> [PreferenceName] {
    try working.names(of: underneath(secrecy))
  }

  /// What counts as a secret here may be plain underneath.
  private func underneath(_ secrecy: Secrecy) -> Secrecy {
    base.custody.holdsPlain && base.custody.holdsSecrets ? secrecy : base.custody.holdsSecrets ? .secret : .plain
  }

  public func observe(_ notify: @escaping @Sendable (PreferenceChange) -> Void) -> PreferenceObservation {
    base.observe(notify)
  }

  @discardableResult
  public func apply(_ edits: PreferenceEdits) throws -> WriteOutcome { try working.apply(edits) }

  @discardableResult
  public func apply(_ edits: PreferenceEdits) async throws -> WriteOutcome { try await working.apply(edits) }
}

extension FailingPreferences: CustomStringConvertible, CustomReflectable {}
