internal import ArgumentParser
internal import VaultCore

/// `secretprefs history removed`.
struct ListRemoved: ToolCommand {
  static let configuration = CommandConfiguration(
    commandName: "removed",
    abstract: "Lists removed keys that can be restored.",
    usage: "secretprefs history removed [<options>]",
    discussion: """
      One key per line: name, time of the removal, time until which it is kept, and number of values. The first write \
      after that time drops the key; until then it is listed.

      EXAMPLE:
        secretprefs history removed
        secretprefs history removed --service git
        secretprefs history removed --all-services --all-groups --json
      """)

  @OptionGroup var vault: VaultOptions
  @OptionGroup var unlock: UnlockOptions
  @OptionGroup var record: RecordOptions

  @OptionGroup var scope: ScopeOptions

  func perform(_ messages: Messages) throws {
    let scope = try scope.scope(try record.place(), record, KeyChoice())
    let access = try unlock.complete(try vault.access())
    let vault = try access.open(messages)
    let removed = try scope.groups(in: vault, messages).flatMap { (group) throws(VaultError) in
      try vault.removedRecords(service: scope.service, in: group).map { (group: group, record: $0) }
    }
    guard !self.vault.json else { return try Output.write(.array(removed.map { $0.record.json(in: $0.group) })) }
    let rows = removed.map { group, record in
      scope.names(group, record.service, record.key) + [
        "removed \(Timestamp.text(of: record.removed))",
        "kept until \(Timestamp.text(of: record.keptUntil))", counted(record.previous.count, "value", "values"),
      ]
    }
    try Output.write(Table(rows: rows).text)
  }
}

extension RemovedRecord {
  fileprivate func json(in group: AccessGroup) -> JSON {
    .object([
      ("group", .string(group.name.text)), ("service", .string(service.text)), ("key", .string(key.text)),
      ("removed", .time(removed)),
      ("keptUntil", .time(keptUntil)), ("revisions", .array(previous.map { .unsigned($0.revision) })),
    ])
  }
}
