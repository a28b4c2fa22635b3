internal import ArgumentParser
internal import VaultCore

/// `secretprefs mark accept`.
struct AcceptMark: ToolCommand {
  static let configuration = CommandConfiguration(
    commandName: "accept",
    abstract: "Makes the mark say what the vault is now, even if that is less.",
    usage: "secretprefs mark accept [<options>]",
    discussion: """
      After a backup was put back on purpose. Asks on the terminal first if the vault is older than the mark, or \
      the mark is of another vault.

      EXAMPLE:
        secretprefs mark accept --mark /var/lib/marks/shop
        secretprefs mark accept --mark /var/lib/marks/shop --yes
      """)

  @OptionGroup var vault: VaultOptions
  @OptionGroup var unlock: UnlockOptions

  @Flag(help: "Do it without asking.")
  var yes = false

  func perform(_ messages: Messages) throws {
    var access = try unlock.complete(try vault.access())
    let path = try access.takeMark()
    let mark = try RollbackMark.read(at: path)
    let vault = try access.open(messages)
    let isOther = try vault.currentMark().vaultID != mark.vaultID
    let objection = try isOther ? "the mark is of another vault" : MarkComparison(mark, vault).refusal?.message
    if let objection, !yes {
      try Prompt.confirm(
        "Accept the vault as it is, though \(objection)?", otherwise: objection, mayPrompt: access.mayPrompt)
    }
    try vault.acceptMark(at: path)
    Output.noteChange()
    guard self.vault.json else { return }
    try Output.write(.object([("mark", .string(path)), ("lowered", .bool(objection != nil))]))
  }
}
