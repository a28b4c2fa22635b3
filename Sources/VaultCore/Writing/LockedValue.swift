internal import Synchronization

/// Carries a value out of a closure that another thread may run.
final class LockedValue<Value: Sendable>: Sendable {
  private let content = Mutex<Value?>(nil)

  /// The value that was set last; nil before.
  var value: Value? {
    get { content.withLock(\.self) }
    set { content.withLock { $0 = newValue } }
  }
}
