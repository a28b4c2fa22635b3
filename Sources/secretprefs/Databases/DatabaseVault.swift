internal import VaultCore

#if PostgreSQL
  internal import VaultPostgres
#endif

/// A vault in a PostgreSQL database.
struct DatabaseVault {
  /// Keeps its connection for the whole command. Does not connect before it is used.
  let storage: any VaultStorage
  /// Where machines ask for access to the vault.
  let requests: any RequestPlace
  private let database: String
  private let vault: String
  private let logFolder: String?

  /// - Parameter logFolder: The folder of this machine for logs; `nil` if none is named.
  init(_ url: DatabaseURL, logFolder: String?) throws(ToolError) {
    guard let vault = url.vault else {
      throw .usage("the URL names a database and no vault in it", hint: "its name follows #: \(DatabaseURL.form)")
    }
    try self.init(url.database, vault: vault, logFolder: logFolder)
  }

  private init(_ database: String, vault: String, logFolder: String?) throws(ToolError) {
    self.database = database
    self.vault = vault
    self.logFolder = logFolder
    #if PostgreSQL
      var options = PostgresStorage.Options()
      // A command reads what is there when it begins, and each of its writes what is there then.
      options.freshness = nil
      options.logFolder = logFolder
      do throws(VaultError) { _ = try Vault.Name(vault) } catch { throw ToolError(error) }
      let storage: PostgresStorage
      do throws(VaultError) { storage = try PostgresStorage(database, vault: vault, options: options) } catch {
        throw DatabaseURL.refusal(error)
      }
      self.storage = storage
      requests = RequestTable(storage)
    #else
      throw Self.isNotBuilt
    #endif
  }

  /// A vault in the same database that has a word more in its name.
  func sibling(_ word: String) throws(ToolError) -> DatabaseVault {
    try DatabaseVault(database, vault: "\(vault).\(word)", logFolder: logFolder)
  }

  /// What keeps the vault from being changed.
  var problems: [Problem] {
    get throws(VaultError) {
      #if PostgreSQL
        let status = try PostgresDatabase(database).status()
        var problems: [Problem] = []
        if status.isReplica {
          problems.append(
            Problem(
              .advice, "readOnly", "the server is a replica: the vault cannot be changed", repair: "name the primary"))
        } else if !status.mayWrite {
          problems.append(
            Problem(
              .advice, "readOnly", "the role may not write vaults: the vault cannot be changed",
              repair: DatabaseHints.grantWriter))
        }
        if logFolder != nil, status.mayRead, !status.mayLog {
          problems.append(
            Problem(
              .warning, "logsNotDelivered", "the role may not deliver logs: they stay on this machine",
              repair: DatabaseHints.grantReader))
        }
        if !status.isDurable {
          problems.append(
            Problem(
              .error, "notDurable", "the server has fsync = off: writes are refused, because they may be lost",
              repair: "turn fsync on"))
        }
        return problems
      #else
        []
      #endif
    }
  }

  /// The error of a tool that was built without the trait.
  static let isNotBuilt = ToolError.usage(
    "this secretprefs opens vaults in files only",
    hint: "for vaults in databases, use one that is built with the package trait PostgreSQL; the static one is not")
}
