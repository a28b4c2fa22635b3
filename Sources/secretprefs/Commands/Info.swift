internal import ArgumentParser
internal import VaultCore

/// `secretprefs info`.
struct Info: ToolCommand {
  static let form = "secretprefs info [<options>] <key>"

  static let configuration = CommandConfiguration(
    commandName: "info",
    abstract: "Tells what is known of a key without opening its value.",
    usage: form,
    discussion: """
      Kind, revision and times, and label, comment, expiry, attributes and kept earlier values where there are \
      any. All of it is sealed in the file and authenticated.

      EXAMPLE:
        secretprefs info github
      """)

  @OptionGroup var vault: VaultOptions
  @OptionGroup var unlock: UnlockOptions
  @OptionGroup var record: RecordOptions

  @Argument(help: ArgumentHelp("The key.", valueName: "key"))
  var keys: [String] = []

  func perform(_ messages: Messages) throws {
    guard let key = keys.first, keys.count == 1 else { throw ToolError.usage("one key is needed", hint: Self.form) }
    let service = try Name(record.service)
    let access = try unlock.complete(try vault.access())
    let vault = try access.open(messages)
    guard
      let info = try vault.record(service: service, key: key, in: try vault.group(named: record.group))
    else { throw ToolError.noSuchKey }
    try self.vault.json ? Output.write(info.json) : Output.write(info.text)
  }
}

extension RecordInfo {
  var text: String {
    var lines = [
      ("key", displayed(key.text)), ("kind", kind.label), ("revision", "\(revision)"),
      ("created", Self.time(created)), ("modified", Self.time(modified)),
    ]
    if let label { lines.append(("label", displayed(label))) }
    if let comment { lines.append(("comment", displayed(comment))) }
    if let expiry { lines.append(("expires", Self.time(expiry))) }
    for attribute in attributes {
      lines.append(
        ("attribute", "\(displayed(attribute.name.text)), \(counted(attribute.data.count, "byte", "bytes"))"))
    }
    if historyDepth > 0 { lines.append(("keeps", counted(Int(historyDepth), "earlier value", "earlier values"))) }
    for value in previous {
      lines.append(("earlier", "revision \(value.revision), \(value.kind.label), \(Self.time(value.modified))"))
    }
    return Table(rows: lines.map { [$0.0, $0.1] }).text
  }

  var json: JSON {
    var members: [(String, JSON)] = [
      ("service", .string(service.text)), ("key", .string(key.text)), ("kind", .string(kind.label)),
      ("revision", .unsigned(revision)), ("created", .time(created)), ("modified", .time(modified)),
    ]
    if let label { members.append(("label", .string(label))) }
    if let comment { members.append(("comment", .string(comment))) }
    if let expiry { members.append(("expiry", .time(expiry))) }
    members.append(("attributes", .array(attributes.map { .string($0.name.text) })))
    members.append(("historyDepth", .unsigned(UInt64(historyDepth))))
    members.append(
      (
        "previous",
        .array(
          previous.map {
            .object([
              ("revision", .unsigned($0.revision)), ("modified", .time($0.modified)), ("kind", .string($0.kind.label)),
            ])
          })
      ))
    return .object(members)
  }

  private static func time(_ milliseconds: Int64) -> String {
    Timestamp(milliseconds: milliseconds)?.text ?? "\(milliseconds) ms"
  }
}
