internal import ArgumentParser
internal import VaultCore

/// `secretprefs audit show`.
struct ShowAudit: ToolCommand {
  static let configuration = CommandConfiguration(
    commandName: "show",
    abstract: "Shows the log of each access group that the credential opens.",
    usage: "secretprefs audit [show] [<options>]",
    discussion: """
      One read or write per line, for each group the oldest first: time, action, group, service, key, user id, process \
      id, program, and the slot that opened the vault. Characters that mislead a reader are shown as "secretprefs \
      list" shows them. Spaces beside spaces, at an end of a name, or other than U+0020, and a name that is only "-", \
      are shown as \\u{20} and so on, so that no name can be taken for several columns or for a missing one. An event \
      says that the read or write was asked for; a write may have failed afterwards. All files of a log are shown, \
      also those that were handed over, and of a vault in a database what all machines have delivered. If a log is not \
      whole, the events that verify are shown, and the exit code is that of "secretprefs audit verify".

      --service, --match and --except choose the keys whose events are shown; then events without a key are not. \
      Without --group it is the logs of all groups, as with --all-groups, which also warns about groups that the \
      credential does not open.

      EXAMPLE:
        secretprefs audit show --service com.example.shop --since 24h
        secretprefs audit show --group billing --json
        secretprefs audit show --all-groups --match 'db/*'
      """)

  @OptionGroup var vault: VaultOptions
  @OptionGroup var unlock: UnlockOptions

  @Option(help: ArgumentHelp("Show the log of this access group only.", valueName: "name"), completion: .groups)
  var group: String?

  @Option(help: ArgumentHelp("Show the keys of this service only.", valueName: "name"), completion: .services)
  var service: String?

  @OptionGroup var scope: ScopeOptions
  @OptionGroup var patterns: PatternOptions

  @Option(
    help: ArgumentHelp(
      "Show what was logged since this time in UTC, or in the last \(Expiry.units()).",
      discussion: "Example: 2027-01-31T12:00:00Z, 1y, 2w, 90d, 12h, 30m, 45s", valueName: "time"))
  var since: String?

  func perform(_ messages: Messages) throws {
    try scope.check(service: service, group: group)
    let choice = try patterns.choice()
    let access = try unlock.complete(try vault.access())
    let service = try service.map { try Vault.Name($0) }
    let start = try since.map { try Self.start($0, now: access.options.now()) } ?? .min
    let vault = try access.open(messages)
    vault.deliverLogs(messages)
    var found: [(group: AccessGroup, machine: String?, event: AuditEvent)] = []
    var findings: [AuditFinding] = []
    func isShown(_ event: AuditEvent) -> Bool {
      event.time >= start && (service == nil || event.service == service)
        && (choice.isEveryKey || event.key.map { choice.includes($0.text) } ?? false)
    }
    for group in scope.allGroups ? try vault.allGroups(messages) : try vault.auditedGroups(named: group) {
      let local = try vault.localLog(of: group) { event in if isShown(event) { found.append((group, nil, event)) } }
      var delivered: [(group: AccessGroup, machine: String?, event: AuditEvent)] = []
      let logs = try vault.readCollectedAuditLogs(of: group) { machine, event in
        if isShown(event) { delivered.append((group, machine, event)) }
      }
      for log in logs ?? [] {
        messages.tell("group \(displayed(group.name.text)), \(log.title): \(log.reach)")
        if log.isOwn { delivered.removeAll { $0.machine == log.machine } }
      }
      found += delivered
      findings += GroupLogs(group: group.name.text, local: local, collected: logs).findings
    }
    if self.vault.json {
      try Output.write(.array(found.map { $0.event.json(of: $0.group, machine: $0.machine) }))
    } else {
      try Output.write(Table(rows: found.map { $0.event.row(of: $0.group, machine: $0.machine) }).text)
    }
    try AuditFinding.refuse(findings, areShown: false)
  }

  private static func start(_ text: String, now: Int64) throws(ToolError) -> Int64 {
    if let time = Timestamp(text) { return time.milliseconds }
    guard Expiry.milliseconds(text) != nil else {
      throw .usage("--since must be a time in UTC, or a whole number of \(Expiry.units())", hint: usage)
    }
    return now - (try Expiry.duration(text))
  }
}
