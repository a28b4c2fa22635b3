public import Preferences
internal import Synchronization

/// A store that keeps its values in a base store and fails on request, as a locked vault does.
///
/// ```swift
/// let vault = FailingPreferences(isSealed: true)
/// let preferences: CompositePreferences = [vault.claiming(.names(["token"])), settings]
/// vault.fail()
/// ```
public final class FailingPreferences: PreferencesStore, GuardingReader {
  /// The error that is thrown unless a different error is given.
  public struct Failure: Error, CustomStringConvertible {
    public init() {}
    public var description: String { "the test made this store fail" }
  }

  public let name: String
  public let custody: Custody
  private let base: any PreferencesStore
  private let failure = Mutex<(any Error)?>(nil)

  /// - Parameters:
  ///   - base: the store that keeps the values; a store in memory by default.
  ///   - isSealed: whether the values count as sealed; `nil` to use the custody of `base`.
  public init(
    _ base: any PreferencesStore = DictionaryPreferences(), name: String = "failing", isSealed: Bool? = nil
  ) {
    (self.base, self.name, custody) = (base, name, isSealed.map { $0 ? .sealed : .plain } ?? base.custody)
  }

  /// Makes every call throw `error` from now on.
  public func fail(with error: any Error = Failure()) { failure.withLock { $0 = error } }

  /// Makes calls succeed again.
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

  /// The secrecy in `base`: a secret in this store may be a plain value in `base`.
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
