/// A deadline for a lock. It covers all attempts, also if the file is replaced between them.
package struct Deadline: Sendable {
  /// How long the wait was to last when it began.
  package let timeout: Duration
  private let start = ContinuousClock.now

  /// - Parameter timeout: may be zero: then there is one try, without a wait.
  package init(after timeout: Duration) { self.timeout = timeout }

  /// The time that is left; zero if the wait is over.
  package var remaining: Duration { max(.zero, timeout - start.duration(to: .now)) }
}
