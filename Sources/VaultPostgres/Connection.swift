#if PostgreSQL
  internal import CPostgres
  internal import DurableFiles
  internal import VaultCore

  /// One connection to the server. Used by one thread at a time, which it blocks. The server may be silent for as long
  /// as the options say. Only connecting may take longer: `connect_timeout` for each address, after the system has
  /// found the addresses of the name.
  ///
  /// Statements are sent together and answered together (libpq's pipeline mode). They are prepared once, because
  /// planning takes longer than running them; without names if a pooler is between, which may give each transaction to
  /// another server process.
  @safe final class Connection: @unchecked Sendable {
    // Unchecked: used by the thread that has taken it from the pool.
    private let connection: OpaquePointer
    private let silence: Duration
    private let forkGuard = ForkGuard()
    private(set) var facts = ServerFacts()
    /// The names of the statements that the server has prepared, by their texts.
    private var prepared: [String: String] = [:]
    private var preparations = 0
    /// When it was last given back.
    var idleSince = ContinuousClock.now

    private init(_ connection: OpaquePointer, silence: Duration) {
      unsafe self.connection = unsafe connection
      self.silence = silence
    }

    /// In a forked child, the socket is the parent's.
    deinit { if forkGuard.isOwn { unsafe lazyPQfinish(connection) } }

    /// Connects, and checks that the server has a schema of this version.
    ///
    /// - Parameter silence: how long the server may take for an answer, besides a wait that it was asked for.
    static func open(_ place: PostgresLocation, silence: Duration) throws(VaultError) -> Connection {
      let pointer = try unsafe place.connected()
      let connection = unsafe Connection(pointer, silence: silence)
      guard unsafe lazyPQsetnonblocking(pointer, 1) == 0, unsafe lazyPQenterPipelineMode(pointer) == 1 else {
        throw place.error(.io, "the connection cannot be used")
      }
      let rows: [Rows]
      do throws(QueryFailure) { rows = try connection.askedFacts(place.vault) } catch {
        throw place.error(error, .reading)
      }
      connection.facts = try ServerFacts(rows, place, connectionPID: unsafe lazyPQbackendPID(pointer))
      return connection
    }

    /// A server may have its functions for the history taken away, or not know them: then it has none.
    private func askedFacts(_ vault: String) throws(QueryFailure) -> [Rows] {
      let statements = ServerFacts.statements(vault)
      do throws(QueryFailure) { return try run(statements + [ServerHistory.statement]) } catch {
        guard case .refused = error else { throw error }
        return try run(statements)
      }
    }

    /// The server that has returned rows of ``Statement/load(_:limit:)`` or ``Statement/changes(_:since:limit:)``.
    func server(of rows: Rows) throws(VaultError) -> AnsweringServer {
      AnsweringServer(isReplica: try rows.number(0, 6) != 0, history: try history(of: rows))
    }

    private func history(of rows: Rows) throws(VaultError) -> ServerHistory? {
      guard let system = facts.system, !rows.isNull(0, 5) else { return nil }
      return ServerHistory(system: system, timeline: try rows.text(0, 5))
    }

    var descriptor: Int32 { unsafe lazyPQsocket(connection) }

    /// Whether an idle connection seems to be usable. Does not wait.
    var isUsable: Bool {
      guard forkGuard.isOwn else { return false }
      if isReadable(for: .zero), unsafe lazyPQconsumeInput(connection) != 1 { return false }
      return unsafe lazyPQstatus(connection) == CONNECTION_OK && lazyPQtransactionStatus(connection) == PQTRANS_IDLE
    }

    /// Runs statements in one round trip, as one transaction unless they say otherwise.
    ///
    /// - Parameter wait: how long the server may wait for a lock.
    /// - Throws: ``QueryFailure``. After ``QueryFailure/lost`` the connection is of no use any more. After a refusal, a
    ///   transaction that was begun has to be rolled back.
    func run(_ statements: [Statement], allowing wait: Duration = .zero) throws(QueryFailure) -> [Rows] {
      // For each result that follows, whether it is that of a preparation.
      var expected: [Bool] = []
      for statement in statements {
        let text = facts.system == nil ? statement.textWithoutTimeline : statement.text
        var name = prepared[text]
        if name == nil, !facts.isPooled {
          name = try prepare(text, statement.values)
          expected.append(true)
        }
        try send(text, statement.values, name)
        expected.append(false)
      }
      guard unsafe lazyPQpipelineSync(connection) == 1 else { throw .lost }
      var results: [Rows] = []
      var refusal: String?
      var ends = 0
      while true {
        try waitForResult(silence + wait)
        guard let result = unsafe lazyPQgetResult(connection) else {
          ends += 1
          guard ends <= 2 * statements.count, unsafe lazyPQstatus(connection) == CONNECTION_OK else { throw .lost }
          continue
        }
        switch unsafe lazyPQresultStatus(result) {
        case PGRES_TUPLES_OK, PGRES_COMMAND_OK:
          let rows = unsafe Rows(result)
          guard !expected.isEmpty else { throw .lost }
          if !expected.removeFirst() { results.append(rows) }
        case PGRES_PIPELINE_SYNC:
          unsafe lazyPQclear(result)
          if let refusal { throw .refused(state: refusal) }
          guard results.count == statements.count else { throw .lost }
          return results
        default:
          let state = unsafe lazyPQresultErrorField(result, Int32(UInt8(ascii: "C")))
          if refusal == nil, let state = unsafe state { refusal = unsafe String(cString: state) }
          prepared = [:]  // what follows in this round trip was skipped
          unsafe lazyPQclear(result)
          guard unsafe lazyPQstatus(connection) == CONNECTION_OK else {
            // Ended before it read the statements.
            if refusal == "25P03" { throw .refused(state: "25P03") }
            throw .lost
          }
        }
      }
    }

    private func prepare(_ text: String, _ values: [Statement.Value]) throws(QueryFailure) -> String {
      preparations += 1
      let name = "s\(preparations)"
      let types = values.map(\.type)
      guard unsafe lazyPQsendPrepare(connection, name, text, Int32(types.count), types) == 1 else { throw .lost }
      prepared[text] = name
      return name
    }

    /// - Parameter name: what the statement was prepared as; `nil` if it was not.
    private func send(_ text: String, _ parameters: [Statement.Value], _ name: String?) throws(QueryFailure) {
      var bytes: [UInt8] = []
      var starts: [Int] = []
      var lengths: [Int32] = []
      for value in parameters {
        starts.append(bytes.count)
        value.append(to: &bytes)
        lengths.append(Int32(bytes.count - starts[starts.count - 1]))
      }
      bytes.append(0)  // so that there is an address, even of nothing
      let types = parameters.map(\.type)
      let formats = [Int32](repeating: 1, count: types.count)
      let isSent = unsafe bytes.withUnsafeBytes { buffer in
        let values = unsafe starts.map {
          unsafe buffer.baseAddress?.advanced(by: $0).assumingMemoryBound(to: CChar.self)
        }
        if let name {
          return unsafe lazyPQsendQueryPrepared(connection, name, Int32(types.count), values, lengths, formats, 1) == 1
        }
        return unsafe lazyPQsendQueryParams(
          connection, text, Int32(types.count), types, values, lengths, formats, 1) == 1
      }
      guard isSent else { throw .lost }
    }

    /// Sends what is left and waits until there is a result, as long as the server goes on sending or taking.
    private func waitForResult(_ silence: Duration) throws(QueryFailure) {
      var deadline = Deadline(after: silence)
      while true {
        let unsent = unsafe lazyPQflush(connection)
        guard unsent >= 0 else { throw .lost }
        if unsafe lazyPQisBusy(connection) == 0 { return }
        guard deadline.remaining > .zero else { throw .lost }
        let events = wait(for: deadline.remaining, unsent == 1 ? POLLIN | POLLOUT : POLLIN)
        if events & ~POLLOUT != 0, unsafe lazyPQconsumeInput(connection) != 1 { throw .lost }
        if events != 0 { deadline = Deadline(after: silence) }
      }
    }

    /// Waits until the server has sent something. Returns `false` after the time.
    func isReadable(for time: Duration) -> Bool { wait(for: time, POLLIN) != 0 }

    /// Waits for events of `poll`. Returns zero after the time.
    private func wait(for time: Duration, _ events: Int32) -> Int32 {
      var entry = pollfd(fd: descriptor, events: Int16(events), revents: 0)
      return unsafe poll(&entry, 1, Int32(clamping: time.millisecondsRoundedUp)) > 0 ? Int32(entry.revents) : 0
    }

    /// The announcements of changes that have come.
    struct Announcements {
      /// Whether one was made by this storage, or by another one.
      var areOwn = false
      var areOthers = false
      /// The server's time of the newest, in milliseconds since 1970.
      var latest: Int?
    }

    /// Takes the announcements that have come. Does not wait.
    ///
    /// - Parameter processes: the process ids of this storage's own connections on the server.
    func takeAnnouncements(own processes: Set<Int32>) throws(QueryFailure) -> Announcements {
      guard unsafe lazyPQconsumeInput(connection) == 1 else { throw .lost }
      var taken = Announcements()
      while let notification = unsafe lazyPQnotifies(connection) {
        let isOwn = unsafe processes.contains(notification.pointee.be_pid)
        taken.areOwn = taken.areOwn || isOwn
        taken.areOthers = taken.areOthers || !isOwn
        if let time = unsafe Int(String(cString: notification.pointee.extra)) { taken.latest = time }
        unsafe lazyPQfreemem(notification)
      }
      return taken
    }
  }

  extension Duration {
    /// Whole milliseconds, rounded up. A time of millions of years is cut off.
    var millisecondsRoundedUp: Int {
      let limit = Duration.seconds(1 << 50)
      let (seconds, attoseconds) = max(.zero - limit, min(self, limit)).components
      return Int(seconds) * 1000 + Int((attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000)
    }
  }
#endif
