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

    /// Waits until it is time to ask: soon after a change, because only the first of several is announced; otherwise for
    /// a notification, unless a writer of this storage asks anyway. Not all programs ask at the same time.
    private func wait(afterChange isChanged: Bool) throws(VaultError) {
      guard let connection else { return }
      let deadline = Deadline(after: freshness * Double.random(in: 0.9...1.1))
      let soon = Deadline(after: PostgresCore.quiet * 2)
      var isNotified = false
      while !isEnded, deadline.remaining > .zero {
        if isChanged ? soon.remaining <= .zero : isNotified, !core.isWriterWaiting { return }
        let left = isChanged && soon.remaining > .zero ? soon.remaining : Self.slice
        guard connection.isReadable(for: min(deadline.remaining, left, Self.slice)) else { continue }
        do throws(QueryFailure) {
          guard try connection.takeNotifications(except: core.pool.ownProcesses) else { continue }
        } catch { throw core.place.error(error, .reading) }
        isNotified = true
        core.noteAnnouncement()
      }
    }
  }
#endif
