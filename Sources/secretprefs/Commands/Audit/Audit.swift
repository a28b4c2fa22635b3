internal import ArgumentParser

/// `secretprefs audit`.
struct Audit: ParsableCommand {
  static let configuration = CommandConfiguration(
    parent: "audit",
    abstract: "Logs reads and writes of keys, and shows and verifies the logs.",
    discussion: """
      The log says who read or wrote which key and when, and never a value. It is sealed and chained: an entry that is \
      changed, removed, added or moved is reported, and so is a log that was cut off. The log of each access group is \
      beside the vault, in a file whose name ends in .audit- and the id of the group; anyone with the group's \
      key can read it. Move it together with the vault. Every program that uses the vault logs, before it gets a value or makes a \
      change. A complete earlier copy of a log is not detected, nor what a program does that has the key and does \
      not log.

      EXAMPLE:
        secretprefs audit on
        secretprefs audit show --since 7d
        secretprefs audit verify
      """,
    subcommands: [ShowAudit.self, VerifyAudit.self, StartAudit.self, StopAudit.self],
    defaultSubcommand: ShowAudit.self)
}
