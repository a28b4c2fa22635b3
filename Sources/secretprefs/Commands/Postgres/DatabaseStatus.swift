internal import ArgumentParser

#if PostgreSQL
  internal import VaultPostgres
#endif

/// `secretprefs postgres status`.
struct DatabaseStatus: ToolCommand {
  static let configuration = CommandConfiguration(
    commandName: "status",
    abstract: "Shows the state of a database, what the role may do, and the vaults that it may see.",
    usage: "secretprefs postgres status [<options>]",
    discussion: """
      Changes nothing, and opens no vault. The version of a vault rises when it is replaced as a whole.

      EXAMPLE:
        secretprefs postgres status --vault postgresql://db.example.com/secrets
      """)

  @OptionGroup var database: DatabaseOptions

  func perform(_ messages: Messages) throws {
    #if PostgreSQL
      let connected = try database.connected()
      let status = try connected.status()
      try database.json
        ? Output.write(status.json(of: connected.name)) : Output.write(status.text(of: connected.name))
    #else
      throw DatabaseVault.isNotBuilt
    #endif
  }
}

#if PostgreSQL
  extension PostgresStatus {
    fileprivate func text(of name: String) -> String {
      let lines = [
        ["database", displayed(name)],
        ["server", "PostgreSQL \(displayed(serverVersion)), \(isReplica ? "a replica, only for reading" : "primary")"],
        ["connection", connection],
        ["fsync", isDurable ? "on" : "off: writes are refused"],
        ["role", "\(displayed(role)): \(rights)"],
        ["schema", schema],
      ]
      let rows = vaults?.map { [Table.cell($0.name), counted($0.bytes, "byte", "bytes"), "version \($0.version)"] }
      return Table(rows: lines).text
        + (rows.map { counted($0.count, "vault", "vaults") + "\n" + Table(rows: $0).text } ?? "")
    }

    private var connection: String {
      (hasTLS ? "TLS, verified" : "Unix socket")
        + (isPooled ? ", to a pooler: changes of others are seen by asking" : "")
    }

    private var rights: String {
      let own = isOwner ? ", owns the tables" : ""
      let log = mayRead && !mayLog ? ", may not deliver logs" : ""
      let request =
        mayRead == mayRequest ? "" : mayRead ? ", may not see requests for access" : ", may leave requests for access"
      return (mayWrite ? "may read and write vaults" : mayRead ? "may read vaults" : "may not read vaults")
        + request + log + own
    }

    private var schema: String {
      guard hasSchema else { return "none: \"secretprefs postgres init\" creates it" }
      guard let schemaVersion else { return "its version cannot be read" }
      let isOther = schemaVersion != PostgresSchema.version
      return "version \(schemaVersion)\(isOther ? ", and this program knows \(PostgresSchema.version)" : "")"
    }

    fileprivate func json(of name: String) -> JSON {
      var members: [(String, JSON)] = [
        ("database", .string(name)), ("server", .string(serverVersion)), ("replica", .bool(isReplica)),
        ("fsync", .bool(isDurable)), ("pooled", .bool(isPooled)),
        ("tls", .bool(hasTLS)), ("role", .string(role)), ("mayRead", .bool(mayRead)), ("mayWrite", .bool(mayWrite)),
        ("mayLog", .bool(mayLog)), ("mayRequest", .bool(mayRequest)), ("owner", .bool(isOwner)),
        ("schema", schemaVersion.map { .integer(Int64($0)) } ?? .null),
      ]
      if let vaults {
        let vaults = vaults.map { vault in
          JSON.object([
            ("name", .string(vault.name)), ("bytes", .integer(Int64(vault.bytes))),
            ("version", .integer(Int64(vault.version))),
          ])
        }
        members.append(("vaults", .array(vaults)))
      }
      return .object(members)
    }
  }
#endif
