internal import ArgumentParser
internal import DurableFiles
internal import Preferences
internal import VaultCore
internal import VaultSealing

/// `secretprefs import`.
struct Import: WritingCommand {
  static let configuration = CommandConfiguration(
    commandName: "import",
    abstract: "Imports the secrets in a plain file of another program.",
    usage: "secretprefs import [<options>] <file>",
    discussion: """
      All keys are imported in one transaction, but for records with earlier values: after an error the vault is \
      unchanged. If parts of the file are bad, \
      all of them are named and nothing is imported; --skip leaves them out. The report names what was not imported, \
      why and where, and the command that undoes the import. The file does not change: remove it after the import. \
      Docs/Importing.md says for each format what is taken, left out and refused.

      The format is recognised by the file's name if the content agrees; - is standard input, which needs --format:
        dotenv           NAME=value; nothing is expanded
        json             nested names are joined with dots; values keep their kinds;
                         Secrets of Kubernetes are decoded
        csv              browsers and password managers; or the columns key and value
        netrc            machine, login, password, as curl reads them
        git-credentials  the file of git's credential store
        docker           the logins of docker, podman and .dockerconfigjson
        bitwarden        Bitwarden's JSON, not encrypted
        keepass          the XML of KeePassXC and KeePass
        otpauth          lines with otpauth:// or otpauth-migration://
        pass             the directory of pass, decrypted with gpg
        records          what "secretprefs export --format records" has written
        archive          what "secretprefs export --format archive" has written

      An entry with a name, a user name and a password becomes the keys <name>/username and <name>/password; \
      <name>/url, <name>/notes and <name>/totp likewise. The name is the title after its group, or the host. A second \
      entry of that name is called "<name> (2)". Other fields keep their names. The logins of git and docker get the \
      keys that "secretprefs git-credential" and "secretprefs docker-credential" use, in their services git and \
      docker unless --service is given. A value that is not UTF-8 becomes data. A file has at most 100000 values, and \
      a name at most 1024 bytes.

      Records keep their service unless --service is given, and their kind, accessibility, label, comment, expiry, \
      attributes and earlier values. They are imported into the access group of --group, and get the time and the \
      revision of the import. Each earlier value takes a transaction of its own before the last one, oldest first. \
      "secretprefs history undo" undoes them together, if the journal has room for them; the report says whether it \
      does. A rotation that was not confirmed is not pending afterwards.

      The keys of an archive also keep their access groups, unless --group is given, and the times of their creation \
      and last change, and its removed keys are removed keys again. A group that does not exist is created, which \
      needs an owner. Each group takes transactions of its own; after an error in a later one, the error says that a \
      part was imported.

      Texts in place of a value, such as {USERNAME} in KeePass, op:// of 1Password, and values encrypted by sops or \
      dotenvx, are left out and named in the report. A field of KeePass that refers to a field of another entry by \
      its id gets that value. A note in the report names a value of a dotenv file that programs read differently.

      EXAMPLE:
        secretprefs import .env --service shop
        secretprefs import passwords.csv --dry-run
        secretprefs import ~/.password-store
        secretprefs import passwords.csv --prefix browser/ --on-conflict skip
        secretprefs import .git-credentials
        secretprefs import passwords.csv --skip 17,230-241
        zbarimg -q --raw codes.png | secretprefs import - --format otpauth
        secretprefs import all.jsonl --format records
        secretprefs import vault.json --dry-run
        sops -d secrets.json | secretprefs import - --format json
      """)

  @OptionGroup var vault: VaultOptions
  @OptionGroup var unlock: UnlockOptions
  @OptionGroup var record: RecordOptions

  @Option(
    help: ArgumentHelp("The format of the file.", valueName: "format"),
    completion: .list(PlainFormat.allCases.map(\.rawValue)))
  var format: String?

  @Option(help: ArgumentHelp("Put this in front of every key.", valueName: "text"))
  var prefix = ""

  @Option(
    help: ArgumentHelp(
      "What to do if a key exists: stop, skip or replace.",
      discussion: "The default is stop: the existing keys are named, and nothing is imported.", valueName: "choice"),
    completion: .list(ImportPlan.ConflictChoice.allCases.map(\.rawValue)))
  var onConflict = ImportPlan.ConflictChoice.stop.rawValue

  @Option(
    defaultAsFlag: SkippedParts.all, parsing: .scanningForValue,
    help: ArgumentHelp(
      "Leave out the bad parts of the file: all, or those of a list.",
      discussion: "Lines (2,5-9), names of entries, or @ and a file with one of them in each line.",
      valueName: "list"))
  var skip: String?

  @Option(
    help: ArgumentHelp(
      "The encoding of the file: \(TextEncoding.allCases.map(\.rawValue).joined(separator: ", ")).",
      discussion: "Default: utf-8, or what the file names itself.", valueName: "name"),
    completion: .list(TextEncoding.allCases.map(\.rawValue)))
  var encoding: String?

