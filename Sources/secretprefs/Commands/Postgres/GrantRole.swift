internal import ArgumentParser

#if PostgreSQL
  internal import VaultPostgres
#endif

/// `secretprefs postgres grant`.
struct GrantRole: WritingCommand {
  /// What a role gets.
  enum Access: String, CaseIterable {
    case requester, reader, writer, owner
  }

  static let configuration = CommandConfiguration(
    commandName: "grant",
    abstract: "Grants a role of the database what it needs.",
    usage: "secretprefs postgres grant [<options>] (requester | reader | writer | owner) <role>",
    discussion: """
      A requester leaves requests for access, and sees no vault. A reader also opens vaults, and adds to the logs of \
      reads and writes. A writer also changes, creates and removes vaults, and removes requests of others. An owner \
      has the tables and may change, drop and grant them; the former owner has to be a member of that role. The role \
      must exist, and gets nothing else. It is granted all vaults of the database: policies of PostgreSQL on the \
      tables vault, piece, log and request limit it to some. --print prints the SQL instead, for psql.

      EXAMPLE:
        secretprefs postgres grant writer shop --vault postgresql://db.example.com/secrets
        secretprefs postgres grant reader report --print | psql -d secrets
      """)

  @OptionGroup var database: DatabaseOptions

  @Flag(help: "Print the SQL, and connect to no database.")
  var print = false

  @Argument(help: ArgumentHelp("What is granted, and the name of the role.", valueName: "role"))
  var words: [String] = []

  func perform(_ messages: Messages) throws {
    guard words.count == 2, let access = Access(rawValue: words[0]) else {
      throw Self.usageError("requester, reader, writer or owner, and one role are required")
    }
    let role = words[1]
    // The server would cut it off, and all roles are public even in quotes.
    guard (1...63).contains(role.utf8.count), role != "public" else {
      throw ToolError.usage("the name of a role has 1 to 63 bytes, and is not public, which is all roles")
    }
    #if PostgreSQL
      guard !print else {
        guard !database.json else { throw ToolError.usage("--print and --json cannot be used together") }
        return try Output.write(PostgresSchema.grant(access.granted, to: role))
      }
      let connected = try database.connected()
      try connected.grant(access.granted, to: role)
      Output.recordChange(by: Self.self)
      guard database.json else { return }
      try Output.write(
        .object([
          ("database", .string(connected.name)), ("access", .string(access.rawValue)), ("role", .string(role)),
        ]))
    #else
      throw DatabaseVault.isNotBuilt
    #endif
  }
}

#if PostgreSQL
  extension GrantRole.Access {
    fileprivate var granted: PostgresSchema.Access {
      switch self {
      case .requester: .requester
      case .reader: .reader
      case .writer: .writer
      case .owner: .owner
      }
    }
  }
#endif
