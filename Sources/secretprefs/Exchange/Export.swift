internal import ArgumentParser
internal import DurableFiles
internal import Preferences
internal import VaultCore

/// `secretprefs export`.
struct Export: WritingCommand {
  static let configuration = CommandConfiguration(
    commandName: "export",
    abstract: "Writes the secrets of a service in plain text for another program.",
    usage: "secretprefs export [<options>]",
    discussion: """
      Writes the keys and values of one service, as they are at one moment, to standard output, or with --to to a new \
      file with mode 0600: all keys, or those of --only. A key that the format cannot have is written under the name \
      that "secretprefs run" gives its variable, with a warning: db/password as DB_PASSWORD. With --variables, every \
      key is. If the format cannot hold \
      a key or a value byte for byte, the command names the key and writes nothing.

        dotenv      NAME=value, in quotes if needed, also over several lines
        json        one object; numbers and Booleans as such, other values as text
        shell       export NAME='value', for eval in a POSIX shell
        kubernetes  a manifest of a Secret, with the values in base64
        systemd     SetCredentialEncrypted= of a unit, for this machine only
        records     a line of JSON for each record, with kind, metadata and kept values

      In dotenv, single quotes make everything literal. A value that has a single quote is in double quotes, with a \
      backslash before ", \\, $ and `. The command names values that some programs read differently: with a single \
      quote and one of these characters, or with a backslash at the end. In shell, names that are settings of \
      programs, such as PATH and PAGER, are refused as by "secretprefs run". For systemd, "systemd-creds encrypt" \
      encrypts each value with the key of this machine or its TPM; the service reads it from $CREDENTIALS_DIRECTORY.

      Dates and URLs are written as "secretprefs get" writes them. The records of --format records have everything of \
      the service, with --all-services of the access group: "value" as "secretprefs get" writes it, dates with all \
      digits, or "base64" if it is no text or has no text in one line, and the earlier values in "previous". \
      "secretprefs import" reads them. Other formats have no metadata and no earlier values. With --json, errors and \
      the result of --to are JSON.

      EXAMPLE:
        secretprefs export --service shop --to .env
        secretprefs export --service s --format kubernetes | kubectl apply -f -
        secretprefs export --service s --format systemd --to credentials.conf
        secretprefs export --format records --all-services --to all.jsonl
      """)

  @OptionGroup var vault: VaultOptions
  @OptionGroup var unlock: UnlockOptions
  @OptionGroup var record: RecordOptions

  @Option(
    help: ArgumentHelp("The format: dotenv, json, shell, kubernetes, systemd or records.", valueName: "format"),
    completion: .list(ExportFormat.allCases.map(\.rawValue)))
  var format = ExportFormat.dotenv.rawValue

  @Option(help: ArgumentHelp("Create this file, which must not exist.", valueName: "file"), completion: .file())
  var to: String?

  @Option(
    help: ArgumentHelp("The name of the Secret; the default is the service.", valueName: "name"))
  var name: String?

  @Option(help: ArgumentHelp("Export this key. Repeatable. Default: all keys.", valueName: "key"), completion: .keys)
  var only: [String] = []

  @Flag(help: "Write each key under the name that \"secretprefs run\" gives its variable.")
  var variables = false

  @Flag(help: "Export all services of the access group. For --format records.")
  var allServices = false

  func perform(_ messages: Messages) throws {
    let format = try ExportFormat.named(format)
    let access = try unlock.complete(try vault.access())
    let (place, only) = try record.named(only)
    guard name == nil || format == .kubernetes else { throw ToolError.usage("--name is for --format kubernetes") }
    guard !allServices || format == .records, !allServices || only.isEmpty else {
      throw ToolError.usage("--all-services is for --format records, without --only")
    }
    guard !variables || format != .records else {
      throw ToolError.usage("--variables is not for --format records, which has no variables")
    }
    let name = name ?? place.service.text
    guard format != .kubernetes || ExportFormat.isObjectName(name) else {
      throw ToolError.usage(
        "the name is not one of a Kubernetes object", hint: "--name with small letters, digits, - and .")
    }
    if let to {
      try VaultLocation(argument: to).refuseIfOccupied("the export")
      try access.checkOutput(to, as: "--to")
    }
    let vault = try access.open(messages)
    let group = try place.group(in: vault)
    let output = try SecretOutput(isCollecting: true)
    let count =
      if format == .records {
        try collectRecords(only, place, group, vault, output)
      } else {
        try collect(
          only, place, try ServiceValues(of: place.service, in: group, of: vault), format, name, output, access,
          messages)
      }
    try output.withBytes { (bytes) throws in
      guard let to else { return try write(bytes, messages) }
      do throws(PreferencesError) { try FileReplacement(to, isPrivate: true).create(bytes.bytes) } catch {
        throw error.about(to)
      }
      Output.recordChange(by: Self.self)
    }
    guard let to, self.vault.json else { return }
    try Output.write(
      .object([
        ("service", .string(place.service.text)), ("file", .string(to)), ("exported", .unsigned(UInt64(count))),
      ]))
  }

