internal import ArgumentParser
internal import VaultCore

/// `secretprefs compact`.
struct Compact: WritingCommand {
  static let configuration = CommandConfiguration(
    commandName: "compact",
    abstract: "Rewrites the file without removed and replaced values.",
    usage: "secretprefs compact [<options>]",
    discussion: """
      Until then the sealed bytes of dropped values stay in the file: replaced values that are not kept as earlier \
      ones, and keys that were removed for good. Earlier values, and removed keys until their time has passed, are \
      kept: "secretprefs remove --now" removes a key for good. Copies of the file do not change. A credential for \
      one access group rewrites only that group. Encryption keys do not change.

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
    if self.vault.json { try Output.write(.object([("vault", .string(access.location.name))])) }
  }
}
