internal import ArgumentParser
internal import VaultCore

/// `secretprefs audit verify`.
struct VerifyAudit: ToolCommand {
  static let configuration = CommandConfiguration(
    commandName: "verify",
    abstract: "Verifies the log of each access group that the credential opens.",
    usage: "secretprefs audit verify [<options>]",
    discussion: """
      Reports entries that were changed, removed, added or moved, and logs that were cut off. The exit code is 76 if a \
      log was changed without its key, or is damaged. It is 1 if what is wrong can also be what a crash or a power \
      failure has left: reads are not synced to the disk, so a power failure can take the newest entries. A complete \
      earlier copy of a log verifies.

      EXAMPLE:
        secretprefs audit verify
        secretprefs audit verify --json
      """)

  @OptionGroup var vault: VaultOptions
  @OptionGroup var unlock: UnlockOptions

  func perform(_ messages: Messages) throws {
    let vault = try unlock.complete(try vault.access()).open(messages)
    let policy = try vault.auditing()
    var reports: [(name: String, report: AuditReport)] = []
    for group in try vault.auditedGroups(named: nil) {
      reports.append((group.name.text, try vault.readAuditLog(of: group)))
    }
    if self.vault.json {
      try Output.write(
        .object([
          ("auditing", .string(policy?.name ?? AuditPolicy.nameOfNone)),
          ("groups", .array(reports.map { $0.report.json(of: $0.name) })),
        ]))
    } else {
      try Output.write(
        "auditing is \(policy?.words ?? AuditPolicy.nameOfNone)\n"
          + reports.map { $0.report.text(of: $0.name) }.joined())
    }
    try AuditProblem.refuse(reports.flatMap(\.report.problems))
  }
}
