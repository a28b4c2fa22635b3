internal import ArgumentParser
internal import VaultCore

#if PostgreSQL
  internal import VaultPostgres
#endif

/// The options of the commands that work on a database.
struct DatabaseOptions: ParsableArguments {
  @Option(
    name: FastPathOption.vault.name,
    help: ArgumentHelp(
      "The URL of the database.",
      discussion: "The name of a vault behind # is ignored. Default: $SECRETPREFS_VAULT.", valueName: "url"))
  var vault: String?

  @Flag(help: .json)
  var json = false

  #if PostgreSQL
    /// Connects.
    func connected() throws -> PostgresDatabase {
      guard let text = try vault ?? VaultLocation.variable("SECRETPREFS_VAULT") else {
        throw ToolError.usage("no database is named", hint: "--vault names it: postgresql://host/database")
      }
      guard let url = try DatabaseURL(text) else {
        throw ToolError.usage("the vault is in a file", hint: "--vault names a database: postgresql://host/database")
      }
      do throws(VaultError) { return try PostgresDatabase(url.database) } catch {
        throw DatabaseHints.isAbout(error) ? ToolError(error) : DatabaseURL.refusal(error)
      }
    }
  #endif
}
