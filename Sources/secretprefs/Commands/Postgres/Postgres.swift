internal import ArgumentParser

/// `secretprefs postgres`.
struct Postgres: ParsableCommand {
  static let configuration = CommandConfiguration(
    parent: "postgres",
    abstract: "Prepares a PostgreSQL database for vaults, and moves vaults to and from it.",
    discussion: """
      All commands for vaults work on a vault in a database: --vault or $SECRETPREFS_VAULT is then its URL, \
      \(DatabaseURL.form), with the parameters of libpq. The database keeps the sealed bytes of the vault. The server \
      is verified as with sslmode=verify-full, unless the host is a Unix socket. A password is never in the URL: libpq \
      reads it from ~/.pgpass or the file in $PGPASSFILE.

      EXAMPLE:
        secretprefs postgres init --vault postgresql://db.example.com/secrets
        secretprefs postgres grant writer shop --vault postgresql://db.example.com/secrets
        secretprefs postgres import shop.spv --vault 'postgresql://db.example.com/secrets#shop'
        secretprefs get token --vault 'postgresql://db.example.com/secrets#shop'
      """,
    subcommands: [
      InitDatabase.self, GrantRole.self, DatabaseStatus.self, PruneLogs.self, ImportVault.self, ExportVault.self,
    ])
}
