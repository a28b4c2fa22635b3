internal import ArgumentParser
internal import VaultCore

/// `secretprefs doctor`.
struct Doctor: WritingCommand {
  static let configuration = CommandConfiguration(
    commandName: "doctor",
    abstract: "Checks a vault and its environment, and says how to fix problems.",
    usage: "secretprefs doctor [<options>] [--repair <name> [<group> ...]]",
    discussion: """
      Checks owners, modes and links of the vault, its directory and its key files, the structure of the file, the \
      slots and their cost, the mark, leftovers, and the limits for locked memory and core files. For a vault in a \
      database, also what the server and the role allow. With a configured \
      credential, also checks access groups, values, expiries and audit logs; prompts for a passphrase only with \
      --unlock. Lists what could not be checked. Changes nothing. Each problem is an error, a warning or advice, with \
      its repair. The exit code is 1 if there is an error or a warning, or what --fail-on says. A \
      value that has expired, or expires within \(ExpiryRule.usualText), is advice.

      --repair makes one repair: "permissions" removes access that group and others must not have; "leftovers" removes \
      what interrupted writes left in the directories of the vault, its mark and its key files and in those of \
      --leftovers-in: files named .secretprefs-INODE-RANDOM.part that have that inode or are empty; "empty-group" \
      empties access groups that fail verification and thereby block full writes of the vault; "leave-out-group" \
      removes such groups. These two ask for confirmation.

      EXAMPLE:
        secretprefs doctor
        secretprefs doctor --unlock --json
        secretprefs doctor --fail-on advice --expires-within 30d
        secretprefs doctor --repair permissions
        secretprefs doctor --repair empty-group billing
      """)

  @OptionGroup var vault: VaultOptions
  @OptionGroup var unlock: UnlockOptions

  @Flag(name: .customLong("unlock"), help: "Prompt for the passphrase if no credential is configured.")
  var asks = false

  @Option(
    help: ArgumentHelp("Also look for leftovers in this directory.", valueName: "directory"), completion: .directory)
  var leftoversIn: [String] = []

  @Option(help: ArgumentHelp("Repair permissions, leftovers, empty-group or leave-out-group.", valueName: "name"))
  var repair: Repair?

  @Option(
    help: ArgumentHelp(
      "Exit with 1 from this severity on: error, warning or advice.", discussion: ToolSetting.failOn.places,
      valueName: "severity"),
    completion: .list(Problem.Severity.allCases.map(\.rawValue)))
  var failOn: String?

  @Option(
    help: ArgumentHelp(
      "Name values that expire within this time; \(ExpiryRule.usual) by default.", valueName: "duration"))
  var expiresWithin: String?

  @Flag(help: "Repair without confirmation.")
  var yes = false

  @Argument(help: ArgumentHelp("The access groups to repair.", valueName: "group"), completion: .groups)
  var groups: [String] = []

  func perform(_ messages: Messages) throws {
    try checkOptions()
    MemoryFolder.removeAbandoned()
    MemoryFolder.noteKept(messages)
    let access = try unlock.complete(try vault.access())
    guard try access.location.isOccupied else {
      let place = access.location.path == nil ? "of this name in the database" : "at this path"
      throw VaultError(
        .notFound, "\(access.location.name): there is no vault \(place)",
        cause: ErrorSubject.storage(access.location.name))
    }
    if let repair { return try runRepair(repair, access, messages) }
    guard groups.isEmpty else { throw Self.usageError("access groups are only accepted with --repair") }
    let severity = try severity()
    let report = try Examination(
      access, leftovers: try Leftovers(access, in: leftoversIn), expiry: try ExpiryRule(expiresWithin), asks: asks,
      messages
    ).report
    try vault.json ? Output.write(report.json) : Output.write(report.text)
    let count = report.count(from: severity)
    if count > 0 { throw ToolError.problems(count) }
  }

  /// Refuses options that would have no effect.
  private func checkOptions() throws(ToolError) {
    let takesGroups = repair?.takesGroups ?? false
    guard repair == nil || failOn == nil && expiresWithin == nil else {
      throw .usage("--repair checks nothing", hint: "omit --fail-on and --expires-within")
    }
    guard !yes || takesGroups else { throw .usage("--yes is for the repair of access groups") }
    guard !asks || takesGroups || repair == nil else { throw .usage("this repair needs no --unlock") }
    guard leftoversIn.isEmpty || repair == nil || repair == .leftovers else {
      throw .usage("--leftovers-in is for a check, or the repair of leftovers")
    }
  }

  private func severity() throws(ToolError) -> Problem.Severity {
    guard let severity = Problem.Severity(rawValue: try Configuration.value(of: .failOn, option: failOn)) else {
      throw .usage("there is no such severity", hint: "--fail-on takes error, warning or advice")
    }
    return severity
  }

  private func runRepair(_ repair: Repair, _ access: VaultAccess, _ messages: Messages) throws {
    guard groups.isEmpty != repair.takesGroups else {
      throw Self.usageError(repair.takesGroups ? "an access group is required" : "this repair takes no access group")
    }
    switch repair {
    case .permissions:
      let repair = PermissionRepair(access)
      // What is changed stays changed, whatever happens to the next file.
      if repair.failure == nil || !repair.done.isEmpty { try report(repair.done) }
      if let failure = repair.failure { throw failure }
    case .leftovers:
      let (done, failure) = try Leftovers(access, in: leftoversIn).remove()
      if failure == nil || !done.isEmpty { try report(done) }
      if let failure { throw failure }
    case .emptyGroup: try report(try repairGroups(.empty, access, messages))
    case .leaveOutGroup: try report(try repairGroups(.leaveOut, access, messages))
    }
  }

  private func report(_ done: [String]) throws {
    if !done.isEmpty { Output.recordChange(by: Self.self) }
    guard !vault.json else {
      return try Output.write(
        .object([("repair", .string(repair?.rawValue ?? "")), ("done", .array(done.map { .string($0) }))]))
    }
    try Output.write(done.isEmpty ? "nothing to repair\n" : done.map { displayed($0) + "\n" }.joined())
  }

  private func repairGroups(_ how: GroupRepair, _ access: VaultAccess, _ messages: Messages) throws -> [String] {
    let names = try groups.map { (name) throws(VaultError) in try Vault.Name(name) }
    var access = access
    // Checking the mark needs every group to verify. The next command raises the mark.
    access.markPath = nil
    let vault = try access.open(messages)
    let groups = try names.map { (name) in try vault.grantedGroup(name.text) }
    let named = names.map { displayed($0.text) }.joined(separator: ", ")
    let verb = how == .empty ? "Empty" : "Remove"
    if !yes {
      try Prompt.confirm(
        "\(verb) \(named)? All records are lost, except those that \"secretprefs salvage\" recovers first.",
        otherwise: "all records of the named groups would be lost", mayPrompt: access.mayPrompt)
    }
    do throws(VaultError) { try vault.repair(groups, how) } catch {
      switch error.code {
      case .conflict: throw ToolError(error, hint: "\"secretprefs doctor\" lists the problems")
      case .tampered, .malformed, .limitExceeded:
        throw ToolError(error, hint: "name all access groups that fail verification; repair them together")
      default: throw error
      }
    }
    let result = how == .empty ? "was emptied and has a new key" : "was removed with its slots"
    return names.map { "\($0.text) \(result)" }
  }
}
