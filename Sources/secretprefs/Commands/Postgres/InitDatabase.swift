internal import ArgumentParser

#if PostgreSQL
  internal import VaultPostgres
#endif

/// `secretprefs postgres init`.
struct InitDatabase: WritingCommand {
  static let configuration = CommandConfiguration(
    commandName: "init",
    abstract: "Creates the tables for vaults in a database, or brings them up to date.",
    usage: "secretprefs postgres init [<options>]",
    discussion: """
      Creates the schema secretprefs with its tables, in one transaction. The role in the URL becomes their owner; it \
      needs the right to create a schema in the database, and need not be a superuser. Tables that are there in this \
      version are left as they are, those of an earlier version are brought up to date, and those of a later one are \
      refused. After an update, earlier programs are refused, and roles need "secretprefs postgres grant" again. \
      --print prints the SQL that creates the tables instead, for psql.

      EXAMPLE:
        secretprefs postgres init --vault postgresql://db.example.com/secrets
        secretprefs postgres init --print | psql -d secrets
      """)

  @OptionGroup var database: DatabaseOptions

  @Flag(help: "Print the SQL, and connect to no database.")
  var print = false

  func perform(_ messages: Messages) throws {
    #if PostgreSQL
      guard !print else {
        guard !database.json else { throw ToolError.usage("--print and --json cannot be used together") }
        return try Output.write(PostgresSchema.script)
      }
      let connected = try database.connected()
      let change = try connected.createSchema()
      if change != .none { Output.recordChange(by: Self.self) }
      guard database.json else {
        if change == .none { messages.tell("the tables are there already; nothing was changed") }
        return
      }
      try Output.write(
        .object([
          ("database", .string(connected.name)), ("created", .bool(change == .created)),
          ("updated", .bool(change == .updated)),
          ("schema", .unsigned(UInt64(PostgresSchema.version))),
        ]))
    #else
      throw DatabaseVault.isNotBuilt
    #endif
  }
}
