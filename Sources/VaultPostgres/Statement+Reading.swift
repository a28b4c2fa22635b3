#if PostgreSQL
  extension Statement {
    /// Everything as of one moment, without the pieces if it is too long. At least one row, which says what the server
    /// is; without a vault it has nothing else.
    static func load(_ vault: String, limit: Int) -> Statement {
      Statement(loadTexts, .text(vault), .number(limit))
    }

    private static let loadTexts = Texts { timeline in
      """
      select v.version, v.length, v.tail, p.start, p.bytes, (select \(timeline)), (select \(isReplica))
      from (values (1)) as server
      left join secretprefs.vault v on v.name = $1
      left join secretprefs.piece p on p.vault = v.name and p.version = v.version and v.length <= $2
      order by p.start
      """
    }

    private static let isReplica = "pg_catalog.pg_is_in_recovery()"

    /// The row, and the bytes from 32 before the known end, as of one moment; no bytes if there is another version, or
    /// if the whole is too long. The first row says what the server is, also without a vault.
    static func changes(_ vault: String, since known: VaultRow?, limit: Int) -> Statement {
      Statement(
        changesTexts, .text(vault), .number(known?.version ?? -1),
        .number(max(0, (known?.length ?? 0) - VaultRow.tailCount)), .number(limit))
    }

    /// Every program asks this about each write, so it is written for the planner: two scans that are not joined, and
    /// pieces found by their index (the three columns of the order are the index). With a join of the tables, planning
    /// took longer than a write, and with `max(start)` all pieces of the vault were read.
    private static let changesTexts = Texts { timeline in
      """
      select version, length, tail, null::bigint as start, null::bytea, \(timeline), \(isReplica)
      from (values (1)) as server left join secretprefs.vault on name = $1
      union all
      select null, null, null, greatest(start, $3), substring(bytes from (greatest($3 - start, 0) + 1)::integer), null,
        null
      from secretprefs.piece
      where vault = $1 and version = $2
        and start >= (
          select start from secretprefs.piece where vault = $1 and version = $2 and start <= $3
          order by vault desc, version desc, start desc limit 1)
        and (select length from secretprefs.vault where name = $1) <= $4
      order by start nulls first
      """
    }
  }
#endif
