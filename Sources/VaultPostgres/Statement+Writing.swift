#if PostgreSQL
  extension Statement {
    static let begin = Statement("begin isolation level read committed read write")
    static let commit = Statement("commit")
    static let rollback = Statement("rollback")

    /// The longest piece.
    static let pieceBytes = 1 << 20

    /// The settings of a transaction that writes. Nothing of them is left after it.
    ///
    /// - Parameters:
    ///   - lock: how long it waits for other writers; at least 50 ms. With one millisecond, an attempt has failed
    ///     although no other writer had the lock, for a reason that was not found; zero would mean for ever.
    ///   - hold: after how long the server ends it if its client does nothing.
    static func settings(lock: Duration, hold: Duration) -> Statement {
      Statement(
        """
        select set_config('search_path', 'pg_catalog', true), set_config('lock_timeout', $1, true),
          set_config('idle_in_transaction_session_timeout', $2, true), set_config('statement_timeout', '0', true),
          set_config('tcp_keepalives_idle', '10', true), set_config('tcp_keepalives_interval', '5', true),
          set_config('tcp_keepalives_count', '3', true),
          case when current_setting('synchronous_commit') = 'off' then set_config('synchronous_commit', 'on', true) end
        """, .text("\(max(50, min(lock.millisecondsRoundedUp, Int(Int32.max))))ms"),
        .text("\(max(1, min(hold.millisecondsRoundedUp, Int(Int32.max))))ms"))
    }

    /// Waits for the row's lock. What it returns besides is read by the next statement: the pieces of this one would be
    /// those of the moment before the wait.
    static func lock(_ vault: String) -> Statement {
      Statement("select 1 from secretprefs.vault where name = $1 for update", .text(vault))
    }

    /// Puts bytes behind a position, and commits. Changes nothing unless the row is `old`.
    static func append(_ bytes: [UInt8], to vault: String, at offset: Int, from old: VaultRow, to new: VaultRow)
      -> [Statement]
    {
      var statements = [move(vault, from: old, to: new)]
      if offset < old.length {
        // What follows the position is not a part of the vault any more.
        statements += [
          Statement(
            """
            delete from secretprefs.piece p using secretprefs.vault v
            where v.name = $1 and v.version = $2 and v.length = $3 and v.tail = $4
              and p.vault = v.name and p.version = v.version and p.start >= $5
            """, .text(vault), .number(new.version), .number(new.length), .bytes(new.tail), .number(offset)),
          Statement(
            """
            update secretprefs.piece p set bytes = substring(p.bytes for ($5 - p.start)::integer)
            from secretprefs.vault v
            where v.name = $1 and v.version = $2 and v.length = $3 and v.tail = $4
              and p.vault = v.name and p.version = v.version and p.start < $5 and p.start + octet_length(p.bytes) > $5
            """, .text(vault), .number(new.version), .number(new.length), .bytes(new.tail), .number(offset)),
        ]
      }
      return statements + pieces(bytes, of: vault, at: offset, in: new)
    }

    /// Puts bytes in place of all others, also of those that no vault has. Changes nothing unless the row is `old`.
    static func replace(_ bytes: [UInt8], of vault: String, from old: VaultRow, to new: VaultRow) -> [Statement] {
      [
        move(vault, from: old, to: new),
        Statement(
          """
          delete from secretprefs.piece p using secretprefs.vault v
          where v.name = $1 and v.version = $2 and v.length = $3 and v.tail = $4
            and p.vault = v.name
          """, .text(vault), .number(new.version), .number(new.length), .bytes(new.tail)),
      ] + pieces(bytes, of: vault, at: 0, in: new)
    }

    /// Stores a new vault. Refused as a duplicate if there is one.
    static func create(_ bytes: [UInt8], _ vault: String, _ row: VaultRow) -> [Statement] {
      [
        // Of a vault that was removed in part.
        Statement(
          """
          delete from secretprefs.piece where vault = $1
            and not exists (select from secretprefs.vault where name = $1)
          """, .text(vault)),
        Statement(
          "insert into secretprefs.vault (name, version, length, tail) values ($1, $2, $3, $4)", .text(vault),
          .number(row.version), .number(row.length), .bytes(row.tail)),
      ] + pieces(bytes, of: vault, at: 0, in: row)
    }

    /// Removes the vault if the row is `old`.
    static func remove(_ vault: String, _ old: VaultRow) -> [Statement] {
      [
        Statement(
          "delete from secretprefs.vault where name = $1 and version = $2 and length = $3 and tail = $4", .text(vault),
          .number(old.version), .number(old.length), .bytes(old.tail)),
        Statement(
          """
          delete from secretprefs.piece where vault = $1
            and not exists (select from secretprefs.vault where name = $1)
          """, .text(vault)),
      ]
    }

    /// Announces a change to the other programs that have the vault open, with the time of the announcement: the
    /// server's, in milliseconds since 1970. Returns that time.
    ///
    /// - Parameters:
    ///   - latest: the time of the newest announcement that is known. Every role can announce any number.
    ///   - quiet: in milliseconds. If `latest` is less than this ago, nothing is announced, and no row returned. A
    ///     later time than now is of a clock that was set back, and does not count.
    static func announce(_ channel: String, after latest: Int, quiet: Int) -> Statement {
      Statement(
        """
        select now, pg_notify($1, now::text)
        from (select \(milliseconds("clock_timestamp()")) as now offset 0) as clock
        where not $2 between now - $3 + 1 and now
        """, .text(channel), .number(latest), .number(quiet))
    }

    private static func move(_ vault: String, from old: VaultRow, to new: VaultRow) -> Statement {
      Statement(
        """
        update secretprefs.vault set version = $2, length = $3, tail = $4
        where name = $1 and version = $5 and length = $6 and tail = $7
        """, .text(vault), .number(new.version), .number(new.length), .bytes(new.tail), .number(old.version),
        .number(old.length), .bytes(old.tail))
    }

    /// Stores pieces. One that the server does not store although it accepts it, as a trigger or a rule can demand,
    /// undoes the transaction with a division by zero. What stands at its place is no part of the vault.
    private static func pieces(_ bytes: [UInt8], of vault: String, at offset: Int, in row: VaultRow) -> [Statement] {
      stride(from: 0, to: bytes.count, by: pieceBytes).map { start in
        let piece = Array(bytes[start..<min(start + pieceBytes, bytes.count)])
        return Statement(
          """
          with moved as (
            select name, version from secretprefs.vault
            where name = $1 and version = $2 and length = $3 and tail = $4
          ), stored as (
            insert into secretprefs.piece (vault, version, start, bytes) select name, version, $5, $6 from moved
            on conflict (vault, version, start) do update set bytes = excluded.bytes returning start
          )
          select 1 / (select count(*) from stored) from moved
          """, .text(vault), .number(row.version), .number(row.length), .bytes(row.tail), .number(offset + start),
          .bytes(piece))
      }
    }
  }
#endif
