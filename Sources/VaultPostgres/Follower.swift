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

    private let core: PostgresCore
    private let freshness: Duration
    private var connection: Connection?
    private var pause = Pause()

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
          let isChanged = try core.update(try connect())
          pause = Pause()
          core.pool.endIdle()
          try wait(afterChange: isChanged)
        } catch {
          core.failure.withLock { $0 = error }
          connection = nil
          var left = pause.take()
          while left > .zero, !isEnded {
            usleep(UInt32(min(left, Self.slice).milliseconds) * 1000)
            left -= Self.slice
          }
        }
      }
    }

    private var isEnded: Bool { core.isEnded.load(ordering: .relaxed) }

    private func connect() throws(VaultError) -> Connection {
      if let connection { return connection }
      let fresh = try core.pool.take()
      connection = fresh
      guard !fresh.facts.isPooled else { return fresh }
      // Asked after this, so that no change is missed. The name is hexadecimal.
      _ = try core.run([Statement("listen \"\(fresh.facts.channel)\"")], fresh, .reading)
      return fresh
    }

    /// Waits until it is time to ask: soon after a change or an own announcement, because others do not announce what
    /// they write then; otherwise for a notification, unless a writer of this storage asks anyway. Not all programs ask
    /// at the same time.
    private func wait(afterChange isChanged: Bool) throws(VaultError) {
      guard let connection else { return }
      let deadline = Deadline(after: freshness * Double.random(in: 0.9...1.1))
      var soon = isChanged ? Deadline(after: PostgresCore.quiet * 2) : nil
      var isNotified = false
      while !isEnded, deadline.remaining > .zero {
        // Before the wait: libpq may have read a notification together with an answer.
        let taken: (own: Bool, others: Bool)
        do throws(QueryFailure) { taken = try connection.takeNotifications(own: core.pool.ownProcesses) } catch {
          throw core.place.error(error, .reading)
        }
        if taken.others {
          isNotified = true
          core.noteAnnouncement()
        }
        if taken.own, soon == nil { soon = Deadline(after: PostgresCore.quiet * 2) }
        let isSoon = soon.map { $0.remaining <= .zero } ?? false
        if isSoon || isNotified && !isChanged, !core.isWriterWaiting { return }
        let left = isSoon ? Self.slice : soon?.remaining ?? Self.slice
        _ = connection.isReadable(for: min(deadline.remaining, left, Self.slice))
      }
    }
  }
#endif
