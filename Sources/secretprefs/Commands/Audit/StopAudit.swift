internal import ArgumentParser
internal import VaultCore

/// `secretprefs audit off`.
struct StopAudit: WritingCommand {
  static let configuration = CommandConfiguration(
    commandName: "off",
    abstract: "Switches the logs of all access groups off.",
    usage: "secretprefs audit off [<options>]",
    discussion: """
      The logs stay, and can still be shown and verified. Works on a full disk.

      EXAMPLE:
        secretprefs audit off
      """)

  @OptionGroup var vault: VaultOptions
  @OptionGroup var unlock: UnlockOptions

  func perform(_ messages: Messages) throws {
    let vault = try unlock.complete(try vault.access()).open(messages)
    let change = try vault.setAuditing(nil)
    vault.recordChange(by: Self.self, messages)
    change.warnIfPartial(messages)
    if self.vault.json { try Output.write(.object([("auditing", .string(AuditPolicy.nameOfNone))])) }
  }
}
