internal import ArgumentParser
internal import VaultCore

/// `secretprefs audit acknowledge`.
struct AcknowledgeAudit: WritingCommand {
  static let configuration = CommandConfiguration(
    commandName: "acknowledge",
    abstract: "Records that the present findings of the logs are known.",
    usage: "secretprefs audit acknowledge [<options>]",
    discussion: """
      Writes an event with the findings of "secretprefs audit verify" into each log, and prints them. Later \
      verifications list them as acknowledged and do not count them; a further change of the same log is a new \
      finding. Use it after a crash whose cause is known. What describes the present, such as a missing log, or one \
      that is older than the mark, cannot be acknowledged: it is listed, and the exit code is that of \
      "secretprefs audit verify". Needs no owner.

      EXAMPLE:
        secretprefs audit verify
        secretprefs audit acknowledge
      """)

  @OptionGroup var vault: VaultOptions
  @OptionGroup var unlock: UnlockOptions

  @Option(help: ArgumentHelp("The log of this access group only.", valueName: "name"), completion: .groups)
  var group: String?

  func perform(_ messages: Messages) throws {
    let vault = try unlock.complete(try vault.access()).open(messages)
    var found: [(name: String, findings: [AuditFinding], open: [AuditFinding])] = []
    for group in try vault.auditedGroups(named: group) {
      let done = found.filter { !$0.findings.isEmpty }.map(\.name)
      let (findings, report) = try acknowledge(group, of: vault, after: done)
      if !findings.isEmpty { vault.recordChange(by: Self.self, messages) }
      found.append((group.name.text, findings, report.open))
    }
    if self.vault.json {
      try Output.write(
        .object([
          (
            "groups",
            .array(
              found.map { group in
                .object([
                  ("group", .string(group.name)), ("acknowledged", .array(group.findings.map(\.json))),
                  ("open", .array(group.open.map(\.json))),
                ])
              })
          )
        ]))
    } else {
      try Output.write(
        found.map { group in
          "group \(displayed(group.name)): \(counted(group.findings.count, "finding", "findings")) acknowledged\n"
            + group.findings.map { "  \(displayed($0.description))\n" }.joined()
            + group.open.map { "  not acknowledged, \($0.words)\n" }.joined()
        }.joined())
    }
    try AuditFinding.refuse(found.flatMap(\.open))
  }

  /// - Parameter done: the groups in whose logs findings were acknowledged.
  private func acknowledge(
    _ group: AccessGroup, of vault: Vault, after done: [String]
  ) throws(VaultError) -> (acknowledged: [AuditFinding], report: AuditReport) {
    do throws(VaultError) { return try vault.acknowledgeAudit(of: group) } catch {
      throw error.concerning(group, after: done)
    }
  }
}
