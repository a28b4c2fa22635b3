internal import Synchronization

/// Carries a value out of work that another thread may do.
final class Noted<Value: Sendable>: Sendable {
  private let content = Mutex<Value?>(nil)

  func note(_ value: Value) { content.withLock { $0 = value } }

  /// What was noted last; nil when nothing was.
  var value: Value? { content.withLock { $0 } }
}
