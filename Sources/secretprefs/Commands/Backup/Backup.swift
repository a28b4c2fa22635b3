internal import ArgumentParser

/// `secretprefs backup`.
struct Backup: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "backup",
    abstract: "Makes a verified copy of the vault, and puts one back.",
    usage: "secretprefs backup [create | restore] [<options>] <file>",
    discussion: """
      For a backup that is itself called create or restore, write a path: ./restore.

      EXAMPLE:
        secretprefs backup /var/backups/shop/secrets.spv
        secretprefs backup restore /var/backups/shop/secrets.spv
      """,
    subcommands: [CreateBackup.self, RestoreBackup.self],
    defaultSubcommand: CreateBackup.self)
}
