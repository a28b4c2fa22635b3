#if PostgreSQL
  extension Statement {
    /// Everything as of one moment, without the pieces if it is too long.
    static func load(_ vault: String, limit: Int) -> Statement {
      Statement(
        """
        select v.version, v.length, v.tail, p.start, p.bytes
        from secretprefs.vault v
        left join secretprefs.piece p on p.vault = v.name and p.version = v.version and v.length <= $2
        where v.name = $1
        order by p.start
        """, .text(vault), .number(limit))
    }

    /// The row, and the bytes from 32 before the known end, as of one moment; no bytes if nothing has changed, if
    /// there is another version, or if the whole is too long.
    static func changes(_ vault: String, since known: VaultRow?, limit: Int) -> Statement {
      Statement(
        """
        select v.version, v.length, v.tail, p.start, p.bytes
        from secretprefs.vault v
        left join lateral (
          select q.start + s.skip as start, substring(q.bytes from (s.skip + 1)::integer) as bytes
          from secretprefs.piece q, lateral (select greatest($3 - q.start, 0) as skip) s
          where q.vault = v.name and q.version = v.version and q.start >= coalesce(
            (select max(o.start) from secretprefs.piece o
              where o.vault = v.name and o.version = v.version and o.start <= $3), 0)
        ) p on v.version = $2 and v.length <= $6 and (v.length, v.tail) is distinct from ($4, $5)
        where v.name = $1
        order by p.start
        """, .text(vault), .number(known?.version ?? -1), .number(max(0, (known?.length ?? 0) - VaultRow.tailCount)),
        .number(known?.length ?? 0), .bytes(known?.tail ?? []), .number(limit))
    }
  }
#endif
