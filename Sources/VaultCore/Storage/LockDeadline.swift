internal import DurableFiles

/// The end of a wait for the lock of a storage.
public struct LockDeadline: Sendable {
  let deadline: Deadline

  /// How long the wait was to last when it began: for errors.
  public var timeout: Duration { deadline.timeout }
  /// The time that is left; zero if the wait is over.
  public var remaining: Duration { deadline.remaining }

  init(_ deadline: Deadline) { self.deadline = deadline }

  /// A wait that begins now. If `timeout` is zero, there is one try.
  public init(after timeout: Duration) { deadline = Deadline(after: timeout) }
}
