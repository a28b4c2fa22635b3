internal import ArgumentParser
internal import DurableFiles
internal import VaultCore

/// `secretprefs mark init`.
struct InitMark: WritingCommand {
  static let configuration = CommandConfiguration(
    commandName: "init",
    abstract: "Creates a mark with the current state of the vault.",
    usage: "secretprefs mark init [<options>]",
    discussion: """
      Use it for a vault that was created without a mark. A new mark cannot detect that the vault is already an older \
      copy. With a credential for one access group the mark covers only that group.

      EXAMPLE:
        secretprefs mark init --mark /var/lib/marks/shop
      """)

  @OptionGroup var vault: VaultOptions
  @OptionGroup var unlock: UnlockOptions

  func perform(_ messages: Messages) throws {
    var access = try unlock.complete(try vault.access())
    let path = try access.takeMark()
    try access.checkOutput(path, as: "the mark", kind: .mark)
    try access.open(messages).createMark(at: path)
    Output.recordChange(by: Self.self)
    if vault.json { try Output.write(.object([("mark", .string(path))])) }
  }
}
