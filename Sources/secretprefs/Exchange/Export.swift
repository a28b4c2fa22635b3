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
      file with mode 0600: all keys, or those of --only, or of --match and --except. A key that the format cannot have \
      is written under the name that "secretprefs run" gives its variable, with a warning: db/password as DB_PASSWORD. \
      With --variables, every key is. If the format cannot hold a key or a value byte for byte, the command names the \
      key and writes nothing.

        dotenv      NAME=value, in quotes if needed, also over several lines
        json        one object; numbers, Booleans and JSON as such, other values as text
        shell       export NAME='value', for eval in a POSIX shell
        kubernetes  a manifest of a Secret, with the values in base64
        systemd     SetCredentialEncrypted= of a unit, for this machine only
        records     a line of JSON for each record, with kind, metadata and kept values
        archive     everything that the credential opens, as one JSON document

      In dotenv, single quotes make everything literal. A value that has a single quote is in double quotes, with a \
      backslash before ", \\, $ and `. Docker's --env-file takes quotes and comments as parts of values, and each line \
      of a value for a line of the file. Warnings name the keys that other programs do not read as they are meant: \
      with a value of several lines, with a single quote and one of these characters, or with a backslash at the end; \
      with a value that looks like a reference, or is no text; with a name that has - or ., which shells take for a \
      command; and with one that is a setting of programs, such as PATH and PAGER. In shell, such settings are \
      refused as by "secretprefs run". For systemd, "systemd-creds encrypt" encrypts each value with the key of this \
      machine or its TPM; the service reads it from $CREDENTIALS_DIRECTORY.

      With --all-services and --all-groups, writes the keys of several services and groups. In json, an object for \
      each group and for each service has their keys; kubernetes gets a Secret for each service. The other formats \
      have the same names as without these options, as in "secretprefs run" with several services. Two keys or Secrets \
      that would have one name are named in an error, and nothing is written.

      Dates and URLs are written as "secretprefs get" writes them. The records of --format records have all values of \
      the service and their metadata: "value" as "secretprefs get" writes it, dates with all digits, or "base64" if it \
      is no text or has no text in one line, and the earlier values in "previous". "secretprefs import" reads them. \
      Other formats but archive have no metadata and no earlier values. With --json, errors and the result of --to are \
      JSON.

      An archive has the keys of all services and access groups with their kinds, metadata, times and earlier values, \
      and the removed keys that are kept; "secretprefs import" brings them back, from archives of at most 100000 keys \
      and 256 MiB. It has all of that in plain text, and is written to a terminal only with --to-terminal. Each record \
      is as it is at one moment. Groups and values that do not open are named in the archive and in warnings; if it is \
      for another reason than that the credential is not for a group, the exit code is that of the first. It is \
      described by Docs/Archive.schema.json.

      EXAMPLE:
        secretprefs export --service shop --to .env
        secretprefs export --service s --format kubernetes | kubectl apply -f -
        secretprefs export --service s --format systemd --to credentials.conf
        secretprefs export --match 'db/*' --all-services --format json
        secretprefs export --format records --all-services --to all.jsonl
        secretprefs export --format archive --to vault.json
        secretprefs export --format archive | age -r age1... > vault.json.age
      """)

  @OptionGroup var vault: VaultOptions
  @OptionGroup var unlock: UnlockOptions
  @OptionGroup var record: RecordOptions

  @Option(
    help: ArgumentHelp(
      "The format: dotenv, json, shell, kubernetes, systemd, records or archive.", valueName: "format"),
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

  @OptionGroup var patterns: PatternOptions
  @OptionGroup var scope: ScopeOptions

  @Flag(help: "Write an archive to a terminal.")
  var toTerminal = false

  func perform(_ messages: Messages) throws {
    let format = try ExportFormat.named(format)
    guard !toTerminal || format == .archive && to == nil else {
      throw ToolError.usage("--to-terminal is for --format archive without --to")
    }
    let access = try unlock.complete(try vault.access())
    let (place, only) = try record.named(only)
    let scope = try scope.scope(place, record, try patterns.choice())
    guard only.isEmpty || scope.isOnePlace && scope.choice.isEveryKey else {
      throw ToolError.usage("--only names keys of one service", hint: "--match chooses keys of several")
    }
    guard name == nil || format == .kubernetes else { throw ToolError.usage("--name is for --format kubernetes") }
    guard name == nil || scope.isOnePlace else { throw ToolError.usage("--name is for the Secret of one service") }
    guard !variables || format != .records else {
      throw ToolError.usage("--variables is not for --format records, which has no variables")
    }
    if let name, !ExportFormat.isObjectName(name) { throw KeyExport.notAnObject }
    if format == .archive { return try exportArchive(access, messages) }
    try checkOutput(access)
    let vault = try access.open(messages)
    let groups = try scope.groups(in: vault, messages)
    let records = try Self.chosen(only, of: try scope.records(in: groups, of: vault), scope)
    let output = try SecretOutput(isCollecting: true)
    if format == .records {
      for record in records { try RecordLine(record.info, record.group, vault).write(to: output) }
    } else {
      let export = KeyExport(
        format: format, scope: scope, services: try ExportedService.all(records, of: vault),
        hasVariables: variables, objectName: name)
      try export.write(to: output, at: access.options.now(), messages)
    }
    try output.withBytes { (bytes) throws in
      guard let to else { return try write(bytes, messages) }
      do throws(PreferencesError) { try FileReplacement(to, isPrivate: true).create(bytes.bytes) } catch {
        throw error.about(to)
      }
      Output.recordChange(by: Self.self)
    }
    guard let to, self.vault.json else { return }
    let services = Set(records.map(\.info.service))
    try Output.write(
      .object([
        ("service", services.count == 1 ? .string(records[0].info.service.text) : .null), ("file", .string(to)),
        ("exported", .unsigned(UInt64(records.count))),
      ]))
  }

  private func checkOutput(_ access: VaultAccess) throws {
    guard let to else { return }
    try refuseDash(to, as: "--to", hint: "omit --to for standard output, or write the name - as ./-")
    try VaultLocation(argument: to).refuseIfOccupied("the export")
    try access.checkOutput(to, as: "--to")
  }

  private func exportArchive(_ access: VaultAccess, _ messages: Messages) throws {
    guard record.service == nil, record.group == nil, only.isEmpty, try patterns.choice().isEveryKey,
      !scope.allServices, !scope.allGroups, !variables
    else {
      throw ToolError.usage(
        "an archive has everything that the credential opens", hint: "--format records exports some of the keys")
    }
    guard to != nil || toTerminal || isatty(STDOUT_FILENO) == 0 else {
      throw ToolError.usage(
        "an archive has all values in plain text, and is not written to a terminal",
        hint: "--to <file> writes it to a new file, and --to-terminal to the terminal")
    }
    try checkOutput(access)
    try ArchiveExport(file: to, access: access, isJSON: vault.json).perform(by: Self.self, messages)
  }

  /// The records to export.
  private static func chosen(
    _ only: [String], of records: [ListedRecord], _ scope: RecordScope
  ) throws -> [ListedRecord] {
    guard !records.isEmpty else { throw scope.nothing }
    guard !only.isEmpty else { return records }
    let keys = records.map(\.info.key.text)
    let missing = Set(only).subtracting(keys)
    guard missing.isEmpty else {
      guard only.count > 1 else { throw try scope.place.noSuchKey(only[0], among: keys) }
      throw ToolError.missing(missing, "nothing was exported", listing: scope.place.keysHint)
    }
    return records.filter { only.contains($0.info.key.text) }
  }

  /// Writes to standard output, as `get` does.
  private func write(_ bytes: UnsafeRawBufferPointer, _ messages: Messages) throws(ToolError) {
    if isatty(STDOUT_FILENO) == 1 { try ControlCharacters.check(bytes, messages) }
    try Output.write(bytes)
  }
}
