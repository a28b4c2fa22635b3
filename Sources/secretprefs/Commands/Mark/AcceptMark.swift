internal import ArgumentParser
internal import VaultCore

/// `secretprefs mark accept`.
struct AcceptMark: WritingCommand {
  static let configuration = CommandConfiguration(
    commandName: "accept",
    abstract: "Sets the mark to the current state of the vault, even if it is older.",
    usage: "secretprefs mark accept [<options>]",
    discussion: """
      Use it after restoring a backup on purpose. Asks for confirmation if the vault is older than the mark, or if \
      the mark belongs to a different vault.

      EXAMPLE:
        secretprefs mark accept --mark /var/lib/marks/shop
        secretprefs mark accept --mark /var/lib/marks/shop --yes
      """)

  @OptionGroup var vault: VaultOptions
  @OptionGroup var unlock: UnlockOptions

  @Flag(help: "Accept without confirmation.")
  var yes = false

  func perform(_ messages: Messages) throws {
    var access = try unlock.complete(try vault.access())
    let path = try access.takeMark()
    let mark = try RollbackMark.read(at: path)
    let vault = try access.open(messages)
    let isOther = try vault.currentMark().vaultID != mark.vaultID
    let objection = try isOther ? "the mark belongs to a different vault" : MarkComparison(mark, vault).refusal?.message
    if let objection, !yes {
      try Prompt.confirm(
        "Accept the current vault, although \(objection)?", otherwise: objection, mayPrompt: access.mayPrompt)
    }
    try vault.acceptMark(at: path)
    Output.recordChange(by: Self.self)
    guard self.vault.json else { return }
    try Output.write(.object([("mark", .string(path)), ("lowered", .bool(objection != nil))]))
  }
}
