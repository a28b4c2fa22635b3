internal import ArgumentParser

/// `secretprefs bundle`.
struct Bundles: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "bundle",
    abstract: "Carries chosen keys to another vault, sealed.",
    usage: "secretprefs bundle [export | import]",
    discussion: """
      A bundle is a small vault file under a passphrase or key of its own, which goes another way than the file. \
      Every command for vaults works on it.

      EXAMPLE:
        secretprefs bundle export --to t.spv --new-key-file t.key github gitlab
        secretprefs bundle import t.spv --bundle-key-file t.key
      """,
    subcommands: [ExportBundle.self, ImportBundle.self])
}
