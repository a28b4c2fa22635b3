internal import ArgumentParser
internal import VaultCore

/// `secretprefs mark show`.
struct ShowMark: ToolCommand {
  static let configuration = CommandConfiguration(
    commandName: "show",
    abstract: "Compares the vault with its mark.",
    usage: "secretprefs mark [show] [<options>]",
    discussion: """
      Shows the states of the vault and the mark, one line for the owners' writes, one for each access group and one \
      for each log. Does not raise the mark. The exit code is 76 if the vault is older than the mark, or as old with \
      different contents.

      EXAMPLE:
        secretprefs mark --mark /var/lib/marks/shop
        secretprefs mark show --mark /var/lib/marks/shop --json
      """)

  @OptionGroup var vault: VaultOptions
  @OptionGroup var unlock: UnlockOptions

  func perform(_ messages: Messages) throws {
    var access = try unlock.complete(try vault.access())
    let mark = try RollbackMark.read(at: try access.takeMark())
    let comparison = try MarkComparison(mark, try access.open(messages))
    try vault.json ? Output.write(comparison.json) : Output.write(comparison.text)
    if let refusal = comparison.refusal { throw refusal }
  }
}
