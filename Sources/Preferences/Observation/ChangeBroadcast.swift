internal import DurableFiles
internal import Synchronization

/// Notifies the observers of a store of its changes. A store that can be observed has one broadcast.
///
/// No lock is held while an observer runs, so an observer may read, write, and end its observation. Its own writes are
/// delivered after it returns. Changes are delivered one after another, in the order in which they were sent. Changes
/// that arrive while observers run are merged into one, so a slow observer never has more pending keys than the store
/// has. A write that arrives while observers run returns before its own observers have run; a helper thread then
/// notifies them. So a write never notifies for others without end.
///
/// Observers run on the thread that calls ``send(_:)``, or, in `PreferencesStore.edit(_:)` of `async` code, on a helper
/// thread, for which the write waits: so they block no cooperative thread.
public final class ChangeBroadcast: Sendable {
  private final class Observer: Sendable {
    let notify: @Sendable (PreferenceChange) -> Void
    let hasEnded = Atomic(false)

    init(_ notify: @escaping @Sendable (PreferenceChange) -> Void) { self.notify = notify }
  }

  private struct State {
    /// In the order in which they began.
    var observers: [Observer] = []
    var waiting: PreferenceChange?
  }

  private let state = Mutex(State())
  private let rounds = Rounds<ChangeBroadcast> { $0.deliver() }

  @TaskLocal fileprivate static var suppression = false

  @TaskLocal private static var postponed: Postponed?

  /// Whether the calling task is inside `withoutObservation`, for a store that notifies observers from a different
  /// task.
  public static var isSuppressed: Bool { suppression }

  /// Creates a broadcast without observers.
  public init() {}

  /// Calls `notify` with each change from now on, until the observation ends.
  public func observe(_ notify: @escaping @Sendable (PreferenceChange) -> Void) -> PreferenceObservation {
    let observer = Observer(notify)
    state.withLock { $0.observers.append(observer) }
    return PreferenceObservation { [weak self] in
      observer.hasEnded.store(true, ordering: .releasing)
      // The closure is released with no lock held: releasing a last reference may end other observations.
      withExtendedLifetime(observer) { self?.state.withLock { $0.observers.removeAll { $0 === observer } } }
    }
  }

  /// Notifies the observers, unless the calling task is inside `withoutObservation`. Call this method with no lock
  /// held, after the change is visible to readers.
  ///
  /// - Parameter change: the change; evaluated only if there are observers.
  public func send(_ change: @autoclosure () -> PreferenceChange) {
    // First, because most stores have no observers, and a write should not pay for them.
    guard state.withLock({ !$0.observers.isEmpty }), !Self.isSuppressed else { return }
    let change = change()
    state.withLock { state in
      guard !state.observers.isEmpty else { return }
      state.waiting = state.waiting?.merged(with: change) ?? change
    }
    if let postponed = Self.postponed, postponed.add({ [self] in rounds.request(self) }) { return }
    rounds.request(self)
  }

  /// Sends changes of a file. Those that others have made there are no writes of the caller, so that
  /// `withoutObservation` does not hide them.
  package func send(_ keys: Set<String>, ofOthers: Set<String>) {
    let sent = Self.isSuppressed ? keys.intersection(ofOthers) : keys
    if !sent.isEmpty { Self.unsuppressed { send(PreferenceChange(keys: sent)) } }
  }

  /// Runs `write`, which may send changes, and then notifies their observers on a helper thread: they may block.
  package static func notifyingOnHelper<R>(_ write: () async throws -> R) async rethrows -> R {
    let postponed = Postponed()
    do {
      let result = try await $postponed.withValue(postponed, operation: write)
      await postponed.notify()
      return result
    } catch {
      // A change may be visible although the write has thrown.
      await postponed.notify()
      throw error
    }
  }

  /// The notifications of one asynchronous write.
  private final class Postponed: Sendable {
    /// `nil` when the write has ended: a task that it has started notifies for itself.
    private let notifications = Mutex<[@Sendable () -> Void]?>([])

    func add(_ notify: @escaping @Sendable () -> Void) -> Bool {
      notifications.withLock { notifications in
        notifications?.append(notify)
        return notifications != nil
      }
    }

    func notify() async {
      let all = notifications.withLock { $0.take() } ?? []
      guard !all.isEmpty else { return }
      await HelperPool.notifying.run { $postponed.withValue(nil) { for notify in all { notify() } } }
    }
  }

  private func deliver() {
    let (change, observers) = state.withLock { state in
      defer { state.waiting = nil }
      return (state.waiting, state.observers)
    }
    guard let change else { return }
    // An observation that has ended is not notified, even if it ends during this loop.
    for observer in observers where !observer.hasEnded.load(ordering: .acquiring) { observer.notify(change) }
  }

  /// Calls `write`, and then notifies the observers of the names in `edits`, unless there was a conflict. A store calls
  /// it in `PreferencesStore.apply(_:)`, with no lock held.
  ///
  /// - Returns: The outcome of `write`.
  /// - Throws: The error of `write`. Then no observer is notified.
  public func send(_ edits: PreferenceEdits, after write: () throws -> WriteOutcome) rethrows -> WriteOutcome {
    let outcome = try write()
    if outcome != .conflict { send(edits.change) }
    return outcome
  }

  /// Runs `body` as if it were outside `withoutObservation`, for changes that are not writes of the caller.
  public static func unsuppressed<R>(_ body: () throws -> R) rethrows -> R {
    try $suppression.withValue(false, operation: body)
  }
}

/// Runs `body` without notifying any observer of its writes; the writes are stored. Calls nest. Child tasks are
/// affected, and so are tasks that `body` starts with `Task { }`, also after it has returned; detached tasks are not.
/// Changes that others have made in a file are notified all the same. An observer of a key that `body` writes is
/// notified at the next change of the key. A vault remembers this for the 4,096 keys of a service that were written
/// last.
@discardableResult
public func withoutObservation<R>(_ body: () throws -> R) rethrows -> R {
  try ChangeBroadcast.$suppression.withValue(true, operation: body)
}

/// The asynchronous form of `withoutObservation(_:)`.
@discardableResult
public func withoutObservation<R>(_ body: () async throws -> R) async rethrows -> R {
  try await ChangeBroadcast.$suppression.withValue(true, operation: body)
}