  @Flag(
    help: ArgumentHelp(
      "Import nothing; show the keys, and the kinds and lengths of their values.",
      discussion: "Fails as the import would if keys exist."))
  var dryRun = false

  @Argument(help: ArgumentHelp("The file; - for standard input.", valueName: "file"), completion: .file())
  var files: [String] = []

  func perform(_ messages: Messages) throws {
    // The file may follow --skip, which then has no list.
    let (files, skip) = files.isEmpty && skip != nil ? ([skip ?? ""], SkippedParts.all) : (files, skip)
    let path = try Self.sole(files, "file")
    let format = try format.map { (name) throws(ToolError) in try PlainFormat.named(name) }
    let encoding = try encoding.map { (name) throws(ToolError) in try TextEncoding.named(name) }
    let choice = try ImportPlan.ConflictChoice.named(onConflict)
    let access = try unlock.complete(try vault.access())
    guard path != "-" || access.passphraseDescriptor != STDIN_FILENO else {
      throw ToolError.usage("standard input cannot be both the passphrase and the file")
    }
    _ = try record.place()
    let skips = try SkippedParts(skip)
    // Fails before the user types a passphrase.
    var source: PlainInput
    do { source = try PlainInput.read(path, as: format, in: encoding) } catch let fault as PlainFault {
      throw Self.error(fault, path)
    }
    let store = source.store
    let (found, records) = try source.bytes.withUnsafeMutableBytes { (bytes) in
      try parse(bytes, store, as: format, skips, path: path)
    }
    let place = try record.place(helper: found.helperService)
    let vault = try access.open(messages)
    let plan = try ImportPlan(
      records, in: source.bytes, place, keepingServices: record.service == nil,
      keepingGroups: keepsGroups(found), choice, at: access.options.now(), of: vault)
    var writes: [ImportPlan.Write]?
    guard !plan.items.isEmpty || plan.skipped.isEmpty else {
      throw ToolError.nothingToImport(found, leaving: plan.skipped).about(Self.name(path))
    }
    if !dryRun {
      writes = try plan.write(from: source.bytes, choice, to: vault)
      vault.recordChange(by: Self.self, messages)
    }
    let report = ImportReport(
      plan: plan, format: found, choice: choice, writes: writes,
      lengths: dryRun ? try plan.lengths(in: source.bytes) : [],
      groupOption: try record.group ?? Configuration.value(of: .group),
      vaultOptions: access.namingOptions, remainder: source.isOnDisk ? path : nil)
    if self.vault.json { try Output.write(report.json) } else { try Output.write(report.text) }
    if dryRun { try plan.check(choice) }
  }

  private func parse(
    _ bytes: UnsafeMutableRawBufferPointer, _ store: PassStore?, as format: PlainFormat?, _ skips: SkippedParts,
    path: String
  ) throws -> (format: PlainFormat, records: PlainRecords) {
    do {
      var (found, records) =
        try store.map { (store) throws(PlainFault) in (.pass, try PassParser.parse(store, in: bytes)) }
        ?? PlainFormat.parse(bytes, as: format, path: path)
      // Before keys that several groups have are said to be there twice.
      if skips.isEmpty { try checkGroups(of: records, found) }
      try records.finish(
        prefix: prefix, laterWins: found == .dotenv, keepingServices: record.service == nil,
        keepingGroups: keepsGroups(found), skipping: skips, in: UnsafeRawBufferPointer(bytes))
      try checkGroups(of: records, found)
      guard records.faults.isEmpty else {
        throw ToolError.bad(records.faults, besides: records.leftOut).about(Self.name(path))
      }
      guard !records.values.isEmpty else {
        throw ToolError.nothingToImport(found, leaving: records.skipped).about(Self.name(path))
      }
      return (found, records)
    } catch let fault as PlainFault { throw Self.error(fault, path) }
  }

  /// Whether the keys stay in the access groups that the file names.
  private func keepsGroups(_ format: PlainFormat) -> Bool { format == .archive && record.group == nil }

  /// Refuses records of several access groups: others may read the group that all of them would get.
  private func checkGroups(of records: PlainRecords, _ format: PlainFormat) throws(ToolError) {
    guard format == .records, record.group == nil else { return }
    let groups = Set(records.values.compactMap(\.record?.group))
    guard groups.count > 1 else { return }
    throw .usage(
      "the records are of several access groups: \(listed(groups.sorted().map(displayed)))",
      hint: "--group names one for all of them; an archive keeps their groups")
  }

  private static func error(_ fault: PlainFault, _ path: String) -> PreferencesError {
    fault.error.about(name(path))
  }

  private static func name(_ path: String) -> String { path == "-" ? "standard input" : path }
}
