internal import ArgumentParser
internal import VaultCore

/// `secretprefs history list`.
struct ListHistory: ToolCommand {
  static let configuration = CommandConfiguration(
    commandName: "list",
    abstract: "Lists the current and the earlier values, newest first.",
    usage: "secretprefs history [list] [<options>] <key>",
    discussion: """
      One value per line: revision, time of the change, and kind. An asterisk marks the current value; a removed key \
      has none. No value is decrypted.

      EXAMPLE:
        secretprefs history github
        secretprefs history list github --json
      """)

  @OptionGroup var vault: VaultOptions
  @OptionGroup var unlock: UnlockOptions
  @OptionGroup var record: RecordOptions

  @Argument(help: .key, completion: .keys)
  var keys: [String] = []

  func perform(_ messages: Messages) throws {
    let (place, key) = try record.named(try Self.sole(keys, "key"))
    let access = try unlock.complete(try vault.access())
    let vault = try access.open(messages)
    let group = try place.group(in: vault)
    let removed = try vault.removedRecord(service: place.service, key: key, in: group)
    let record = try removed == nil ? place.existing(key, in: group, of: vault) : nil
    let previous = removed?.previous ?? record?.previous ?? []
    let values =
      (record.map { [($0.revision, $0.modified, $0.kind)] } ?? [])
      + previous.map { ($0.revision, $0.modified, $0.kind) }
    guard !self.vault.json else {
      return try Output.write(
        .array(
          values.map { revision, modified, kind in
            .object([
              ("revision", .unsigned(revision)), ("modified", .time(modified)), ("kind", .string(kind.label)),
              ("current", .bool(revision == record?.revision)),
            ])
          }))
    }
    let rows = values.map { revision, modified, kind in
      ["\(revision == record?.revision ? "*" : " ") \(revision)", Timestamp.text(of: modified), kind.label]
    }
    try Output.write(Table(rows: rows).text)
  }
}
