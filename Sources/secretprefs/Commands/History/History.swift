internal import ArgumentParser

/// `secretprefs history`.
struct History: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "history",
    abstract: "Lists the earlier values that a key keeps, and restores one.",
    usage: "secretprefs history [list | restore] [<options>] <key> [<revision>]",
    discussion: """
      A key keeps as many as "secretprefs set --history" or "secretprefs edit --history" says, and none without. \
      "secretprefs get --revision" writes one to standard output. For a key that is itself called list or \
      restore, write "history list" or two dashes before it.

      EXAMPLE:
        secretprefs history github
        secretprefs history restore github 7
        secretprefs history -- restore
      """,
    subcommands: [ListHistory.self, RestoreValue.self],
    defaultSubcommand: ListHistory.self)
}
