#if PostgreSQL
  internal import DurableFiles
  internal import Synchronization
  internal import VaultCore

  /// The thread that keeps a storage current: it waits for notifications, asks at least once in each
  /// ``PostgresStorage/Options/freshness``, and connects again when the connection is lost.
  ///
  /// It holds the core and not the storage, and ends after the storage was released.
  final class Follower {
    private static let slice = Duration.milliseconds(200)
    private static let again = PostgresCore.quiet * 2

    private let core: PostgresCore
    private let freshness: Duration
    private var connection: Connection?
    private var pause = Pause()
    /// When the newest announcement came.
    private var announced = ContinuousClock.Instant.now

    private init(_ core: PostgresCore, freshness: Duration) {
      self.core = core
      self.freshness = freshness
    }

    /// Returns whether the system provided a thread.
    static func start(_ core: PostgresCore, freshness: Duration) -> Bool {
      HelperThread.start { Follower(core, freshness: freshness).run() }
    }

    private func run() {
      while !isEnded {
        do throws(VaultError) {
          let connection = try connect()
          let asked = ContinuousClock.now
          let isChanged = try core.update(connection)
          pause = Pause()
          core.pool.endIdle()
          try wait(connection, after: asked, again: isChanged || announced.duration(to: asked) < Self.again)
        } catch {
          core.failure.withLock { $0 = error }
          if connection != nil { core.pool.noteLoss() }
          connection = nil
          var left = pause.take()
          while left > .zero, !isEnded {
            usleep(UInt32(min(left, Self.slice).millisecondsRoundedUp) * 1000)
            left -= Self.slice
          }
        }
      }
    }

    private var isEnded: Bool { core.isEnded.load(ordering: .relaxed) }

    private func connect() throws(VaultError) -> Connection {
      if let connection { return connection }
      let fresh = try core.pool.acquire()
      connection = fresh
      // A replica refuses to listen, and is asked only, also after it was promoted.
      guard !fresh.facts.isPooled, !fresh.facts.isReplica else { return fresh }
      // Asked after this, so that no change is missed. The name is hexadecimal.
      _ = try core.run([Statement("listen \"\(fresh.facts.channel)\"")], fresh, .reading)
      // There may have been one just before.
      announced = .now
      return fresh
    }

    /// Waits until it is time to ask: at an announcement of others; again after an announcement or a change, because
    /// what follows soon is not announced; and at the latest after ``freshness``, not all programs at the same time. A
    /// writer of this storage asks anyway, if it has not waited for its lock that long.
    private func wait(
      _ connection: Connection, after asked: ContinuousClock.Instant, again: Bool
    ) throws(VaultError) {
      var next = asked + (again ? Self.again : freshness * Double.random(in: 0.9...1.1))
      while !isEnded {
        // Before the wait: libpq may have read a notification together with an answer.
        let taken: Connection.Announcements
        do throws(QueryFailure) { taken = try connection.takeAnnouncements(own: core.pool.ownProcesses) } catch {
          throw core.place.error(error, .reading)
        }
        let now = ContinuousClock.now
        if taken.areOwn || taken.areOthers { announced = now }
        if let latest = taken.latest { core.note(announcement: latest) }
        // With many changes, one question in the time of `again`.
        if taken.areOthers, !again { next = now }
        if taken.areOwn { next = min(next, now + Self.again) }
        if next <= now, !core.isWriterWaiting || asked.duration(to: now) >= freshness { return }
        _ = connection.isReadable(for: next > now ? min(now.duration(to: next), Self.slice) : Self.slice)
      }
    }
  }
#endif
