internal import ArgumentParser
internal import VaultCore

/// `secretprefs check`.
struct Check: ToolCommand {
  static let configuration = CommandConfiguration(
    commandName: "check",
    abstract: "Checks the references of env files and templates without opening a value.",
    usage: "secretprefs check [<options>] <file> ...",
    discussion: """
      Reads env files of "secretprefs run" and templates of "secretprefs inject", and reports all problems at once, \
      each with its file and line: a line that is malformed, a reference to a key that does not exist, to an access \
      group that the credential does not open, to a key that has expired, or to a value that is bound to a machine or \
      is data. A file in which references are in braces, and no line is NAME=secret://service/key, is a template, \
      unless its name ends in .env; every other one is an env file.

      No value is opened, and no read is logged. The names in a vault are sealed, so a credential is needed; with \
      --syntax alone, only the files are read, and no vault. It does not find out whether a text has NUL, or a value \
      is bound to a different machine.

      The exit code is 65 if a file has a malformed line, 1 if it has any other problem, and 0 if a command that uses \
      the files finds all values. A plain value that other programs read differently is named in a warning, and so is \
      one that has the name of a key of a service that the files refer to.

      EXAMPLE:
        secretprefs check .env server.toml.template
        secretprefs check --syntax .env
        secretprefs check --expires-within 14d --json .env
      """)

  @OptionGroup var vault: VaultOptions
  @OptionGroup var unlock: UnlockOptions

  @Flag(help: "Read the files alone, and open no vault.")
  var syntax = false

  @Flag(help: "Read all files as templates.")
  var template = false

  @Option(
    help: ArgumentHelp("Also report keys that expire within this time, such as 14d or 2w.", valueName: "duration"))
  var expiresWithin: String?

  @Argument(help: ArgumentHelp("The files.", valueName: "file"), completion: .file())
  var files: [String] = []

  func perform(_ messages: Messages) throws {
    guard !files.isEmpty else { throw Self.usageError("no file is given") }
    guard !syntax || expiresWithin == nil else {
      throw ToolError.usage("--expires-within needs the vault", hint: "omit --syntax")
    }
    let expiry = try ExpiryRule(expiresWithin ?? "0s")
    var checked: [CheckedFile] = []
    var unread: [ToolError] = []
    for file in files {
      do { checked.append(try CheckedFile(file, isTemplate: template)) } catch {
        unread.append(ToolError(thrown: error))
      }
    }
    if let error = ToolError.all(of: unread), checked.isEmpty { throw error }
    Self.warnOfDoubts(checked.flatMap(\.plain), messages)
    if !syntax {
      let access = try unlock.complete(try vault.access())
      let opened = try access.open(messages)
      let values = ReferencedValues(in: opened)
      let rule = ReferenceRule(
        now: access.options.now(), expiry: expiry, hasDeviceKey: opened.options.deviceKey != nil)
      for index in checked.indices { try checked[index].find(in: values, rule) }
      try VariableSelection.warn(checked.flatMap(\.plain), values, messages)
    }
    let problems = checked.flatMap(\.problems)
    let count = checked.reduce(0) { $0 + $1.lines.count }
    let paths = checked.map(\.path)
    try vault.json ? Output.write(json(count, paths, problems)) : Output.write(text(count, paths, problems))
    if let error = ToolError.all(of: unread) { throw error }
    guard problems.isEmpty else {
      throw ToolError.problems(problems.count, malformed: problems.first { $0.error.status == .badFile }?.error)
    }
  }

  /// Names the values that other programs read differently.
  ///
  /// - Parameter plain: Variables with plain values.
  private static func warnOfDoubts(_ plain: [Variable], _ messages: Messages) {
    let lines = plain.compactMap { variable in
      variable.doubt.map { "\(displayed(variable.origin ?? "")): \(variable.name) (\($0))" }
    }
    guard !lines.isEmpty else { return }
    messages.warn("other programs read these lines differently: \(lines.joined(separator: "; "))")
  }

  private func text(_ count: Int, _ files: [String], _ problems: [ReferenceProblem]) -> String {
    guard problems.isEmpty else { return problems.map { displayed($0.text) + "\n" }.joined() }
    let what = syntax ? "well-formed" : "valid"
    return "\(counted(count, "reference is", "references are")) \(what), in \(counted(files.count, "file", "files"))\n"
  }

  private func json(_ count: Int, _ files: [String], _ problems: [ReferenceProblem]) -> JSON {
    .object([
      ("files", .array(files.map { .string($0) })), ("references", .unsigned(UInt64(count))),
      ("problems", .array(problems.map(\.json))),
    ])
  }
}
