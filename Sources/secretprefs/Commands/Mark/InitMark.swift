internal import ArgumentParser
internal import VaultCore

/// `secretprefs mark init`.
struct InitMark: ToolCommand {
  static let configuration = CommandConfiguration(
    commandName: "init",
    abstract: "Makes a mark of the vault as it is now.",
    usage: "secretprefs mark init [<options>]",
    discussion: """
      For a vault that was made without one. Whether the vault is an older copy already, a new mark cannot tell. \
      With a credential for one access group the mark has a line for that group alone.

      EXAMPLE:
        secretprefs mark init --mark /var/lib/marks/shop
      """)

  @OptionGroup var vault: VaultOptions
  @OptionGroup var unlock: UnlockOptions

  func perform(_ messages: Messages) throws {
    var access = try unlock.complete(try vault.access())
    let path = try access.takeMark()
    try access.open(messages).createMark(at: path)
    Output.noteChange()
    if vault.json { try Output.write(.object([("mark", .string(path))])) }
  }
}
