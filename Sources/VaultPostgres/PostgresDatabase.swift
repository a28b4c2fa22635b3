#if PostgreSQL
  internal import CPostgres
  internal import DurableFiles
  package import VaultCore

  /// A database that keeps vaults, as its owner sees it: its tables, and what a role may do.
  @safe package final class PostgresDatabase {
    private let place: PostgresLocation
    private let connection: OpaquePointer

    /// Connects.
    ///
    /// - Parameter url: as in ``PostgresStorage/init(_:vault:options:)``.
    /// - Throws: the errors of that initialiser, and ``VaultError/Code/unreachable``.
    package init(_ url: String) throws(VaultError) {
      place = try PostgresLocation(url, vault: nil)
      unsafe connection = try unsafe place.connected()
    }

    deinit { unsafe lazyPQfinish(connection) }

    /// Names the database in errors, without user and credentials.
    package var name: String { place.name }

    /// What ``createSchema()`` did.
    package enum Change: Sendable { case created, updated, none }

    /// Creates the tables, or brings them up to date.
    ///
    /// - Throws: ``VaultError/Code/unsupportedVersion`` if they are there in a later version;
    ///   ``VaultError/Code/unsupportedFeature`` if there is a schema of this name that is none of vaults;
    ///   ``VaultError/Code/readOnly`` if the role may not create a schema, or the server is a replica.
    package func createSchema() throws(VaultError) -> Change {
      let status = try status()
      if status.hasSchema {
        guard let found = status.schemaVersion else { throw foreignSchema(status) }
        if (1..<PostgresSchema.version).contains(found) { return try migrate(from: found) }
        try ServerFacts.check(schema: found, place)
        return .none
      }
      do throws(QueryFailure) { _ = try change(PostgresSchema.script) } catch {
        guard error.isRefused("42P06") || error.isRefused("23505") else {
          throw refusal(error, "the role may not create a schema: grant it create on the database, or use its owner")
        }
        // Another program was first.
        return try createSchema()
      }
      return .created
    }

    private func migrate(from version: Int) throws(VaultError) -> Change {
      do throws(QueryFailure) { _ = try change(PostgresSchema.migration) } catch {
        // Another program was first, if the version says so.
        guard error.isRefused("42P07") || error.isRefused("23505"), try status().schemaVersion != version else {
          throw refusal(error, "the role may not change the tables: connect as the owner of the schema secretprefs")
        }
        return try createSchema()
      }
      return .updated
    }

    /// Grants a role what it needs.
    ///
    /// - Throws: ``VaultError/Code/notFound`` if there is no such role; ``VaultError/Code/unsupportedFeature`` without
    ///   the tables; ``VaultError/Code/readOnly`` if the own role may not grant this, or the server is a replica.
    package func grant(_ access: PostgresSchema.Access, to role: String) throws(VaultError) {
      let cure = "the role may not do this: connect as the owner of the schema secretprefs"
      let isGranted: Bool
      do throws(QueryFailure) {
        let rows = try change("begin;\n" + PostgresSchema.grant(access, to: role) + Self.check(access, of: role))
        isGranted = rows.first == ["t"]
        _ = try execute(isGranted ? "commit" : "rollback")
      } catch {
        if error.isRefused("42704") {
          throw place.error(.notFound, "there is no role of this name on the server", .noRole)
        }
        throw refusal(error, cure)
      }
      guard isGranted else { throw place.error(.readOnly, cure, errno: EACCES) }
    }

    /// Asks whether a role has what it was granted: who may use a table and may not grant it gets a warning only.
    private static func check(_ access: PostgresSchema.Access, of role: String) -> String {
      // A form that means the same whatever standard_conforming_strings says.
      let name = "E'" + role.replacing("\\", with: #"\\"#).replacing("'", with: "''") + "'"
      var rights = [("schema_version", "select"), ("request", "select"), ("request", "delete")]
      if access != .requester {
        let changing = access == .reader ? ["select"] : ["select", "insert", "update", "delete"]
        rights += changing.flatMap { right in [("vault", right), ("piece", right)] }
        rights += [("log", "select"), ("log", "insert")]
      }
      let tables = rights.map { table, right in
        "pg_catalog.has_table_privilege(\(name), 'secretprefs.\(table)', '\(right)')"
      }
      return """
        select pg_catalog.has_schema_privilege(\(name), 'secretprefs', 'usage')
          and pg_catalog.has_any_column_privilege(\(name), 'secretprefs.request', 'insert')
          and \(tables.joined(separator: "\n  and "))
        """
    }

    /// Removes delivered logs, as ``PostgresSchema/removeLogs(olderThanDays:)`` says.
    ///
    /// - Returns: how many files of logs were removed.
    /// - Throws: ``VaultError/Code/unsupportedFeature`` without the tables; ``VaultError/Code/readOnly`` if the role
    ///   may not remove logs, or the server is a replica.
    package func removeLogs(olderThanDays days: Int) throws(VaultError) -> Int {
      do throws(QueryFailure) {
        return Int(try change(PostgresSchema.removeLogs(olderThanDays: days)).first?.first ?? "") ?? 0
      } catch { throw refusal(error, "the role may not remove logs: connect as the owner of the schema secretprefs") }
    }

    private func refusal(_ failure: QueryFailure, _ cure: String) -> VaultError {
      failure.isRefused("42501") ? place.error(.readOnly, cure, errno: EACCES) : place.error(failure, .writing)
    }

    private func foreignSchema(_ status: PostgresStatus) -> VaultError {
      status.mayUse
        ? place.error(.unsupportedFeature, "the schema secretprefs of the database has no table schema_version")
        : place.error(
          .io, "the role may not look into the schema secretprefs: connect as its owner", errno: EACCES, .reading)
    }

    /// The state of the server, of the tables and of the role.
    package func status() throws(VaultError) -> PostgresStatus {
      do throws(QueryFailure) { return try readStatus() } catch { throw place.error(error, .reading) }
    }

    private func readStatus() throws(QueryFailure) -> PostgresStatus {
      var status = PostgresStatus()
      let server = try execute(
        """
        select pg_catalog.current_setting('server_version'), pg_catalog.pg_is_in_recovery(),
          pg_catalog.current_setting('fsync') = 'on',
          current_user, pg_catalog.pg_backend_pid()
        """)[0]
      status.serverVersion = server[0]
      status.isReplica = server[1] == "t"
      status.isDurable = server[2] == "t"
      status.role = server[3]
      let process = unsafe lazyPQbackendPID(connection)
      status.isPooled = server[4] != "\(process)"
      status.hasTLS = unsafe lazyPQsslInUse(connection) != 0
      // By number, because a name of a table is not found by who may not use its schema.
      let schemas = try execute(
        """
        select pg_catalog.has_schema_privilege(n.oid, 'usage'), pg_catalog.pg_has_role(n.nspowner, 'usage')
        from pg_catalog.pg_namespace n where n.nspname = 'secretprefs'
        """)
      guard let schema = schemas.first else { return status }
      status.hasSchema = true
      status.mayUse = schema[0] == "t"
      status.isOwner = schema[1] == "t"
      let tables = try execute(
        """
        select c.relname, pg_catalog.has_table_privilege(c.oid, 'select'),
          pg_catalog.has_table_privilege(c.oid, 'insert') and pg_catalog.has_table_privilege(c.oid, 'update')
            and pg_catalog.has_table_privilege(c.oid, 'delete'),
          pg_catalog.has_any_column_privilege(c.oid, 'insert')
        from pg_catalog.pg_class c join pg_catalog.pg_namespace n on n.oid = c.relnamespace
        where n.nspname = 'secretprefs' and c.relname in ('schema_version', 'vault', 'piece', 'log', 'request')
        """)
      let readable = status.mayUse ? tables.filter { $0[1] == "t" }.map { $0[0] } : []
      if readable.contains("schema_version") {
        let versions = try execute("select version from secretprefs.schema_version")
        status.schemaVersion = versions.first.flatMap { Int($0[0]) }
      }
      status.mayRead = ["schema_version", "vault", "piece"].allSatisfy(readable.contains)
      let writable = tables.filter { $0[2] == "t" }.map { $0[0] }
      status.mayWrite = status.mayRead && ["vault", "piece"].allSatisfy(writable.contains)
      let extensible = tables.filter { $0[3] == "t" }.map { $0[0] }.filter(readable.contains)
      status.mayLog = status.mayRead && extensible.contains("log")
      status.mayRequest = readable.contains("schema_version") && extensible.contains("request")
      guard status.mayRead, status.schemaVersion == PostgresSchema.version else { return status }
      status.vaults = try execute("select name, length, version from secretprefs.vault order by name").map { row in
        PostgresStatus.Vault(name: row[0], bytes: Int(row[1]) ?? 0, version: Int(row[2]) ?? 0)
      }
      return status
    }

    /// Runs a transaction, and ends it if it is refused.
    private func change(_ sql: String) throws(QueryFailure) -> [[String]] {
      do throws(QueryFailure) { return try execute(sql) } catch {
        if !error.isLost { _ = try execute("rollback") }
        throw error
      }
    }

    /// Runs statements without parameters, and returns the rows of the last one as text.
    private func execute(_ sql: String) throws(QueryFailure) -> [[String]] {
      guard let result = unsafe lazyPQexec(connection, sql) else { throw .lost }
      defer { unsafe lazyPQclear(result) }
      switch unsafe lazyPQresultStatus(result) {
      case PGRES_TUPLES_OK, PGRES_COMMAND_OK: break
      default:
        guard let state = unsafe lazyPQresultErrorField(result, Int32(UInt8(ascii: "C"))),
          unsafe lazyPQstatus(connection) == CONNECTION_OK
        else { throw .lost }
        throw .refused(state: unsafe String(cString: state))
      }
      return unsafe (0..<lazyPQntuples(result)).map { row in
        unsafe (0..<lazyPQnfields(result)).map { unsafe String(cString: lazyPQgetvalue(result, row, $0)) }
      }
    }
  }
#endif
