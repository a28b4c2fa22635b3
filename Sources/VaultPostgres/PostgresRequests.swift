#if PostgreSQL
  internal import DurableFiles
  package import VaultCore

  /// The requests for access to a vault in the table `request` of the database.
  ///
  /// Everything in a row besides role and time is what the role has written, and several machines may have one role.
  /// The server limits how much a role can leave (`Docs/Decisions/0094`).
  package struct PostgresRequests: Sendable {
    private let core: PostgresCore

    init(_ core: PostgresCore) { self.core = core }

    /// A row of the table, unchecked.
    package struct Row: Sendable {
      /// The role that left the request.
      package let role: String
      /// `nil` if it is longer than any public key is.
      package let publicKey: String?
      /// `nil` if it is longer than ``VaultIdentity/longestNote``.
      package let note: String?
      /// When the request was left, in milliseconds since 1970; `nil` if that is no time.
      package let time: Int64?
    }

    /// What is in the rows that the role may see, the oldest first.
    ///
    /// - Parameter limit: the most rows that are read.
    /// - Throws: ``VaultError/Code/unreachable``; ``VaultError/Code/readOnly`` with `EACCES` if the role may not see
    ///   requests; the codes of a database with other tables.
    package func rows(atMost limit: Int) throws(VaultError) -> [Row] {
      let connection = try connection()
      let rows = try core.run([.requests(core.place.vault, limit: limit)], connection, .requesting)[0]
      core.pool.release(connection)
      return try (0..<rows.count).map { (row) throws(VaultError) in try Row(rows, row) }
    }

    /// Leaves a request, in place of the one of the same role with the same public key. Returns the role.
    ///
    /// - Parameter note: at most ``VaultIdentity/longestNote`` bytes.
    /// - Throws: ``VaultError/Code/limitExceeded`` if the role has left ``PostgresSchema/mostRequests``;
    ///   ``VaultError/Code/durabilityUnknown`` if the answer is lost: the call can be repeated; and the codes of
    ///   ``rows(atMost:)``.
    package func add(_ publicKey: VaultIdentity.PublicKey, note: String) throws(VaultError) -> String {
      var pause = Pause()
      let deadline = Deadline(after: core.options.holdLimit)
      while true {
        if let role = try store(publicKey, note) { return role }
        guard deadline.remaining > .zero else {
          throw core.place.error(.lockTimeout, "other programs leave requests as the same role all the time")
        }
        pause.wait(atMost: deadline.remaining)
      }
    }

    /// Returns `nil` if another program with the same role was given the place.
    private func store(_ publicKey: VaultIdentity.PublicKey, _ note: String) throws(VaultError) -> String? {
      let connection = try connection()
      try connection.facts.checkWritable(core.place)
      let added: Rows
      do throws(QueryFailure) {
        added = try connection.run(
          [.begin, settings] + Statement.addRequest(core.place.vault, "\(publicKey)", note),
          allowing: core.options.holdLimit)[3]
      } catch {
        // The connection ends with the transaction.
        if error.isRefused("23505") { return nil }
        throw core.place.error(error, .requesting)
      }
      guard added.count == 1 else {
        core.end(connection)
        throw core.place.error(
          .limitExceeded, "the role has left \(PostgresSchema.mostRequests) requests for access, and may leave no more",
          .requests)
      }
      do throws(QueryFailure) { _ = try connection.run([.commit]) } catch {
        guard error.isLost else { throw core.place.error(error, .requesting) }
        throw core.place.error(.durabilityUnknown, "it is unknown whether the request was stored")
      }
      core.pool.release(connection)
      return try added.text(0, 0)
    }

    /// A connection of a role that may look into the schema: one that may not needs this right only.
    private func connection() throws(VaultError) -> Connection {
      do throws(VaultError) { return try core.pool.acquire() } catch {
        throw error.errno == EACCES ? core.place.error(QueryFailure.refused(state: "42501"), .requesting) : error
      }
    }

    private var settings: Statement { .settings(lock: core.options.holdLimit, hold: core.options.holdLimit) }

    /// Removes all requests with a public key that the role may remove. Returns the roles that left them.
    ///
    /// - Throws: the codes of ``rows(atMost:)``; ``VaultError/Code/unreachable`` if the answer is lost, after which
    ///   they may be gone.
    package func remove(_ publicKey: VaultIdentity.PublicKey) throws(VaultError) -> [String] {
      let connection = try connection()
      try connection.facts.checkWritable(core.place)
      let rows: [Rows]
      do throws(QueryFailure) {
        rows = try connection.run(
          [.begin, settings, .removeRequests(core.place.vault, "\(publicKey)"), .commit],
          allowing: core.options.holdLimit)
      } catch { throw core.place.error(error, .requesting) }
      core.pool.release(connection)
      return try (0..<rows[2].count).map { (row) throws(VaultError) in try rows[2].text(row, 0) }
    }
  }

  extension PostgresStorage {
    /// The requests for access to the vault, which need not exist.
    package var requests: PostgresRequests { PostgresRequests(core) }
  }

  extension PostgresRequests.Row {
    fileprivate init(_ rows: Rows, _ row: Int) throws(VaultError) {
      role = try rows.text(row, 0)
      publicKey = rows.isNull(row, 1) ? nil : try rows.text(row, 1)
      note = rows.isNull(row, 2) ? nil : try rows.text(row, 2)
      time = rows.isNull(row, 3) ? nil : Int64(try rows.number(row, 3))
    }
  }

  extension Statement {
    /// The owner of the tables can leave rows that no requester can: of any length, and with a time without an end.
    fileprivate static func requests(_ vault: String, limit: Int) -> Statement {
      Statement(
        """
        select role::text, case when octet_length(public_key) <= 128 then public_key end,
          case when octet_length(note) <= \(VaultIdentity.longestNote) then note end,
          case when isfinite(asked) then \(milliseconds("asked")) end
        from secretprefs.request where vault = $1
        order by asked, role, place limit $2
        """, .text(vault), .number(limit))
    }

    /// Takes a place of the role that is free. No row is returned if there is none.
    fileprivate static func addRequest(_ vault: String, _ publicKey: String, _ note: String) -> [Statement] {
      [
        Statement(
          "delete from secretprefs.request where role = current_user and vault = $1 and public_key = $2", .text(vault),
          .text(publicKey)),
        Statement(
          """
          insert into secretprefs.request (place, vault, public_key, note)
          select free.place, $1, $2, $3 from generate_series(1, \(PostgresSchema.mostRequests)) as free (place)
          where not exists (
            select from secretprefs.request r where r.role = current_user and r.place = free.place)
          order by free.place limit 1
          returning role::text
          """, .text(vault), .text(publicKey), .text(note)),
      ]
    }

    fileprivate static func removeRequests(_ vault: String, _ publicKey: String) -> Statement {
      Statement(
        "delete from secretprefs.request where vault = $1 and public_key = $2 returning role::text", .text(vault),
        .text(publicKey))
    }
  }
#endif
