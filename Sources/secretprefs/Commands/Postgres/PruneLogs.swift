internal import ArgumentParser

#if PostgreSQL
  internal import VaultPostgres
#endif

/// `secretprefs postgres prune`.
struct PruneLogs: WritingCommand {
  static let configuration = CommandConfiguration(
    commandName: "prune",
    abstract: "Removes old logs of reads and writes that machines have delivered.",
    usage: "secretprefs postgres prune [<options>] --keep <days>",
    discussion: """
      Of the log of each machine, the files are removed to which nothing was delivered for so many days, except the \
      newest file. What is left is verified as before, and "secretprefs audit verify" names the events that are gone. \
      It does not name those that the machine itself has removed, as "secretprefs audit on --keep" says, so the same \
      number of days or more is best. It is done for all vaults of the database, once for each call, and only the \
      owner of the tables may do it. --print prints the SQL instead, for psql.

      EXAMPLE:
        secretprefs postgres prune --keep 90d --vault postgresql://db.example.com/secrets
        secretprefs postgres prune --keep 90d --print | psql -d secrets
      """)

  @OptionGroup var database: DatabaseOptions

  @Option(
    help: ArgumentHelp(
      "How long logs are kept.", discussion: "A number of days, such as 90d; required.", valueName: "days"))
  var keep: String?

  @Flag(help: "Print the SQL, and connect to no database.")
  var print = false

  func perform(_ messages: Messages) throws {
    guard let days = try keep.map(StartAudit.days), days > 0 else {
      throw ToolError.usage("--keep must be at least one day, such as 90d", hint: "--keep 90d")
    }
    #if PostgreSQL
      guard !print else {
        guard !database.json else { throw ToolError.usage("--print and --json cannot be used together") }
        return try Output.write(PostgresSchema.removeLogs(olderThanDays: Int(days)))
      }
      let connected = try database.connected()
      let files = try connected.removeLogs(olderThanDays: Int(days))
      if files > 0 { Output.recordChange(by: Self.self) }
      guard database.json else { return messages.tell("\(counted(files, "file", "files")) of logs removed") }
      try Output.write(.object([("database", .string(connected.name)), ("files", .unsigned(UInt64(files)))]))
    #else
      throw DatabaseVault.isNotBuilt
    #endif
  }
}
