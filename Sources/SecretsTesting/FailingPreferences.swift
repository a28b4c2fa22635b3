internal import DurableFiles
public import Preferences
internal import Synchronization

/// A store that keeps its values in a base store, and that a test can make locked, damaged, full or slow.
///
/// ```swift
/// let store = FailingPreferences(try ThrowawayVault.current.preferences())
/// store.become(.locked)
/// #expect(throws: VaultError.self) { try store.string(forKey: "github") }
/// ```
public final class FailingPreferences: PreferencesStore, GuardingReader {
  /// The error of ``Condition/failing(with:)`` unless a different error is given.
  public struct Failure: Error, CustomStringConvertible {
    /// Creates the error.
    public init() {}
    public var description: String { "the test made this store fail" }
  }

  public let name: String
  public let custody: Custody
  private let base: any PreferencesStore
  private let state = Mutex(State())

  private struct State {
    var condition = Condition.working
    var waitingCalls = 0
  }

  /// - Parameters:
  ///   - base: the store that keeps the values; a store in memory by default.
  ///   - isSealed: whether the values count as sealed; `nil` to use the custody of `base`.
  public init(
    _ base: any PreferencesStore = DictionaryPreferences(), name: String = "failing", isSealed: Bool? = nil
  ) {
    self.base = base
    self.name = name
    custody = isSealed.map { $0 ? .sealed : .plain } ?? base.custody
  }

  /// Puts the store into a condition until the next call of this method.
  ///
  /// Calls that wait because the store was slow now do what the new condition says.
  public func become(_ condition: Condition) { state.withLock { $0.condition = condition } }

  /// Returns when at least `count` calls wait because the store is slow.
  ///
  /// - Throws: `CancellationError` if the task is cancelled, for example by the test's time limit.
  public func waitForCalls(_ count: Int = 1) async throws {
    while state.withLock({ $0.waitingCalls < count }) { try await Task.sleep(for: .milliseconds(1)) }
  }

  // MARK: Reading

  public func value(for query: PreferenceQuery) throws -> PreferenceValue? { try reached(by: .read).value(for: query) }

  public func guardedValue(for query: PreferenceQuery) throws -> (any GuardedValue)? {
    try reached(by: .read).guardedLookUp(
      PreferenceQuery(query.name, as: query.kind, secrecy: underneath(query.secrecy)))
  }

  public func names(of secrecy: Secrecy) throws -> [PreferenceName] {
    try reached(by: .read).names(of: underneath(secrecy))
  }

  /// The secrecy in `base`: a secret in this store may be a plain value in `base`.
  private func underneath(_ secrecy: Secrecy) -> Secrecy {
    base.custody.holds(.plain) && base.custody.holds(.secret) ? secrecy : base.custody.holds(.secret) ? .secret : .plain
  }

  public func observe(_ notify: @escaping @Sendable (PreferenceChange) -> Void) -> PreferenceObservation {
    base.observe(notify)
  }

  // MARK: Writing

  @discardableResult
  public func apply(_ edits: PreferenceEdits) throws -> WriteOutcome { try reached(by: .write).apply(edits) }

  @discardableResult
  public func apply(_ edits: PreferenceEdits) async throws -> WriteOutcome {
    try await reached(by: .write).apply(edits)
  }

  // MARK: The condition

  /// Returns the base store, or throws the error of the condition. A call to a slow store blocks its thread meanwhile,
  /// as a call to a slow disk does.
  private func reached(by call: Condition.Call) throws -> any PreferencesStore {
    if isSlow(for: call) {
      state.withLock { $0.waitingCalls += 1 }
      defer { state.withLock { $0.waitingCalls -= 1 } }
      // A cancelled task stops waiting, so that a test that fails while a call waits can end.
      while isSlow(for: call), !Task.isCancelled { usleep(1000) }
    }
    return try working(for: call)
  }

  private func reached(by call: Condition.Call) async throws -> any PreferencesStore {
    if isSlow(for: call) {
      state.withLock { $0.waitingCalls += 1 }
      defer { state.withLock { $0.waitingCalls -= 1 } }
      // The sleep of a cancelled task throws, which ends the wait.
      do { while isSlow(for: call) { try await Task.sleep(for: .milliseconds(1)) } } catch {}
    }
    return try working(for: call)
  }

  private func isSlow(for call: Condition.Call) -> Bool { state.withLock { $0.condition.slowCalls.contains(call) } }

  private func working(for call: Condition.Call) throws -> any PreferencesStore {
    if let error = state.withLock({ $0.condition.error(of: call) }) { throw error }
    return base
  }
}

extension FailingPreferences: CustomStringConvertible, CustomReflectable {}
