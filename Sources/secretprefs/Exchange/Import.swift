internal import ArgumentParser
internal import DurableFiles
internal import PreferenceFiles
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
      All keys are imported in one transaction: after an error the vault is unchanged. The report names what was not \
      imported, and why, and the revision with which "secretprefs history undo" undoes the import. The file does not \
      change: remove it after the import.

      The format is recognised by the file's name if the content agrees; - is standard input, which needs --format:
        dotenv           NAME=value; quotes as in a shell, nothing is expanded
        json             objects of text; nested names are joined with dots
        csv              browsers, KeePassXC, 1Password; or the columns key and value
        netrc            machine, login, password
        git-credentials  the file of git's credential store
        docker           the logins in docker's config.json
        bitwarden        Bitwarden's JSON, not encrypted
        keepass          the XML of KeePassXC and KeePass
        pass             the directory of pass, decrypted with gpg; no symbolic links

      An entry with a name, a user name and a password becomes the keys <name>/username and <name>/password; \
      <name>/url, <name>/notes and <name>/totp likewise. The name is the title after its group, or the host. A second \
      entry of that name is called "<name> (2)". The logins of git and docker get the keys that "secretprefs \
      git-credential" and "secretprefs docker-credential" use. Text that is not UTF-8 becomes data. A file has at most \
      100000 values, and a name at most 1024 bytes.

      A field of KeePass that refers to a field of another entry by its id gets that value. Other texts in place of \
      a value, such as {USERNAME} in KeePass, op:// of 1Password, and values encrypted by sops, are left out and \
      named in the report.

      EXAMPLE:
        secretprefs import .env --service shop
        secretprefs import passwords.csv --dry-run
        secretprefs import ~/.password-store
        secretprefs import passwords.csv --prefix browser/ --on-conflict skip
        secretprefs import .git-credentials --service git
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

  @Flag(help: "Import nothing; show the keys, and the kinds and lengths of their values.")
  var dryRun = false

  @Argument(help: ArgumentHelp("The file; - for standard input.", valueName: "file"), completion: .file())
  var files: [String] = []

  func perform(_ messages: Messages) throws {
    let path = try Self.sole(files, "file")
    let format = try format.map { (name) throws(ToolError) in try PlainFormat.named(name) }
    let choice = try ImportPlan.ConflictChoice.named(onConflict)
    let access = try unlock.complete(try vault.access())
    guard path != "-" || access.passphraseDescriptor != STDIN_FILENO else {
      throw ToolError.usage("standard input cannot be both the passphrase and the file")
    }
    let place = try record.place()
    // Fails before the user types a passphrase.
    var source = try PlainSource.read(path, as: format)
    let entries = source.entries
    let (found, records) = try source.bytes.withUnsafeMutableBytes { (bytes) in
      try parse(bytes, entries, as: format, path: path)
    }
    let vault = try access.open(messages)
    let plan = try ImportPlan(records, in: source.bytes, place, try place.group(in: vault), of: vault)
    var revision: UInt64?
    if !dryRun {
      revision = try plan.write(from: source.bytes, choice, to: vault)
      vault.recordChange(by: Self.self, messages)
    }
    let report = ImportReport(
      plan: plan, format: found, choice: choice, revision: revision, groupOption: record.group,
      remainder: source.isOnDisk ? path : nil)
    if self.vault.json { try Output.write(report.json) } else { try Output.write(report.text) }
  }

  private func parse(
    _ bytes: UnsafeMutableRawBufferPointer, _ entries: [PassSource.PassEntry]?, as format: PlainFormat?, path: String
  ) throws -> (format: PlainFormat, records: PlainRecords) {
    do {
      var (found, records) =
        try entries.map { (entries) throws(PreferencesError) in (.pass, try PassSource.parse(entries, in: bytes)) }
        ?? PlainFormat.parse(bytes, as: format, path: path)
      try records.finish(prefix: prefix, laterWins: found == .dotenv, in: UnsafeRawBufferPointer(bytes))
      guard !records.values.isEmpty else {
        let first = records.skipped.first.map { ": \($0.text)" } ?? ""
        throw PreferencesError(.notFound, "there is nothing to import in this \(found.rawValue) file\(first)")
      }
      return (found, records)
    } catch let error as PreferencesError { throw error.about(path == "-" ? "standard input" : path) }
  }
}
