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
        secretprefs history removed --all-services --json
      """)

  @OptionGroup var vault: VaultOptions
  @OptionGroup var unlock: UnlockOptions
  @OptionGroup var record: RecordOptions

  @Flag(help: "List the keys of all services.")
  var allServices = false

  func perform(_ messages: Messages) throws {
    guard !allServices || record.service == nil else {
      throw ToolError.usage("--all-services and --service contradict each other")
    }
    let place = try record.place()
    let access = try unlock.complete(try vault.access())
    let vault = try access.open(messages)
    let group = try place.group(in: vault)
    let removed = try vault.removedRecords(service: allServices ? nil : place.service, in: group)
    guard !self.vault.json else { return try Output.write(.array(removed.map(\.json))) }
    let rows = removed.map { record in
      (allServices ? [displayed(record.service.text)] : []) + [
        displayed(record.key.text), "removed \(Timestamp.text(of: record.removed))",
        "kept until \(Timestamp.text(of: record.keptUntil))", counted(record.previous.count, "value", "values"),
      ]
    }
    try Output.write(Table(rows: rows).text)
  }
}

extension RemovedRecord {
  fileprivate var json: JSON {
    .object([
      ("service", .string(service.text)), ("key", .string(key.text)), ("removed", .time(removed)),
      ("keptUntil", .time(keptUntil)), ("revisions", .array(previous.map { .unsigned($0.revision) })),
    ])
  }
}
