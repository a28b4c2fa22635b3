internal import ArgumentParser

/// `secretprefs history`.
struct History: ParsableCommand {
  static let configuration = CommandConfiguration(
    parent: "history",
    abstract: "Lists and restores earlier values and removed keys.",
    arguments: "[<options>] <key> [<revision>]",
    discussion: """
      The commands that store a value keep three earlier values of a key, unless the setting history, "secretprefs set \
      --history" or "secretprefs edit --history" has set a different number for it, and "secretprefs remove" keeps a \
      key for 30 days. A program that uses the vault keeps what it asks for; its default is nothing. "secretprefs get \
      --revision" reads an earlier value. The history keeps values and no metadata: only a removed key has the label, \
      comment, attributes and expiry that it had.

      Earlier values and removed keys are sealed in the file like all values, and open with the same credentials. \
      What is dropped, by a newer value, by "secretprefs edit --history 0" or by "secretprefs remove --now", stays in \
      the file as sealed bytes until "secretprefs compact" or another full write, and in every copy of the file and \
      every backup that was made before. "secretprefs rotate --group <name> --drop-history" drops the \
      earlier values and removed keys of a group.

      If a key is named list, removed, restore or undo, put "history list" or "--" in front of it.

      EXAMPLE:
        secretprefs history github
        secretprefs history removed
        secretprefs history restore github 7
        secretprefs history undo 12
        secretprefs history -- restore
      """,
    subcommands: [ListHistory.self, ListRemoved.self, RestoreValue.self, UndoWrite.self],
    defaultSubcommand: ListHistory.self)
}
