internal import ArgumentParser

#if PostgreSQL
  internal import VaultPostgres
#endif

/// `secretprefs postgres init`.
struct InitDatabase: WritingCommand {
  static let configuration = CommandConfiguration(
    commandName: "init",
    abstract: "Creates the tables for vaults in a database.",
    usage: "secretprefs postgres init [<options>]",
    discussion: """
      Creates the schema secretprefs with its tables, in one transaction. The role in the URL becomes their owner; it \
      needs the right to create a schema in the database, and need not be a superuser. Tables that are there in this \
      version are left as they are, and those of another version are refused. --print prints the SQL instead, for psql.

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
      let isCreated = try connected.createSchema()
      if isCreated { Output.recordChange(by: Self.self) }
      guard database.json else {
        if !isCreated { messages.tell("the tables are there already; nothing was changed") }
        return
      }
      try Output.write(
        .object([
          ("database", .string(connected.name)), ("created", .bool(isCreated)),
          ("schema", .unsigned(UInt64(PostgresSchema.version))),
        ]))
    #else
      throw DatabaseVault.isNotBuilt
    #endif
  }
}
