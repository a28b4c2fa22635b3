internal import ArgumentParser

/// `secretprefs history`.
struct History: ParsableCommand {
  static let configuration = CommandConfiguration(
    parent: "history",
    abstract: "Lists and restores earlier values of a key.",
    arguments: "[<options>] <key> [<revision>]",
    discussion: """
      "secretprefs set --history" and "secretprefs edit --history" set how many earlier values a key keeps; the \
      default is none. "secretprefs get --revision" reads one. If a key is named list or restore, put \
      "history list" or "--" in front of it.

      EXAMPLE:
        secretprefs history github
        secretprefs history restore github 7
        secretprefs history -- restore
      """,
    subcommands: [ListHistory.self, RestoreValue.self],
    defaultSubcommand: ListHistory.self)
}
