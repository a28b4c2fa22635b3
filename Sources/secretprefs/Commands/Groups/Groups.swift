internal import ArgumentParser

/// `secretprefs groups`.
struct Groups: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "groups",
    abstract: "Lists and changes access groups.",
    usage: "secretprefs groups [list | create | rename | remove]",
    discussion: """
      An access group holds records under a key of its own. An owner of the vault opens all groups; a slot \
      made with "secretprefs slots add --for-group" opens one.

      EXAMPLE:
        secretprefs groups
        secretprefs groups create billing
      """,
    subcommands: [ListGroups.self, CreateGroup.self, RenameGroup.self, RemoveGroup.self],
    defaultSubcommand: ListGroups.self)
}
