#if PostgreSQL
  internal import DurableFiles
  internal import Synchronization
  internal import VaultCore

  /// Keeps one connection for the next call. More calls at a time make their own, which end with them.
  final class ConnectionPool: Sendable {
    /// How long a connection is kept that no call uses.
    private static let idleTime = Duration.seconds(60)

    private let place: PostgresLocation
    private let silence: Duration
    private let idle = Mutex<Connection?>(nil)
    /// The server processes of the storage's connections.
    private let processes = Mutex<Set<Int32>>([])
    private let forkGuard = ForkGuard()
    /// The connections that were lost and not replaced yet.
    private let lost = Atomic<UInt64>(0)
    /// Those that were made in place of a lost one.
    let reconnects = Atomic<UInt64>(0)
    /// Requests that were sent again because a connection was lost.
    let retries = Atomic<UInt64>(0)

    init(_ place: PostgresLocation, silence: Duration) {
      self.place = place
      self.silence = silence
    }

    var ownProcesses: Set<Int32> { processes.withLock(\.self) }

    /// An idle connection, if there is a usable one.
    func takeIdle() -> Connection? {
      guard let connection = idle.withLock({ $0.take() }) else { return nil }
      guard connection.isUsable else {
        noteLoss()
        return nil
      }
      return connection
    }

    /// Counts a connection that was lost.
    ///
    /// - Parameter isRetried: whether what was sent on it is sent again.
    func noteLoss(isRetried: Bool = false) {
      lost.add(1, ordering: .relaxed)
      if isRetried { retries.add(1, ordering: .relaxed) }
    }

    /// - Throws: ``VaultError/Code/unreachable``, and what ``Connection/open(_:silence:)`` throws.
    func open() throws(VaultError) -> Connection {
      guard forkGuard.isOwn else {
        throw place.error(.locked, "the storage was opened before this process was forked")
      }
      let connection = try Connection.open(place, silence: silence)
      let left = lost.load(ordering: .relaxed)
      if left > 0, lost.compareExchange(expected: left, desired: left - 1, ordering: .relaxed).exchanged {
        reconnects.add(1, ordering: .relaxed)
      }
      processes.withLock { processes in
        if processes.count > 100 { processes = [] }
        processes.insert(connection.facts.pid)
      }
      return connection
    }

    func acquire() throws(VaultError) -> Connection { if let idle = takeIdle() { idle } else { try open() } }

    /// Keeps a connection without a transaction.
    func release(_ connection: Connection) {
      connection.idleSince = .now
      guard connection.isUsable else { return }
      let surplus = idle.withLock { idle in
        defer { idle = connection }
        return idle
      }
      withExtendedLifetime(surplus) {}
    }

    /// Ends a connection that no call has used for a while.
    func endIdle() {
      let ended = idle.withLock { idle -> Connection? in
        guard let connection = idle, connection.idleSince.duration(to: .now) > Self.idleTime else { return nil }
        idle = nil
        return connection
      }
      withExtendedLifetime(ended) {}
    }

    /// Runs statements that change nothing, or begin a transaction, and once more on a new connection if an idle one
    /// was lost before the server may have been silent for too long, or is from before the server could be written to.
    ///
    /// - Returns: the connection, which the caller gives back.
    func run(
      _ statements: [Statement], _ purpose: QueryPurpose, allowing wait: Duration = .zero
    ) throws(VaultError) -> (connection: Connection, rows: [Rows]) {
      var connection = takeIdle()
      let isReused = connection != nil
      let deadline = Deadline(after: wait + silence)
      while true {
        let used = if let connection { connection } else { try open() }
        if purpose == .writing {
          do throws(VaultError) { try used.facts.checkWritable(place) } catch {
            guard isReused, connection != nil else { throw error }
            connection = nil
            continue
          }
        }
        do throws(QueryFailure) { return (used, try used.run(statements, allowing: wait)) } catch {
          guard error.isLost, isReused, connection != nil, deadline.remaining > .zero else {
            if error.isLost { noteLoss() }
            throw place.error(error, purpose)
          }
          noteLoss(isRetried: true)
          connection = nil
        }
      }
    }
  }
#endif
