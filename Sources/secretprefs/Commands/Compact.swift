internal import ArgumentParser
internal import VaultCore

/// `secretprefs compact`.
struct Compact: WritingCommand {
  static let configuration = CommandConfiguration(
    commandName: "compact",
    abstract: "Rewrites the file without removed and replaced values.",
    usage: "secretprefs compact [<options>]",
    discussion: """
      Until then the sealed bytes of removed and replaced values stay in the file. A credential for one access \
      group rewrites only that group. Encryption keys do not change.

      EXAMPLE:
        secretprefs compact
      """)

  @OptionGroup var vault: VaultOptions
  @OptionGroup var unlock: UnlockOptions

  func perform(_ messages: Messages) throws {
    let access = try unlock.complete(try vault.access())
    let vault = try access.open(messages)
    try vault.compact()
    vault.recordChange(by: Self.self, messages)
    if self.vault.json { try Output.write(.object([("vault", .string(access.location.path))])) }
  }
}
