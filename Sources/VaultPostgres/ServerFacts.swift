#if PostgreSQL
  internal import VaultCore

  /// What a new connection finds out about the server, once.
  struct ServerFacts: Sendable {
    /// Whether it is a replica, which cannot be written to.
    private(set) var isReplica = false
    /// Whether a commit is on the disk.
    private(set) var isDurable = false
    /// The server's process.
    private(set) var pid: Int32 = 0
    /// Whether a pooler may be between, so that notifications do not arrive and nothing may be left in the session.
    private(set) var isPooled = true
    /// The channel of the vault's changes. A hash, because a name may be too long for a channel, and every role of the
    /// database can listen.
    private(set) var channel = ""
    /// The identifier of the server's data; `nil` if the server does not say it, nor its timeline.
    private(set) var system: Int?

    init() {}

    static func statements(_ vault: String) -> [Statement] {
      [
        Statement(
          """
          select pg_catalog.pg_is_in_recovery(), pg_catalog.current_setting('fsync') = 'on',
            pg_catalog.pg_backend_pid(),
            'secretprefs_' || pg_catalog.left(pg_catalog.encode(pg_catalog.sha256($1), 'hex'), 32)
          """, .bytes(Array(vault.utf8))),
        Statement("select version from secretprefs.schema_version"),
      ]
    }

    /// - Parameter connectionPID: the process id that the protocol gave. A pooler invents one.
    /// - Throws: ``VaultError/Code/unsupportedVersion``.
    init(_ results: [Rows], _ place: PostgresLocation, connectionPID: Int32) throws(VaultError) {
      isReplica = try results[0].number(0, 0) != 0
      isDurable = try results[0].number(0, 1) != 0
      pid = Int32(truncatingIfNeeded: try results[0].number(0, 2))
      isPooled = pid != connectionPID
      channel = try results[0].text(0, 3)
      system = results.count > 2 ? try results[2].number(0, 0) : nil
      try Self.check(schema: results[1].count == 1 ? try results[1].number(0, 0) : 0, place)
    }

    /// Refuses tables of another version.
    static func check(schema found: Int, _ place: PostgresLocation) throws(VaultError) {
      if found > PostgresSchema.version {
        throw place.error(
          .unsupportedVersion,
          "the schema of the database has version \(found), and this program knows \(PostgresSchema.version): use a "
            + "later program")
      }
      guard found == PostgresSchema.version else {
        throw place.error(
          .unsupportedVersion,
          "the schema of the database has version \(found), and this program needs \(PostgresSchema.version): its "
            + "owner brings it up to date with PostgresSchema.migration", .olderSchema)
      }
    }

    /// Refuses a server where a write would fail, or be lost.
    func checkWritable(_ place: PostgresLocation) throws(VaultError) {
      if isReplica { throw place.error(QueryFailure.refused(state: "25006"), .writing) }
      guard isDurable else {
        throw place.error(.readOnly, "the server has fsync = off, so that a write may be lost: turn it on")
      }
    }
  }
#endif
