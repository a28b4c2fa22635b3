import Synchronization

/// Keeps a callback subscribed while this object is held, or while the owner that it is tied to is alive.
public final class PreferenceObservation: Sendable {
  private struct State {
    var cancel: (@Sendable () -> Void)?
    /// Retains this object while it is tied to an owner.
    var own: PreferenceObservation?
    weak var owner: AnyObject?
    var isTied = false
  }

  // The owner is only compared with nil, never used.
  private struct Guarded: @unchecked Sendable { var state = State() }
  private let guarded = Mutex(Guarded())

  /// - Parameter cancel: ends the subscription; called once.
  public init(_ cancel: @escaping @Sendable () -> Void) { guarded.withLock { $0.state.cancel = cancel } }

  /// Returns an observation that can be tied to an owner. It wraps an observation that calls `isWanted` before each
  /// notification.
  static func wrapping(
    _ subscribe: (_ isWanted: @escaping @Sendable () -> Bool) -> PreferenceObservation
  ) -> PreferenceObservation {
    let outer = PreferenceObservation {}
    let inner = subscribe { [weak outer] in outer?.isWanted ?? false }
    outer.guarded.withLock { $0.state.cancel = { inner.invalidate() } }
    return outer
  }

  /// An observation of something that never changes.
  static var none: PreferenceObservation { PreferenceObservation {} }

  deinit { guarded.withLock { $0.state.cancel }?() }

  /// Ends the subscription. After this returns, no callback begins on the calling thread; a callback that another
  /// thread has begun may still be running.
  public func invalidate() {
    let (cancel, own) = guarded.withLock { guarded in
      defer { guarded.state = State() }
      return (guarded.state.cancel, guarded.state.own)
    }
    cancel?()
    withExtendedLifetime(own) {}
  }

  /// Keeps the subscription while `owner` is alive, whether or not this object is held. The owner is not retained. Its
  /// release is detected at the next change; until then the handler and the objects that it captures are retained.
  public func tie(to owner: AnyObject) {
    guarded.withLock { guarded in
      guard guarded.state.cancel != nil else { return }
      guarded.state.own = self
      guarded.state.owner = owner
      guarded.state.isTied = true
    }
  }

  /// Undoes ``tie(to:)``: the subscription lasts while this object is held.
  public func untie() {
    let own = guarded.withLock { guarded in
      defer {
        guarded.state.own = nil
        guarded.state.owner = nil
        guarded.state.isTied = false
      }
      return guarded.state.own
    }
    withExtendedLifetime(own) {}
  }

  /// Whether callbacks are still wanted; a source of changes checks it before each call. Ends the subscription if the
  /// owner has been released.
  public var isWanted: Bool {
    let (isWanted, tied) = guarded.withLock { guarded in
      (guarded.state.cancel != nil, guarded.state.isTied ? guarded.state : nil)
    }
    guard let tied else { return isWanted }
    // Outside the lock: the look at the owner may be its last reference, and its end may invalidate this object.
    if tied.owner == nil { invalidate() }
    return guarded.withLock { $0.state.cancel != nil }
  }
}
