internal import ArgumentParser

/// `secretprefs groups`.
struct Groups: ParsableCommand {
  static let configuration = CommandConfiguration(
    parent: "groups",
    abstract: "Lists and changes access groups.",
    discussion: """
      An access group contains records that are sealed with the group's own key. Owners of the vault can open all \
      groups; a slot created with "secretprefs slots add --for-group" opens only one.

      EXAMPLE:
        secretprefs groups
        secretprefs groups create billing
      """,
    subcommands: [ListGroups.self, CreateGroup.self, RenameGroup.self, RemoveGroup.self],
    defaultSubcommand: ListGroups.self)
}
