internal import ArgumentParser
internal import VaultCore

/// `secretprefs audit verify`.
struct VerifyAudit: ToolCommand {
  static let configuration = CommandConfiguration(
    commandName: "verify",
    abstract: "Verifies the log of each access group that the credential opens.",
    usage: "secretprefs audit verify [<options>]",
    discussion: """
      Reports events that were changed, removed, added or moved, and logs that were cut off. A finding is certain if \
      the bytes are not those that programs wrote, whatever crashed or was moved or restored; the exit code is then \
      76. It is possible if a crash, a power failure, a restored backup or a moved file also explains it; the exit \
      code is then 1. Reads are not synced to the disk, so a power failure can take the newest of them. Findings that \
      "secretprefs audit acknowledge" has recorded are listed and do not count. Files that have the name of a log and \
      belong to no access group are listed, and the exit code is 1. Of a vault in a database, the command first \
      delivers what this machine has logged, then verifies what all machines have delivered, and says up to where: \
      what a machine logged later is known on that machine alone. Without a mark (--mark), who kept a \
      copy of a log can put it back, and what was logged since is gone without a finding.

      EXAMPLE:
        secretprefs audit verify
        secretprefs audit verify --json
      """)

  @OptionGroup var vault: VaultOptions
  @OptionGroup var unlock: UnlockOptions

  func perform(_ messages: Messages) throws {
    let vault = try unlock.complete(try vault.access()).open(messages)
    vault.deliverLogs(messages)
    let policy = try vault.auditing()
    var groups: [GroupLogs] = []
    for group in try vault.auditedGroups(named: nil) {
      groups.append(
        GroupLogs(
          group: group.name.text, local: try vault.localLog(of: group),
          collected: try vault.readCollectedAuditLogs(of: group)))
    }
    let unread = try vault.unreadAuditLogs()
    if self.vault.json {
      try Output.write(
        .object([
          ("auditing", .string(policy?.name ?? AuditPolicy.nameOfNone)),
          ("groups", .array(groups.map(\.json))), ("unread", .array(unread.map(\.json))),
        ]))
    } else {
      try Output.write(
        "auditing is \(policy?.words ?? AuditPolicy.nameOfNone)\n"
          + groups.map(\.text).joined() + unread.map(\.line).joined())
    }
    try AuditFinding.refuse(groups.flatMap(\.findings))
    try UnreadAuditLog.refuse(unread)
  }
}
