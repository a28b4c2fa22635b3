internal import Synchronization

/// Receives a value from a closure that another thread may run.
final class LockedValue<Value: Sendable>: Sendable {
  private let content = Mutex<Value?>(nil)

  /// The value that was set last; `nil` if none was set.
  var value: Value? {
    get { content.withLock(\.self) }
    set { content.withLock { $0 = newValue } }
  }
}
