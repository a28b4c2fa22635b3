internal import ArgumentParser

/// `secretprefs mark`.
struct Marks: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "mark",
    abstract: "Shows, makes and accepts the vault's rollback mark.",
    usage: "secretprefs mark [show | init | accept]",
    discussion: """
      A mark tells how far a vault was seen to have come. Every command that is given one refuses a vault that is \
      older, so that nobody puts an old copy back unnoticed, and raises the mark. It holds nothing secret, but \
      proves nothing where whoever can replace the vault can replace it, too: keep it on another disk or machine. \
      A mark that not every writer raises proves less.

      EXAMPLE:
        secretprefs mark init --mark /var/lib/marks/shop
        SECRETPREFS_MARK=/var/lib/marks/shop secretprefs get github
      """,
    subcommands: [ShowMark.self, InitMark.self, AcceptMark.self],
    defaultSubcommand: ShowMark.self)
}
