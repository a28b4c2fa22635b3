internal import ArgumentParser

/// `secretprefs bundle`.
struct Bundles: ParsableCommand {
  static let configuration = CommandConfiguration(
    parent: "bundle",
    abstract: "Transfers selected keys to another vault in an encrypted file.",
    discussion: """
      A bundle is a small vault with its own passphrase or key. Send the file and the key over different channels. \
      All commands for vaults work on bundles.

      EXAMPLE:
        secretprefs bundle export --to t.spv --new-key-file t.key github gitlab
        secretprefs bundle import t.spv --bundle-key-file t.key
      """,
    subcommands: [ExportBundle.self, ImportBundle.self])
}
