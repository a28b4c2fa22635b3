internal import ArgumentParser

/// `secretprefs slots`.
struct Slots: ParsableCommand {
  static let configuration = CommandConfiguration(
    parent: "slots",
    abstract: "Lists, adds, replaces and removes unlock slots.",
    discussion: """
      A slot is one way to unlock: a passphrase, a key file or an identity, for the whole vault or for one access \
      group. Only an owner can list and change slots.

      EXAMPLE:
        secretprefs slots
        secretprefs slots add --new-key-file ~/backup.key --label "in the safe"
      """,
    subcommands: [ListSlots.self, AddSlot.self, ReplaceSlot.self, RemoveSlot.self, PrintPin.self],
    defaultSubcommand: ListSlots.self)
}
