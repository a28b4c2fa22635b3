#if PostgreSQL
  internal import VaultCore

  /// The logs of all machines in the table `log` of the database.
  struct PostgresLogs: AuditLogCollection {
    let core: PostgresCore

    /// Without a thread that follows the database there is none that delivers.
    var interval: Duration? { core.options.interval.map { min($0 * 5, .seconds(5)) } }

    func files(of group: Vault.Identifier) throws(VaultError) -> [CollectedAuditFile] {
      try Self.files(try ask(.logFiles(core.place.vault, of: "\(group)")))
    }

    func newestFile(of log: String) throws(VaultError) -> CollectedAuditFile? {
      try Self.files(try ask(.newestLogFile(core.place.vault, log))).first
    }

    private static func files(_ rows: Rows) throws(VaultError) -> [CollectedAuditFile] {
      try (0..<rows.count).map { (row) throws(VaultError) in
        CollectedAuditFile(
          log: try rows.text(row, 0), number: UInt64(clamping: try rows.number(row, 1)), end: try rows.number(row, 2),
          tail: try rows.bytes(row, 3), delivered: Int64(try rows.number(row, 4)))
      }
    }

    /// Looked at before the bytes are read, because a role that delivers can add any rows.
    func bytes(of file: CollectedAuditFile) throws(VaultError) -> [UInt8] {
      let rows = try ask(.logBytes(core.place.vault, file))
      guard try rows.number(0, 0) > 0 else { return [] }
      guard !rows.isNull(0, 1) else {
        throw core.place.error(.limitExceeded, "there is more in the table log than a log file can have")
      }
      var bytes = try rows.bytes(rows.count - 1, 2)
      for row in 0..<rows.count { bytes += try rows.bytes(row, 1) }
      return bytes
    }

    private func ask(_ statement: Statement) throws(VaultError) -> Rows {
      let (connection, rows) = try core.pool.run([statement], .logging)
      core.pool.release(connection)
      return rows[0]
    }

    func add(_ bytes: [UInt8], header: [UInt8], to file: CollectedAuditFile) throws(VaultError) {
      let connection = try core.pool.acquire()
      try connection.facts.checkWritable(core.place)
      do throws(QueryFailure) {
        _ = try connection.run(
          [.begin, .settings(lock: .zero, hold: core.options.holdLimit)]
            + Statement.addLog(core.place.vault, file, bytes, header) + [.commit])
      } catch {
        // The connection ends with the transaction. An answer that is lost shows in the next list.
        if error.isRefused("23505") { throw core.place.error(.conflict, "the log has other bytes there already") }
        throw core.place.error(error, .logging)
      }
      core.pool.release(connection)
    }
  }

  extension Statement {
    /// What is there of each file of a group's logs.
    fileprivate static func logFiles(_ vault: String, of group: String) -> Statement {
      Statement(
        """
        select distinct on (log, version) \(logFileColumns)
        from secretprefs.log where vault = $1 and starts_with(log, $2)
        order by log, version, start desc
        """, .text(vault), .text(group + "/"))
    }

    /// A role that delivers can add rows with a start that no file has, which is cut off so that the sum fits a number,
    /// and with a time without an end, which counts as unknown.
    private static let logFileColumns = """
      log, version, least(start, \(longestFile)) + octet_length(bytes),
        substring(bytes from greatest(octet_length(bytes) - 31, 1)),
        case when isfinite(delivered) then \(milliseconds("delivered")) else 0 end
      """

    /// Each machine asks this every few seconds: one look into the index.
    fileprivate static func newestLogFile(_ vault: String, _ log: String) -> Statement {
      Statement(
        """
        select \(logFileColumns)
        from secretprefs.log where vault = $1 and log = $2
        order by version desc, start desc limit 1
        """, .text(vault), .text(log))
    }

    /// The greatest length of a file of a log (`Docs/Format.md` F.2).
    private static let longestFile = 1 << 30
    /// Less than an event has, of which each row has at least one.
    private static let leastBytes = 64

    /// The number of rows, and of each its bytes, of the last one also the header; nothing but the number if the whole
    /// is longer than a file can be.
    fileprivate static func logBytes(_ vault: String, _ file: CollectedAuditFile) -> Statement {
      Statement(
        """
        select size.count, l.bytes, case when l.start = size.last then substring(l.header for 257) end
        from (
          select count(*) as count, coalesce(sum(octet_length(bytes)), 0) as total, max(start) as last
          from secretprefs.log where vault = $1 and log = $2 and version = $3 and start < $4) as size
        left join secretprefs.log l on l.vault = $1 and l.log = $2 and l.version = $3 and l.start < $4
          and size.total <= \(longestFile) and size.count <= size.total / \(leastBytes) + 1
        order by l.start
        """, .text(vault), .text(file.log), .number(Int(clamping: file.number)), .number(file.end))
    }

    fileprivate static func addLog(
      _ vault: String, _ file: CollectedAuditFile, _ bytes: [UInt8], _ header: [UInt8]
    ) -> [Statement] {
      stride(from: 0, to: bytes.count, by: pieceBytes).map { start in
        Statement(
          """
          insert into secretprefs.log (vault, log, version, start, bytes, header) values ($1, $2, $3, $4, $5, $6)
          """, .text(vault), .text(file.log), .number(Int(clamping: file.number)), .number(file.end + start),
          .bytes(Array(bytes[start..<min(start + pieceBytes, bytes.count)])), .bytes(header))
      }
    }
  }
#endif
