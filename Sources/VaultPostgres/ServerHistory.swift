#if PostgreSQL
  /// The server that has answered a statement, which a pooler or a promotion may have made another one.
  struct AnsweringServer: Sendable {
    let isReplica: Bool
    /// `nil` if it says none, as a replica.
    let history: ServerHistory?
  }

  /// Which commits a server has had. A replica that is promoted begins another history, which may lack the newest
  /// commits of the former primary, and so does a server that was restored from a backup.
  struct ServerHistory: Sendable, Hashable {
    let system: Int
    /// The number of the timeline, in hexadecimal digits.
    let timeline: String

    /// The timeline of the server that answers a statement; null on a replica, which may follow another one soon. With
    /// each answer, because a pooler goes on with another server.
    static let timeline = """
      case when not pg_catalog.pg_is_in_recovery()
        then pg_catalog.left(pg_catalog.pg_walfile_name(pg_catalog.pg_current_wal_insert_lsn()), 8) end
      """

    /// Refused by a server that does not say its history.
    static let statement = Statement(
      "select system_identifier, \(timeline) from pg_catalog.pg_control_system()")
  }
#endif
