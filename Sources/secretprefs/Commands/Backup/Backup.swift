internal import ArgumentParser

/// `secretprefs backup`.
struct Backup: ParsableCommand {
  static let configuration = CommandConfiguration(
    parent: "backup",
    abstract: "Creates and restores verified copies of the vault.",
    arguments: "[<options>] <file>",
    discussion: """
      If a backup file is named create or restore, write it as a path: ./restore.

      EXAMPLE:
        secretprefs backup /var/backups/shop/secrets.spv
        secretprefs backup restore /var/backups/shop/secrets.spv
      """,
    subcommands: [CreateBackup.self, RestoreBackup.self],
    defaultSubcommand: CreateBackup.self)
}
