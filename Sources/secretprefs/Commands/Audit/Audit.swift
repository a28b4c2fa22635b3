internal import ArgumentParser

/// `secretprefs audit`.
struct Audit: ParsableCommand {
  static let configuration = CommandConfiguration(
    parent: "audit",
    abstract: "Logs reads and writes of keys, and shows and verifies the logs.",
    discussion: """
      The log says who read or wrote which key and when, and never a value. It is sealed and chained: an event that is \
      changed, removed, added or moved is reported, and so is a log that was cut off or begun anew. The log of each \
      access group is beside the vault, in a file whose name ends in .audit- and the id of the group, and in files \
      with a number behind that name, which were handed over when they were full; anyone with the group's key can read \
      them. Move them together with the vault. The logs of a vault in a database are in a folder of each machine, \
      which --logs or $SECRETPREFS_LOGS names for all its programs; without one, such a vault is not read. Each \
      machine logs what its programs do, and begins with an event that says so, which "secretprefs audit verify" \
      reports until it is acknowledged. What was logged is delivered to the database, where "secretprefs audit show" \
      and "secretprefs audit verify" find the logs of all machines. Every program that uses the vault logs, before it \
      gets a value or makes a change. With a mark (--mark), a log that was put back, cut off or removed is noticed by \
      the next read. Without one, who kept a copy of a log, or only of its first 256 bytes, can put it back, and what \
      was logged since is gone without a finding. Not seen is a program that has the key and does not log.

      EXAMPLE:
        secretprefs audit on
        secretprefs audit show --since 7d
        secretprefs audit verify
      """,
    subcommands: [
      ShowAudit.self, VerifyAudit.self, StartAudit.self, StopAudit.self, RotateAudit.self, AcknowledgeAudit.self,
    ],
    defaultSubcommand: ShowAudit.self)
}
