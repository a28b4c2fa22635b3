internal import ArgumentParser
internal import VaultCore

/// `secretprefs slots list`.
struct ListSlots: ToolCommand {
  static let configuration = CommandConfiguration(
    commandName: "list",
    abstract: "Lists the unlock slots.",
    usage: "secretprefs slots [list] [<options>]",
    discussion: """
      One slot per line: the first digits of its id, its kind and the cost of a guess, what it opens, its creation \
      time and its label. An asterisk marks the slot that unlocked the vault for this command. Of a holder by public \
      key, the first digits of the key are shown; --json has all of them.

      EXAMPLE:
        secretprefs slots list
        secretprefs slots list --json
      """)

  @OptionGroup var vault: VaultOptions
  @OptionGroup var unlock: UnlockOptions

  func perform(_ messages: Messages) throws {
    let slots = try unlock.complete(try vault.access()).open(messages).slots()
    guard !vault.json else { return try Output.write(.array(slots.map(\.json))) }
    try Output.write(
      Table(
        rows: slots.map { slot in
          [
            "\(slot.isCurrent ? "*" : " ") \(slot.id.short)", slot.credential, slot.scope,
            Timestamp(milliseconds: slot.created)?.text ?? "-", displayed(slot.label),
          ]
        }
      ).text)
  }
}
