internal import ArgumentParser
internal import DurableFiles
internal import VaultCore

/// `secretprefs scan`.
struct Scan: ToolCommand {
  static let configuration = CommandConfiguration(
    commandName: "scan",
    abstract: "Finds values of the vault in files, in a git history or on standard input.",
    usage: "secretprefs scan [<options>] (<path> ... | -)",
    discussion: """
      Searches files, and all files below directories, for the current values of all services and access groups that \
      the credential opens. A finding is a line with the path, the line, the column in bytes, the service and the key, \
      and the form in which the value is there; the value is never printed. Names of files and directories are \
      searched, too: their line has "in the name" in place of the line and column, and in each path *** stands for a \
      name that has a value. If something is found, or a file cannot be read, the exit code is 1.

        plain      the value itself
        line       one line of a longer value: at least 20 bytes without a space
        base64     in the standard alphabet or that of URLs, also within longer data
        percent    percent-encoded, as in URLs and forms, once or several times
        hex        two digits for each byte, all in upper or all in lower case
        json       with the escapes of JSON
        quoted     quoted for a shell, YAML, SQL, CSV or a programming language
        entity     with the entities of XML or HTML
        printable  quoted-printable, if only the bytes that need it are encoded, in upper case

      Blanks, backspaces, line ends, quotes, backslashes, +, = and $ are not compared, so that a value is found \
      however it is quoted, indented and wrapped. Only text and data with at least 8 bytes are searched for, 6 of \
      which are none of these, and of values longer than 4096 bytes, only the first 4096. A part of a value that is \
      neither one of its lines nor these 4096 bytes is not found. Binary files are searched too; of symbolic links \
      below a directory, the target's name is searched, and they are not followed. The vault itself is sealed, and no \
      finding.

      --service, --group, --match and --except choose the keys whose values are searched for. Without them it is all \
      of them, as with --all-services and --all-groups, which also warns about access groups that the credential does \
      not open. A pattern that no key matches is an error.

      With --git, the paths are repositories. Every version and every name of a file and every message of the commits \
      that a branch, a tag or a stash reaches is searched once, and named by the first commit that has it. So are the \
      names of branches and tags, the messages of tags, and files that a tag names without a commit; these are named \
      by the reference. What only the log of a branch still has, such as an amended commit, is not searched, nor are \
      files that are not committed. A warning names a shallow clone, which has only a part of the history.

      Before a commit, "git diff --cached" writes what it changes; without --text, it leaves out files with NUL bytes \
      and those with the attribute -diff. Lines that the commit removes are searched too, so one that removes a value \
      from a file is refused.

      EXAMPLE:
        secretprefs scan .
        secretprefs scan --git . --json
        git diff --cached --text --no-ext-diff --no-textconv | secretprefs scan -
        secretprefs scan . --all-groups --except 'test/*'
      """)

  @OptionGroup var vault: VaultOptions
  @OptionGroup var unlock: UnlockOptions

  @Option(name: FastPathOption.service.name, help: ArgumentHelp("Only the values of this service.", valueName: "name"))
  var service: String?

  @Option(
    name: FastPathOption.group.name, help: ArgumentHelp("Only the values of this access group.", valueName: "name"))
  var group: String?

  @OptionGroup var scope: ScopeOptions
  @OptionGroup var patterns: PatternOptions

  @Flag(help: "Search the git histories of these repositories.")
  var git = false

  @Argument(
    help: ArgumentHelp("The files and directories, or \"-\" for standard input.", valueName: "path"),
    completion: .file())
  var paths: [String] = []

  func perform(_ messages: Messages) throws {
    guard !paths.isEmpty else { throw Self.usageError("a path is required, or - for standard input") }
    let access = try unlock.complete(try vault.access())
    let readsInput = paths.contains("-") && !git
    guard !readsInput || access.passphraseDescriptor != STDIN_FILENO else {
      throw ToolError.usage(
        "standard input cannot be both the passphrase and the text", hint: "use a different descriptor")
    }
    try scope.check(service: service, group: group)
    let service = try service.map { (name) throws(VaultError) in try Vault.Name(name) }
    let choice = try patterns.choice()
    let vault = try access.open(messages)
    if scope.allGroups { _ = try vault.allGroups(messages) }
    let values = try ScannedValues(choice, of: service, in: group, of: vault)
    if !values.unopened.isEmpty {
      messages.warn("not searched for, because the value needs the device key: \(listed(values.unopened))")
    }
    guard !values.names.isEmpty else { throw ToolError.nothingToSearch }
    if values.tooShort > 0 {
      let are = counted(values.tooShort, "value has", "values have")
      messages.warn(
        "\(are) fewer than \(ValuePatterns.minimum) bytes, or fewer than \(ValueSearch.window) that are compared, and "
          + "cannot be searched for")
    }
    let report = try ScanReport(values, messages)
    var failure: (any Error)?
    for path in paths {
      if git {
        do { try search(repository: path, report, messages) } catch {
          guard paths.count > 1 else { throw error }
          // What was found elsewhere is shown all the same.
          failure = failure ?? error
          report.finish(at: ScanReport.Origin(path: Array(path.utf8)))
        }
      } else if path == "-" {
        report.search(STDIN_FILENO, at: ScanReport.Origin(path: Array(path.utf8)))
      } else {
        try search(path, report)
      }
    }
    try Output.write(self.vault.json ? report.json.text + "\n" : report.text)
    if let failure { throw failure }
    if let error = report.error { throw error }
  }

  private func search(_ path: String, _ report: ScanReport) throws {
    report.searchName(at: ScanReport.Origin(path: Array(path.utf8)), isWhole: true)
    try FileTree.visit(path) { descriptor, path in
      report.search(descriptor, at: ScanReport.Origin(path: FileTree.bytes(of: path)))
    } failed: { path, number in
      report.fail(at: ScanReport.Origin(path: FileTree.bytes(of: path)), number)
    } entry: { path, target in
      let origin = ScanReport.Origin(path: FileTree.bytes(of: path))
      report.searchName(at: origin)
      guard let target else { return }
      target.withUnsafeBytes(report.add)
      report.finish(at: origin)
    }
  }

  private func search(repository path: String, _ report: ScanReport, _ messages: Messages) throws {
    let name = report.shown(Array(path.utf8))
    var history = try GitHistory(of: path, called: name)
    if try history.isShallow() {
      messages.warn("\(displayed(name)): only a part of the history is searched, because the clone is shallow")
    }
    try history.search(report)
  }
}
