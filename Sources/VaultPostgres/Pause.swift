#if PostgreSQL
  internal import DurableFiles

  /// The pauses between attempts to reach a server: each twice as long as the last one, up to half a minute, and of
  /// random length, so that many programs do not come back at the same moment.
  struct Pause {
    private static let longest = Duration.seconds(30)
    private var next = Duration.milliseconds(50)

    /// The length of the next pause.
    mutating func take() -> Duration {
      let length = next * Double.random(in: 0.5...1)
      next = min(next * 2, Self.longest)
      return length
    }

    /// Blocks the thread.
    mutating func wait(atMost limit: Duration) {
      usleep(UInt32(clamping: min(take(), limit).millisecondsRoundedUp) * 1000)
    }
  }
#endif
