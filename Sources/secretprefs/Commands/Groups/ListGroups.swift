internal import ArgumentParser
internal import VaultCore

/// `secretprefs groups list`.
struct ListGroups: ToolCommand {
  static let configuration = CommandConfiguration(
    commandName: "list",
    abstract: "Lists the access groups that the credential opens.",
    usage: "secretprefs groups [list] [<options>]",
    discussion: """
      One group per line, ordered by the bytes of the name: name, number of records, generation (number of writes) \
      and epoch (1, plus 1 for each rotation of its key). Every group is verified.

      EXAMPLE:
        secretprefs groups list
        secretprefs groups list --json
      """)

  @OptionGroup var vault: VaultOptions
  @OptionGroup var unlock: UnlockOptions

  func perform(_ messages: Messages) throws {
    let vault = try unlock.complete(try vault.access()).open(messages)
    let groups = try vault.status().groups.sorted { $0.name < $1.name }
    guard !self.vault.json else { return try Output.write(.array(groups.map(\.json))) }
    try Output.write(Table(rows: groups.map { [displayed($0.name.text), $0.words] }).text)
  }
}
