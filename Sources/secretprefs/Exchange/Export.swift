internal import ArgumentParser
internal import DurableFiles
internal import PreferenceFiles
internal import Preferences
internal import VaultCore

/// `secretprefs export`.
struct Export: WritingCommand {
  static let configuration = CommandConfiguration(
    commandName: "export",
    abstract: "Writes the secrets of a service in plain text for another program.",
    usage: "secretprefs export [<options>]",
    discussion: """
      Writes all keys and values of one service, as they are at one moment, to standard output, or with --to to a new \
      file with mode 0600. If the format cannot hold a key or a value byte for byte, the command names the key and \
      writes nothing.

        dotenv      NAME=value, in quotes if needed, also over several lines
        json        one object; all values are text
        shell       export NAME='value', for eval in a POSIX shell
        kubernetes  a manifest of a Secret, with the values in base64
        systemd     SetCredentialEncrypted= of a unit, for this machine only

      In dotenv, single quotes make everything literal. A value that has a single quote is in double quotes, with a \
      backslash before ", \\, $ and `. In shell, names that are settings of programs, such as PATH and PAGER, \
      are refused as by "secretprefs run". For systemd, "systemd-creds encrypt" encrypts each value with the key of \
      this machine or its TPM; the service reads it from $CREDENTIALS_DIRECTORY.

      Values that are neither text nor data are written as "secretprefs get" writes them. Metadata and earlier values \
      are not exported. With --json, errors and the result of --to are JSON.

      EXAMPLE:
        secretprefs export --service shop --to .env
        secretprefs export --service s --format kubernetes | kubectl apply -f -
        secretprefs export --service s --format systemd --to credentials.conf
      """)

  @OptionGroup var vault: VaultOptions
  @OptionGroup var unlock: UnlockOptions
  @OptionGroup var record: RecordOptions

  @Option(
    help: ArgumentHelp("The format: dotenv, json, shell, kubernetes or systemd.", valueName: "format"),
    completion: .list(ExportFormat.allCases.map(\.rawValue)))
  var format = ExportFormat.dotenv.rawValue

  @Option(help: ArgumentHelp("Create this file, which must not exist.", valueName: "file"), completion: .file())
  var to: String?

  @Option(
    help: ArgumentHelp("The name of the Secret; the default is the service.", valueName: "name"))
  var name: String?

  func perform(_ messages: Messages) throws {
    let format = try ExportFormat.named(format)
    let access = try unlock.complete(try vault.access())
    let place = try record.place()
    guard name == nil || format == .kubernetes else { throw ToolError.usage("--name is for --format kubernetes") }
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
    let values = try ServiceValues(of: place.service, in: group, of: vault)
    let count = try collect(values, format, name, output, access, messages)
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
    _ values: ServiceValues, _ format: ExportFormat, _ name: String, _ output: SecretOutput, _ access: VaultAccess,
    _ messages: Messages
  ) throws -> Int {
    let keys = try values.keys
    guard !keys.isEmpty else { throw ToolError.noSuchKey }
    let refused = keys.filter { !format.allows(key: $0) }
    guard refused.isEmpty else {
      throw ToolError.usage(
        "nothing was exported: \(format.rawValue) cannot have these keys: \(listed(refused))", hint: format.keyRule)
    }
    let now = access.options.now()
    var (size, expired) = (0, 0)
    try format.writeStart(name, to: output)
    for (index, key) in keys.enumerated() {
      if try values.record(key)?.isExpired(at: now) == true { expired += 1 }
      try values.withValue(of: key) { _, bytes in
        size += bytes.count
        guard format.allows(value: bytes) else { throw Self.refusal(format, key) }
        try format.write(key, bytes, isFirst: index == 0, to: output)
      }
    }
    if let limit = format.limit, size > limit.bytes {
      throw ToolError.usage("the values have \(size) bytes, and \(limit.holder) has at most \(limit.bytes)")
    }
    try format.writeEnd(to: output)
    if expired > 0 { messages.warn("\(counted(expired, "key has", "keys have")) expired") }
    return keys.count
  }

  private static func refusal(_ format: ExportFormat, _ key: String) -> ToolError {
    .usage(
      "nothing was exported: \(format.rawValue) cannot have the value of \(key)",
      hint: format == .json
        ? "JSON has text only; --format kubernetes holds any bytes" : "this format cannot contain NUL bytes")
  }

  /// Writes to standard output, as `get` does.
  private func write(_ bytes: UnsafeRawBufferPointer, _ messages: Messages) throws(ToolError) {
    if isatty(STDOUT_FILENO) == 1, ControlCharacters.occur(in: bytes) {
      messages.warn("a value contains control characters")
    }
    try Output.write(bytes)
  }
}
