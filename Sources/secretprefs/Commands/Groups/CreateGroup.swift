internal import ArgumentParser
internal import VaultCore

/// `secretprefs groups create`.
struct CreateGroup: WritingCommand {
  static let configuration = CommandConfiguration(
    commandName: "create",
    abstract: "Creates an empty access group.",
    usage: "secretprefs groups create [<options>] <name>",
    discussion: """
      EXAMPLE:
        secretprefs groups create billing
        secretprefs set invoice-token --group billing < token.txt
      """)

  @OptionGroup var vault: VaultOptions
  @OptionGroup var unlock: UnlockOptions

  @Argument(help: ArgumentHelp("The group's name.", valueName: "name"))
  var names: [String] = []

  func perform(_ messages: Messages) throws {
    let name = try Self.sole(names, "name")
    let access = try unlock.complete(try vault.access())
    _ = try Vault.Name(name)
    let vault = try access.open(messages)
    let group = try vault.createGroup(name)
    vault.recordChange(by: Self.self, messages)
    if self.vault.json { try Output.write(.object([("group", .string(group.name.text))])) }
  }
}
