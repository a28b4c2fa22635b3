internal import ArgumentParser
internal import VaultCore

/// `secretprefs compact`.
struct Compact: ToolCommand {
  static let configuration = CommandConfiguration(
    commandName: "compact",
    abstract: "Writes the file anew, without what was removed or replaced.",
    usage: "secretprefs compact [<options>]",
    discussion: """
      Until then the sealed bytes of removed and replaced values stay in the file. With a credential for one \
      access group, that group alone is written anew. Keys do not change.

      EXAMPLE:
        secretprefs compact
      """)

  @OptionGroup var vault: VaultOptions
  @OptionGroup var unlock: UnlockOptions

  func perform(_ messages: Messages) throws {
    let access = try unlock.complete(try vault.access())
    let vault = try access.open(messages)
    try vault.compact()
    vault.noteChange(messages)
    if self.vault.json { try Output.write(.object([("vault", .string(access.location.path))])) }
  }
}
