import Synchronization

/// Keeps a callback subscribed while this object is held, or while the owner that it is tied to is alive.
public final class PreferenceObservation: Sendable {
  private let subscription: Subscription

  /// - Parameter cancel: ends the subscription; called once.
  public init(_ cancel: @escaping @Sendable () -> Void) { subscription = Subscription(cancel) }

  /// Returns an observation that can be tied to an owner. It wraps an observation that calls `isWanted` before each
  /// notification.
  static func wrapping(
    _ subscribe: (_ isWanted: @escaping @Sendable () -> Bool) -> PreferenceObservation
  ) -> PreferenceObservation {
    let outer = PreferenceObservation {}
    let inner = subscribe { [subscription = outer.subscription] in subscription.isWanted }
    outer.subscription.cancelling { inner.invalidate() }
    return outer
  }

  /// An observation of something that never changes.
  static var none: PreferenceObservation { PreferenceObservation {} }

  deinit { subscription.end() }

  /// Ends the subscription. After this returns, no callback begins on the calling thread; a callback that another
  /// thread has begun may still be running.
  public func invalidate() { subscription.end() }

  /// Keeps the subscription while `owner` is alive, whether or not this object is held. The owner is not retained. Its
  /// release is detected at the next change; until then the handler and the objects that it captures are retained.
  public func tie(to owner: AnyObject) { subscription.tie(self, to: owner) }

  /// Undoes ``tie(to:)``: the subscription lasts while this object is held.
  public func untie() { subscription.untie() }

  /// Whether callbacks are still wanted; a source of changes checks it before each call. Ends the subscription if the
  /// owner has been released.
  public var isWanted: Bool { subscription.isWanted }
}

/// The part of an observation that its source of changes holds, too: it asks before each call, and takes no lock for
/// that unless the observation is tied to an owner.
private final class Subscription: Sendable {
  private struct State {
    /// `nil` when the subscription has ended.
    var cancel: (@Sendable () -> Void)?
    /// Retains the observation while it is tied to an owner.
    var observation: PreferenceObservation?
    weak var owner: AnyObject?
  }

  // The owner is only compared with nil, never used.
  private struct Guarded: @unchecked Sendable { var state = State() }
  private let guarded = Mutex(Guarded())
  private let hasEnded = Atomic(false)
  private let isTied = Atomic(false)

  init(_ cancel: @escaping @Sendable () -> Void) { cancelling(cancel) }

  func cancelling(_ cancel: @escaping @Sendable () -> Void) { guarded.withLock { $0.state.cancel = cancel } }

  var isWanted: Bool {
    guard !hasEnded.load(ordering: .acquiring) else { return false }
    guard isTied.load(ordering: .acquiring) else { return true }
    let tied = guarded.withLock { isTied.load(ordering: .relaxed) ? $0.state : nil }
    // Outside the lock: the look at the owner may be its last reference, and its end may end this subscription.
    if let tied, tied.owner == nil { end() }
    return !hasEnded.load(ordering: .acquiring)
  }

  func end() {
    hasEnded.store(true, ordering: .releasing)
    let ended = guarded.withLock { guarded in
      defer { guarded.state = State() }
      return guarded.state
    }
    ended.cancel?()
    withExtendedLifetime(ended) {}
  }

  func tie(_ observation: PreferenceObservation, to owner: AnyObject) {
    guarded.withLock { guarded in
      guard guarded.state.cancel != nil else { return }
      guarded.state.observation = observation
      guarded.state.owner = owner
      isTied.store(true, ordering: .releasing)
    }
  }

  func untie() {
    let observation = guarded.withLock { guarded in
      defer {
        guarded.state.observation = nil
        guarded.state.owner = nil
        isTied.store(false, ordering: .releasing)
      }
      return guarded.state.observation
    }
    withExtendedLifetime(observation) {}
  }
}
