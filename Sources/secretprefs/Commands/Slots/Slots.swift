internal import ArgumentParser

/// `secretprefs slots`.
struct Slots: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "slots",
    abstract: "Lists, adds and removes ways to unlock.",
    usage: "secretprefs slots [list | add | remove]",
    discussion: """
      Each slot is one way to unlock: a passphrase or a key file, for the whole vault or for one access group. \
      Only an owner sees and changes them.

      EXAMPLE:
        secretprefs slots
        secretprefs slots add --new-key-file ~/backup.key --label "in the safe"
      """,
    subcommands: [ListSlots.self, AddSlot.self, RemoveSlot.self],
    defaultSubcommand: ListSlots.self)
}
