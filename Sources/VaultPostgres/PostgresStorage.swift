#if PostgreSQL
  internal import DurableFiles
  internal import Synchronization
  public import VaultCore

  /// A vault in a PostgreSQL database, which many machines can have open at the same time.
  ///
  /// ```swift
  /// let vault = try await Vault.open(
  ///   in: .postgres("postgresql://db.example.com/secrets", vault: "shop"), credential: .key(key))
  /// ```
  ///
  /// The database keeps the sealed bytes of the vault, and its administrator is not trusted: who controls it can
  /// destroy the vault or return an older state, which a mark notices, and can neither read nor change it unnoticed.
  /// The bytes are those of a file, so `Vault.copy(from:to:)` moves a vault from one to the other.
  ///
  /// **Reads never wait for the network.** A thread of the storage lays ready what other machines have written: within
  /// milliseconds if the server can notify it, within about 100 ms while there are many writes, and otherwise after
  /// ``Options/freshness``. Own writes are seen at once. `Vault.refresh()` asks the database now, and `Vault.age`
  /// says how old the state is. While the database is away, reads go on, until ``Options/outageLimit``.
  ///
  /// **Writes** wait for the vault's row, one writer at a time and in order, take two round trips, and are durable when
  /// they return. A writer that hangs is ended by the server after ``Options/holdLimit``. If the answer to a commit is
  /// lost, the storage looks whether it was made.
  ///
  /// **A replica** can be read. It cannot tell how far it is behind its primary, so a program that connects to replicas
  /// only sees what its replica has, and `Vault.age` and ``Options/outageLimit`` count from the replica's last answer.
  /// If the URL names several servers and the primary has answered, an answer of a replica confirms nothing and takes
  /// nothing back: until the primary answers again, the state ages, `Vault.health()` is degraded, and `Vault.refresh()`
  /// throws ``VaultError/Code/unreachable``.
  ///
  /// Several ``Vault`` objects may use the same storage; they then share its thread and its connections, at most two at
  /// rest. A pooler may be between, also in transaction mode; then there are no notifications.
  public final class PostgresStorage: VaultStorage {
    /// The settings of a storage. The defaults suit a server.
    public struct Options: Sendable {
      /// The greatest time between two questions to the database whether anything has changed. The default is a second.
      /// With `nil` there is no thread that asks: readers see what others have written after a write of their own and
      /// after `Vault.refresh()`, which suits a program that ends soon. Less than ten milliseconds count as ten, and
      /// more than half of ``outageLimit`` as half of it.
      public var freshness: Duration? = .seconds(1)
      /// For how long reads go on while the database is away, counted from its last answer, as `Vault.age` says. Then
      /// they throw ``VaultError/Code/unreachable``. The default is `nil`, for no limit. Without ``freshness`` only
      /// writes and `Vault.refresh()` get answers, so that reads throw after a pause between these.
      public var outageLimit: Duration?
      /// After how long the server ends a writer that has the lock and does nothing, for example because its machine
      /// has vanished. Must be longer than the largest change takes to seal. The default is ten seconds.
      public var holdLimit = Duration.seconds(10)
      /// How long the server may be silent when it owes an answer, besides the wait for a lock. The default is 15
      /// seconds.
      public var answerTimeout = Duration.seconds(15)
      /// The folder of this machine for the logs of reads and writes, which the first log creates. The files have the
      /// vault's name, encoded as in a URL, so vaults of different databases need different folders if they have the
      /// same name. Use one folder for all programs of this user on this machine, and keep it as long as the vault:
      /// a log that is missing is a finding. With `nil`, which is the default, a vault with logging is refused.
      public var logFolder: String?

      /// Creates options with the defaults.
      public init() {}

      /// The greatest time between two questions, as ``freshness`` says.
      var interval: Duration? {
        guard let freshness else { return nil }
        return max(min(freshness, outageLimit.map { $0 / 2 } ?? freshness), .milliseconds(10))
      }
    }

    let core: PostgresCore
    /// The logs of this machine, in ``Options/logFolder``; `nil` without one.
    public let auditLogs: AuditLogLocation?
    /// The table `log` of the database. An open vault delivers what this machine has logged within about five seconds,
    /// and after an outage within about a minute. Without ``Options/freshness`` only `Vault.deliverAuditLogs()` does.
    public var auditCollection: (any AuditLogCollection)? { PostgresLogs(core: core) }
    let isFollowed = Atomic(false)

    /// Names a vault in a database. Does not connect.
    ///
    /// - Parameters:
    ///   - url: `postgresql://host:port/database?parameter=value`, with the parameters of libpq. Variables such as
    ///     `PGHOST` and `PGSSLROOTCERT` apply, too. Without a Unix socket, the server is verified as with
    ///     `sslmode=verify-full`, whatever they say.
    ///   - vault: the name of the vault, which is that of its row.
    /// - Throws: ``VaultError/Code/invalidName`` for a wrong URL or name; ``VaultError/Code/insecurePermissions`` for
    ///   a URL with a password, which belongs in a password file or service file of libpq, or with a weaker
    ///   `sslmode`; those of `AuditLogLocation(folder:name:)`.
    public init(_ url: String, vault: String, options: Options = Options()) throws(VaultError) {
      auditLogs = try options.logFolder.map { (folder) throws(VaultError) in
        try AuditLogLocation(folder: folder, name: PostgresLocation.encoded(try Vault.Name(vault).text))
      }
      core = PostgresCore(try PostgresLocation(url, vault: vault), options)
    }

    deinit { core.isEnded.store(true, ordering: .relaxed) }

    public var name: String { core.place.name }

    // MARK: Reading

    /// Reads everything as of now.
    ///
    /// - Throws: ``VaultError/Code/notFound``; ``VaultError/Code/limitExceeded``; ``VaultError/Code/unreachable``, also
    ///   if only a replica answers that is behind what was read before; ``VaultError/Code/unsupportedFeature`` if the
    ///   database has no schema; ``VaultError/Code/unsupportedVersion`` if it is an older or newer one;
    ///   ``VaultError/Code/io`` if the role may not read, with `EACCES`; ``VaultError/Code/damaged`` if the rows do not
    ///   fit together.
    public func load(limit: Int) throws(VaultError) -> StoredVault {
      // With the pin, what follows the known row is kept until this load is registered itself.
      var pin: PostgresVersion?
      let question = core.known.withLock { known in
        pin = known.row.map { known.version(of: $0) }
        return core.question(known)
      }
      let (connection, rows) = try core.pool.run([.load(core.place.vault, limit: limit)], .reading)
      let server = try connection.server(of: rows[0])
      // Otherwise the next call may find the primary.
      if core.isConfirming(server) { core.pool.release(connection) }
      let found = try FoundBytes(loaded: rows[0], limit: limit)
      guard case .other(let row, let bytes) = found else {
        _ = try core.take(found, question, from: server)
        throw core.missing
      }
      guard let bytes else { throw core.tooLong(limit) }
      let version = core.known.withLock { known in
        known.limit = max(known.limit, limit)
        return known.version(of: row)
      }
      withExtendedLifetime(pin) {}
      // Otherwise it would keep a new version ready.
      pin = nil
      if try !core.take(row == question.row ? .unchanged : found, question, from: server) {
        core.known.withLock { $0.trim() }
      }
      follow()
      return StoredVault(version: version, bytes: StoredBytes(bytes))
    }

    /// What is known to have changed, without asking the database.
    ///
    /// - Throws: ``VaultError/Code/unreachable`` after ``Options/outageLimit``.
    public func changes(since position: StoragePosition, limit: Int) throws(VaultError) -> StorageChanges {
      follow()
      let (answer, confirmed) = core.known.withLock { ($0.changes(since: position, limit: limit), $0.confirmed) }
      if let outageLimit = core.options.outageLimit, let confirmed, confirmed.duration(to: .now) > outageLimit {
        throw core.place.error(
          .unreachable, "the database has not answered for longer than \(outageLimit)",
          cause: core.failure.withLock(\.self))
      }
      switch answer {
      case .changes(let changes): return changes
      case .tooLong: throw core.tooLong(limit)
      case .unknown: break
      }
      // Only for a caller that begins anew, which no read does.
      let stored = try load(limit: limit)
      let bytes = stored.bytes.bytes
      guard (stored.version as? PostgresVersion)?.number == (position.version as? PostgresVersion)?.number,
        position.isInside(bytes)
      else { return .replaced(stored) }
      return position.offset == bytes.count ? .none : .added(StoredBytes(Array(bytes[position.offset...])))
    }

    /// Asks the database now. Afterwards, readers see what others had written before the call; from a replica, what it
    /// had replayed.
    ///
    /// - Throws: ``VaultError/Code/unreachable``, also if only a replica answers although a primary has before; the
    ///   codes of ``load(limit:)``.
    public func refresh() throws(VaultError) { try core.refresh() }

    /// How long ago the database has confirmed what readers see: the primary, or a replica if no primary has answered
    /// yet. A replica confirms what it has, and not how far it is behind.
    public var age: Duration { core.known.withLock { $0.confirmed?.duration(to: .now) } ?? .zero }

    /// The error of the last question to the database, until it answers again.
    public var problem: VaultError? { core.failure.withLock(\.self) }

    /// Counted for all vaults that use this storage.
    public var activity: StorageActivity? {
      StorageActivity(
        writes: core.writes.load(ordering: .relaxed), retries: core.pool.retries.load(ordering: .relaxed),
        reconnects: core.pool.reconnects.load(ordering: .relaxed))
    }

    // MARK: Writing

    /// - Throws: ``VaultError/Code/lockTimeout``; ``VaultError/Code/notFound``; ``VaultError/Code/unreachable``;
    ///   ``VaultError/Code/readOnly`` if the server is a replica (`EROFS`), if the role may not write (`EACCES`), or
    ///   if the server would lose writes because `fsync` is off.
    public func lock(until deadline: LockDeadline) throws(VaultError) -> any LockedStorage {
      let (connection, row) = try core.lock(waiting: deadline.remaining)
      return LockedRows(core, deadline, connection, row)
    }

    public func create(_ bytes: [UInt8]) throws(VaultError) -> (storage: any LockedStorage, version: any StorageVersion)
    {
      let row = try core.create(bytes)
      let version = core.known.withLock { $0.version(of: row) }
      let locked = LockedRows(core, LockDeadline(after: .zero), nil, row)
      locked.lockAgain()
      follow()
      return (locked, version)
    }

    // MARK: Observing

    public func observe(_ notify: @escaping @Sendable () -> Void) throws(VaultError) -> StorageObservation {
      let observer = StorageObserver(notify)
      core.add(observer)
      follow()
      return StorageObservation { [core] in
        core.remove(observer)
        observer.end()
      }
    }

    /// Starts the thread that keeps the storage current, after there is something to follow.
    private func follow() {
      guard let interval = core.options.interval, !isFollowed.load(ordering: .relaxed),
        !isFollowed.exchange(true, ordering: .relaxed)
      else { return }
      if !Follower.start(core, freshness: interval) { isFollowed.store(false, ordering: .relaxed) }
    }
  }

  extension VaultStorage where Self == PostgresStorage {
    /// A vault in a database: see ``PostgresStorage/init(_:vault:options:)``.
    public static func postgres(
      _ url: String, vault: String, options: PostgresStorage.Options = PostgresStorage.Options()
    ) throws(VaultError) -> PostgresStorage {
      try PostgresStorage(url, vault: vault, options: options)
    }
  }
#endif
