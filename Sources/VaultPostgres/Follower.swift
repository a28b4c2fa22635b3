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
    private var connection: Connection?
    private var pause = Pause()

    private init(_ core: PostgresCore) { self.core = core }

    /// Returns whether the system provided a thread.
    static func start(_ core: PostgresCore) -> Bool { HelperThread.start { Follower(core).run() } }

    private func run() {
      while !isEnded {
        do throws(VaultError) {
          try core.update(try connect())
          pause = Pause()
          core.pool.endIdle()
          try wait()
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

    /// Waits until it is time to ask. Not all programs ask at the same time.
    private func wait() throws(VaultError) {
      guard let connection else { return }
      let deadline = Deadline(after: core.options.freshness * Double.random(in: 0.9...1.1))
      while !isEnded, deadline.remaining > .zero {
        guard connection.isReadable(for: min(deadline.remaining, Self.slice)) else { continue }
        do throws(QueryFailure) {
          if try connection.takeNotifications(except: core.pool.ownProcesses) { return }
        } catch { throw core.place.error(error, .reading) }
      }
    }
  }
#endif