  private func collect(
    _ only: [String], _ place: RecordPlace, _ values: ServiceValues, _ format: ExportFormat, _ name: String,
    _ output: SecretOutput, _ access: VaultAccess,
    _ messages: Messages
  ) throws -> Int {
    let keys = try chosen(only, of: values.keys, place)
    let refused = keys.filter { format.name(of: $0, asVariable: variables) == nil }
    guard refused.isEmpty else {
      throw ToolError.usage(
        "nothing was exported: \(format.rawValue) cannot have these keys: \(listed(refused))", hint: format.keyRule)
    }
    let names = keys.compactMap { format.name(of: $0, asVariable: variables) }
    let same = Dictionary(grouping: zip(keys, names), by: \.1).values.filter { $0.count > 1 }.flatMap { $0.map(\.0) }
    guard same.isEmpty else {
      throw ToolError.usage(
        "nothing was exported: in \(format.rawValue) these keys have a name that another has, too: "
          + listed(same.sorted()),
        hint: "--only key exports some of them")
    }
    let now = access.options.now()
    var (size, expired) = (0, 0)
    var unportable: [String] = []
    try format.writeStart(name, to: output)
    for (index, (key, name)) in zip(keys, names).enumerated() {
      guard let record = try values.record(key) else { throw ToolError.noSuchKey.about(key: key) }
      if record.isExpired(at: now) { expired += 1 }
      try values.withValue(of: key) { _, bytes in
        size += bytes.count
        guard format.allows(value: bytes) else { throw Self.refusal(format, key) }
        if !format.isPortable(value: bytes) { unportable.append(key) }
        try format.write(name, record.kind, bytes, isFirst: index == 0, to: output)
      }
    }
    if let limit = format.limit, size > limit.bytes {
      throw ToolError.usage("the values have \(size) bytes, and \(limit.holder) has at most \(limit.bytes)")
    }
    try format.writeEnd(to: output)
    if expired > 0 { messages.warn("\(counted(expired, "key has", "keys have")) expired") }
    let renamed = zip(keys, names).filter { $0 != $1 }.map { "\(displayed($0)) as \($1)" }
    if !renamed.isEmpty, !variables { messages.warn("exported under another name: \(listed(renamed))") }
    if !unportable.isEmpty {
      messages.warn("some programs read these values differently: \(listed(unportable.map(displayed)))")
    }
    return keys.count
  }

  /// The keys to export.
  private func chosen(_ only: [String], of keys: [String], _ place: RecordPlace) throws -> [String] {
    guard !keys.isEmpty else { throw ToolError.emptyService }
    guard !only.isEmpty else { return keys }
    let missing = Set(only).subtracting(keys)
    guard missing.isEmpty else {
      guard only.count > 1 else {
        throw ToolError.noSuchKey(only[0], among: keys, pattern: Hints.patterns(place.options))
      }
      throw ToolError.missing(missing, "nothing was exported")
    }
    return keys.filter(Set(only).contains)
  }

  private func collectRecords(
    _ only: [String], _ place: RecordPlace, _ group: AccessGroup, _ vault: Vault, _ output: SecretOutput
  ) throws -> Int {
    let all = try vault.records(service: allServices ? nil : place.service, in: group)
    let keys = allServices ? [] : Set(try chosen(only, of: all.map(\.key.text), place))
    guard !all.isEmpty else { throw ToolError.emptyService }
    let records = all.filter { allServices || keys.contains($0.key.text) }
    for record in records { try RecordLine(record, group, vault).write(to: output) }
    return records.count
  }

  private static func refusal(_ format: ExportFormat, _ key: String) -> ToolError {
    .usage(
      "nothing was exported: \(format.rawValue) cannot have the value of \(key)",
      hint: format == .json
        ? "JSON has text only; --format kubernetes holds any bytes" : "this format cannot contain NUL bytes")
  }

  /// Writes to standard output, as `get` does.
  private func write(_ bytes: UnsafeRawBufferPointer, _ messages: Messages) throws(ToolError) {
    if isatty(STDOUT_FILENO) == 1 { try ControlCharacters.check(bytes, messages) }
    try Output.write(bytes)
  }
}
