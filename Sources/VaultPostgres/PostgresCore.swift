#if PostgreSQL
  internal import DurableFiles
  internal import Synchronization
  internal import VaultCore

  /// What the storage, its writers and its follower share.
  ///
  /// The lock of `known` is held for looking at bytes in memory, never while the server is asked. So what the server
  /// says may be late: it is taken over only if nothing was taken over since the question (``KnownBytes/serial``).
  ///
  ///     follower                        writer
  ///     asks (serial 4)
  ///                                     appends, takes over its own entry: serial 5
  ///     the answer is from before:
  ///     not taken over, asks again
  final class PostgresCore: Sendable {
    let place: PostgresLocation
    let options: PostgresStorage.Options
    let pool: ConnectionPool
    let known = Mutex(KnownBytes())
    private let observers = Mutex<[ObjectIdentifier: StorageObserver]>([:])
    /// The error of the last question, until one is answered.
    let failure = Mutex<VaultError?>(nil)
    /// The server's time of the announcement that was noted last, in milliseconds since 1970. A notification that
    /// comes late is as old as it is, so that no change is left unannounced because of it.
    private let announced = Atomic(0)
    /// For how long after an announcement there is no further one. All programs ask again after twice this time: a
    /// change that was not announced was committed in half of it, or is announced after all.
    ///
    ///     0 ms             50 ms                     100 ms
    ///     announcement     last change without one   all ask again
    ///                      … committed by now: otherwise it is announced after the commit
    static let quiet = Duration.milliseconds(50)
    /// The writers of this storage that wait for the lock, and will bring what others have written.
    private let waitingWriters = Atomic(0)
    let isEnded = Atomic(false)
    /// The changes that were stored.
    let writes = Atomic<UInt64>(0)

    init(_ place: PostgresLocation, _ options: PostgresStorage.Options) {
      self.place = place
      self.options = options
      pool = ConnectionPool(place, silence: options.answerTimeout)
    }

    // MARK: Asking

    /// Asks on a connection what is new, and takes it over.
    ///
    /// - Parameter first: the answer to the first question, if it was asked together with other statements.
    /// - Returns: whether there was something.
    /// - Throws: ``VaultError/Code/unreachable`` after a replica has answered although a primary has before: what is
    ///   newer is taken over, and the primary may have more.
    @discardableResult
    func update(
      _ connection: Connection, _ purpose: QueryPurpose = .reading, first: (Question, Rows)? = nil
    ) throws(VaultError) -> Bool {
      var first = first
      // While a writer has the lock, or without writers, the second answer is taken over.
      for _ in 0..<20 {
        let question = first?.0 ?? self.question
        let rows = if let first { first.1 } else { try run([question.statement], connection, purpose)[0] }
        first = nil
        var server = try connection.server(of: rows)
        var found = try FoundBytes(rows, since: question.row, limit: question.limit)
        // All of it, before a read is answered with another version.
        if case .other(let row, nil) = found, row.length <= question.limit, known.withLock({ $0.isStale(row.version) })
        {
          let rows = try run([.load(place.vault, limit: question.limit)], connection, purpose)[0]
          server = try connection.server(of: rows)
          found = try FoundBytes(loaded: rows, limit: question.limit)
        }
        guard try take(found, question, from: server) else { continue }
        guard isConfirming(server) else { throw unconfirmed }
        if case .unchanged = found { return false }
        return true
      }
      throw place.error(.io, "the vault changes faster than it can be read")
    }

    /// What is asked, and from when.
    struct Question {
      let statement: Statement
      let row: VaultRow?
      let limit: Int
      let serial: Int
      let asked = ContinuousClock.now
    }

    var question: Question { known.withLock { question($0) } }

    func question(_ known: KnownBytes) -> Question {
      Question(
        statement: .changes(place.vault, since: known.row, limit: known.limit), row: known.row, limit: known.limit,
        serial: known.serial)
    }

    /// Takes over the answer to a question, unless it is late.
    ///
    /// - Throws: ``VaultError/Code/unreachable`` if a replica has answered that is behind what a primary has said.
    func take(_ found: FoundBytes, _ question: Question, from server: AnsweringServer) throws(VaultError) -> Bool {
      let (isBehind, isChanged) = known.withLock { known -> (Bool, Bool?) in
        if server.isReplica, known.isBehind(found) { return (true, nil) }
        guard known.serial == question.serial else { return (false, nil) }
        known.compare(found, on: server.history)
        return (false, known.take(found, onReplica: server.isReplica, asked: question.asked))
      }
      if isBehind { throw unconfirmed }
      guard let isChanged else { return false }
      if isConfirming(server) { failure.withLock { $0 = nil } }
      if isChanged { notifyObservers() }
      return true
    }

    /// Whether the answer of a server shows what others have written before. For a program that has only met replicas,
    /// one is the database.
    func isConfirming(_ server: AnsweringServer) -> Bool {
      !server.isReplica || !known.withLock { $0.hasPrimary }
    }

    private var unconfirmed: VaultError {
      place.error(
        .unreachable,
        "only a replica has answered, which may be behind what this program has read from the primary: name the "
          + "primary, or all servers with target_session_attrs=read-write")
    }

    func run(
      _ statements: [Statement], _ connection: Connection, _ purpose: QueryPurpose
    ) throws(VaultError) -> [Rows] {
      do throws(QueryFailure) { return try connection.run(statements) } catch { throw place.error(error, purpose) }
    }

    /// Asks now.
    func refresh() throws(VaultError) {
      let question = question
      let (connection, rows) = try pool.run([question.statement], .reading)
      // Given back only if it confirms: otherwise the next call may find the primary.
      try update(connection, first: (question, rows[0]))
      pool.release(connection)
    }

    // MARK: Locking

    /// Waits for the vault's lock, and takes over what others have written.
    ///
    /// - Returns: a connection with a transaction that has the lock, and the row.
    func lock(waiting time: Duration) throws(VaultError) -> (connection: Connection, row: VaultRow) {
      waitingWriters.add(1, ordering: .relaxed)
      defer { waitingWriters.subtract(1, ordering: .relaxed) }
      let question = question
      let (connection, rows) = try pool.run(
        [.begin, .settings(lock: time, hold: options.holdLimit), .lock(place.vault), question.statement], .writing,
        allowing: time)
      try update(connection, .writing, first: (question, rows[3]))
      guard rows[2].count == 1, let row = known.withLock({ $0.row }) else {
        end(connection)
        throw missing
      }
      return (connection, row)
    }

    /// Ends a transaction without a change.
    func end(_ connection: Connection) {
      // The server ends the transaction of a connection that is lost.
      do throws(QueryFailure) { _ = try connection.run([.rollback]) } catch { return }
      pool.release(connection)
    }

    var missing: VaultError { place.error(.notFound, "there is no vault of this name in the database") }

    // MARK: Committing

    /// Commits a change, and announces it to other programs unless another announcement in the time of ``quiet`` before
    /// makes them ask soon enough. A notification holds up the commits of all others in the database, and wakes every
    /// program, so many writers must not send many.
    func commit(
      _ statements: [Statement], _ connection: Connection, allowing wait: Duration = .zero
    ) throws(QueryFailure) -> [Rows] {
      let begun = ContinuousClock.now
      var rows = try connection.run(
        statements + [announcement(connection, after: latestAnnouncement), .commit], allowing: wait)
      rows.removeLast()
      var announced = rows.removeLast()
      // The commit may have come after the question that the earlier announcement has led to.
      if announced.count == 0, begun.duration(to: .now) >= Self.quiet {
        do throws(QueryFailure) {
          announced = try connection.run([announcement(connection, after: 0)])[0]
        } catch { return rows }  // others see the change when they ask next; the next use notices the connection
      }
      do throws(VaultError) {
        if announced.count == 1 { note(announcement: try announced.number(0, 0)) }
      } catch {}  // then the next change is announced
      return rows
    }

    private func announcement(_ connection: Connection, after latest: Int) -> Statement {
      .announce(connection.facts.channel, after: latest, quiet: Self.quiet.millisecondsRoundedUp)
    }

    private var latestAnnouncement: Int { announced.load(ordering: .relaxed) }

    /// - Parameter time: the server's time of an announcement of this or another program, in milliseconds since 1970.
    func note(announcement time: Int) { announced.store(time, ordering: .relaxed) }

    var isWriterWaiting: Bool { waitingWriters.load(ordering: .relaxed) > 0 }

    // MARK: Observing

    func add(_ observer: StorageObserver) { observers.withLock { $0[ObjectIdentifier(observer)] = observer } }

    func remove(_ observer: StorageObserver) { observers.withLock { $0[ObjectIdentifier(observer)] = nil } }

    func notifyObservers() {
      for observer in observers.withLock({ Array($0.values) }) { observer.notify() }
    }
  }
#endif
