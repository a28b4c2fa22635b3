internal import DurableFiles

/// The end of a wait for the lock of a storage.
struct LockDeadline: Sendable {
  let deadline: Deadline

  /// How long the wait was to last when it began: for errors.
  var timeout: Duration { deadline.timeout }
  /// The time that is left; zero if the wait is over.
  var remaining: Duration { deadline.remaining }

  init(_ deadline: Deadline) { self.deadline = deadline }
}
