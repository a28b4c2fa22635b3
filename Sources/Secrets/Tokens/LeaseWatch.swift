internal import Synchronization

/// Says when a lease is over, in the process that has it and in those that wait for it.
///
/// A process counts a lease from the moment when it first has it in its hands, on a clock that cannot be set. For the
/// process that takes the lease, this moment is before it writes the lease; for all others, it is after they read it.
/// So the lease ends for its holder first, however long the write waits for the vault's lock, and whatever the wall
/// clocks of the processes say. The order is modelled in `Tests/Models/lease.pml`.
final class LeaseWatch: Sendable {
  /// The time since this object was created.
  let elapsed: @Sendable () -> Duration
  /// The lease that was seen last, and when it is over.
  private let seen = Mutex<(id: UInt64, end: Duration)?>(nil)

  init(_ clock: some Clock<Duration>) {
    let start = clock.now
    elapsed = { start.duration(to: clock.now) }
  }

  /// When `lease` is over, on the clock of ``elapsed``. The first call for a lease starts its time.
  func end(of lease: RefreshMark) -> Duration {
    let now = elapsed()
    return seen.withLock { seen in
      if let seen, seen.id == lease.id { return seen.end }
      // model: first-sight
      let end = now + max(.zero, lease.length)
      seen = (lease.id, end)
      return end
    }
  }

  /// Whether `lease` may still be held.
  func isRunning(_ lease: RefreshMark) -> Bool {
    let end = end(of: lease)
    return elapsed() < end
  }
}
