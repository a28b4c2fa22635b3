internal import ArgumentParser
internal import VaultCore

/// `secretprefs doctor`.
struct Doctor: ToolCommand {
  static let configuration = CommandConfiguration(
    commandName: "doctor",
    abstract: "Looks at everything, and says what is wrong and what mends it.",
    usage: "secretprefs doctor [<options>] [--repair <name> [<group> ...]]",
    discussion: """
      Owners, modes and links of the vault, its directory and key files, the file's structure, slots and their \
      cost, the mark, and what the system lets programs lock away. With a configured credential also access \
      groups, values and expiries; the passphrase is asked for with --unlock alone. What could not be seen is \
      said. Nothing is changed. Each problem is an error, a warning or an advice, with the one thing that mends \
      it. Exit code 1 if there is an error or a warning.

      --repair mends one thing and nothing else: "permissions" takes rights away that others must not have; \
      "empty-group" empties access groups that do not verify and keep all others from being written anew; \
      "leave-out-group" removes them. The last two ask first.

      EXAMPLE:
        secretprefs doctor
        secretprefs doctor --unlock --json
        secretprefs doctor --repair permissions
        secretprefs doctor --repair empty-group billing
      """)

  @OptionGroup var vault: VaultOptions
  @OptionGroup var unlock: UnlockOptions

  @Flag(name: .customLong("unlock"), help: "Ask for the passphrase if nothing else is configured.")
  var asks = false

  @Option(help: ArgumentHelp("Mend this: permissions, empty-group or leave-out-group.", valueName: "name"))
  var repair: Repair?

  @Flag(help: "Mend it without asking.")
  var yes = false

  @Argument(help: ArgumentHelp("The access groups to mend.", valueName: "group"))
  var groups: [String] = []

  func perform(_ messages: Messages) throws {
    let access = try unlock.complete(try vault.access())
    guard try access.location.isOccupied else {
      throw VaultError(.notFound, "\(access.location.path): there is no vault at this path")
    }
    if let repair { return try mend(repair, access, messages) }
    guard groups.isEmpty else { throw Self.misused("groups are named with --repair alone") }
    let report = try Examination(access, asks: asks, messages).report
    try vault.json ? Output.write(report.json) : Output.write(report.text)
    if report.wrongCount > 0 { throw ToolError.problems(report.wrongCount) }
  }

  private func mend(_ repair: Repair, _ access: VaultAccess, _ messages: Messages) throws {
    guard groups.isEmpty == (repair == .permissions) else {
      throw Self.misused(
        repair == .permissions ? "this repair takes no access group" : "an access group is needed")
    }
    let done =
      switch repair {
      case .permissions: try PermissionRepair(access).done
      case .emptyGroup: try mendGroups(.empty, access, messages)
      case .leaveOutGroup: try mendGroups(.leaveOut, access, messages)
      }
    if !done.isEmpty { Output.noteChange() }
    guard !vault.json else {
      return try Output.write(
        .object([("repair", .string(repair.rawValue)), ("done", .array(done.map { .string($0) }))]))
    }
    try Output.write(done.isEmpty ? "nothing was to be mended\n" : done.map { displayed($0) + "\n" }.joined())
  }

  private func mendGroups(_ how: GroupRepair, _ access: VaultAccess, _ messages: Messages) throws -> [String] {
    let names = try groups.map { (name) throws(VaultError) in try Vault.Name(name) }
    var access = access
    // A mark takes every group to verify. The next command raises it.
    access.markPath = nil
    let vault = try access.open(messages)
    let groups = try names.map { (name) in try vault.grantedGroup(name.text) }
    let named = names.map { displayed($0.text) }.joined(separator: ", ")
    let verb = how == .empty ? "Empty" : "Leave out"
    if !yes {
      try Prompt.confirm(
        "The records of \(named) are lost, but for what salvage saves. \(verb) what does not verify?",
        otherwise: "the records of what does not verify would be lost", mayPrompt: access.mayPrompt)
    }
    do throws(VaultError) { try vault.repair(groups, how) } catch {
      switch error.code {
      case .conflict: throw ToolError(error, hint: "\"secretprefs doctor\" shows what is wrong")
      case .tampered, .malformed, .limitExceeded:
        throw ToolError(error, hint: "name all access groups that do not verify: one is in the way of the others")
      default: throw error
      }
    }
    return names.map { how == .empty ? "\($0.text) is empty, under a new key" : "\($0.text) is gone, with its slots" }
  }
}
