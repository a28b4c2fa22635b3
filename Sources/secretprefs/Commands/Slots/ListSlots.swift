internal import ArgumentParser
internal import VaultCore

/// `secretprefs slots list`.
struct ListSlots: ToolCommand {
  static let configuration = CommandConfiguration(
    commandName: "list",
    abstract: "Lists the ways to unlock.",
    usage: "secretprefs slots list [<options>]",
    discussion: """
      One slot a line: the first digits of its id, its kind and what a guess costs, what it opens, when it was \
      made, and its label. A star marks the slot that unlocked the vault just now.

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
            "\(slot.isCurrent ? "*" : " ") \(slot.shortID)", slot.kind.words, slot.scope,
            Timestamp(milliseconds: slot.created)?.text ?? "-", displayed(slot.label),
          ]
        }
      ).text)
  }
}
