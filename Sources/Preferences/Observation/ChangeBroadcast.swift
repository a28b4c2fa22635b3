import Synchronization

/// Tells the observers of a store about its changes. A store that can be observed has one.
///
/// No lock is held while an observer runs, so it may read, write, and end its observation. What it writes is told after
/// it returns. Changes are told one after another, in the order they were sent; those that come while observers run are
/// told as one, so that a slow observer never has more to hear than there are keys. Where several threads write, one of
/// them tells for all, and a write may return before its observers have run.
public final class ChangeBroadcast: Sendable {
  private struct State {
    var observers: [UInt64: @Sendable (PreferenceChange) -> Void] = [:]
    var lastID: UInt64 = 0
    var waiting: PreferenceChange?
    var isNotifying = false
  }

  private let state = Mutex(State())

  /// Creates a broadcast without observers.
  public init() {}

  /// Calls `notify` with each change from now on, until the observation ends.
  public func observe(_ notify: @escaping @Sendable (PreferenceChange) -> Void) -> PreferenceObservation {
    let id = state.withLock { state in
      state.lastID += 1
      state.observers[state.lastID] = notify
      return state.lastID
    }
    return PreferenceObservation { [weak self] in
      // What it holds is let go with no lock held: a last reference may end other observations.
      withExtendedLifetime(self?.state.withLock { $0.observers.removeValue(forKey: id) }) {}
    }
  }

  /// Notifies the observers, unless `withoutObservation` is in force in the calling task. Call it with no lock held, after the
  /// change can be read.
  ///
  /// - Parameter change: what has changed; evaluated only if there are observers.
  public func send(_ change: @autoclosure () -> PreferenceChange) {
    // First, because most stores have no observers, and a write should not pay for them.
    guard state.withLock({ !$0.observers.isEmpty }), !ObservationSuppression.isInForce else { return }
    let change = change()
    let begins = state.withLock { state in
      guard !state.observers.isEmpty else { return false }
      state.waiting = state.waiting?.merged(with: change) ?? change
      defer { state.isNotifying = true }
      return !state.isNotifying
    }
    guard begins else { return }
    while let (change, ids) = next() {
      // Ended observations are not told, even when they end meanwhile.
      for id in ids { state.withLock { $0.observers[id] }?(change) }
    }
  }

  private func next() -> (PreferenceChange, [UInt64])? {
    state.withLock { state in
      guard let change = state.waiting else {
        state.isNotifying = false
        return nil
      }
      state.waiting = nil
      return (change, state.observers.keys.sorted())
    }
  }
}

/// Whether changes are kept from observers, for a store that notifies them from a different task.
public enum ObservationSuppression {
  @TaskLocal fileprivate static var current = false

  /// Whether the calling task is inside `withoutObservation`.
  public static var isInForce: Bool { current }

  /// Runs `body` as if it were outside `withoutObservation`, for changes that are not writes of the caller.
  public static func lifted<R>(_ body: () throws -> R) rethrows -> R {
    try $current.withValue(false, operation: body)
  }
}

/// Runs `body` without telling any observer of what it writes; what it writes is stored. Nests; other tasks are not
/// affected, child tasks are. Who watches such a value learns of it with its next change.
@discardableResult
public func withoutObservation<R>(_ body: () throws -> R) rethrows -> R {
  try ObservationSuppression.$current.withValue(true, operation: body)
}

/// As the synchronous form.
@discardableResult
public func withoutObservation<R>(_ body: () async throws -> R) async rethrows -> R {
  try await ObservationSuppression.$current.withValue(true, operation: body)
}
