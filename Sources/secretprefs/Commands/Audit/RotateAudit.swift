internal import ArgumentParser
internal import VaultCore

/// `secretprefs audit rotate`.
struct RotateAudit: WritingCommand {
  static let configuration = CommandConfiguration(
    commandName: "rotate",
    abstract: "Begins a new file of the log of each access group that the credential opens.",
    usage: "secretprefs audit rotate [<options>]",
    discussion: """
      The present file gets a number behind its name and is not written any more: it can be copied away, and put back \
      to show and verify it. All files of a log are one chain, so a file that is missing is reported. Needs no owner. \
      Does not change a key: that is "secretprefs rotate".

      EXAMPLE:
        secretprefs audit rotate
        secretprefs audit rotate --group billing
      """)

  @OptionGroup var vault: VaultOptions
  @OptionGroup var unlock: UnlockOptions

  @Option(help: ArgumentHelp("The log of this access group only.", valueName: "name"), completion: .groups)
  var group: String?

  func perform(_ messages: Messages) throws {
    let vault = try unlock.complete(try vault.access()).open(messages)
    var names: [String] = []
    for group in try vault.auditedGroups(named: group) {
      do throws(VaultError) { try vault.handOverAuditLog(of: group) } catch {
        let error = error.concerning(group, after: names)
        guard error.code == .notFound else { throw error }
        throw ToolError(error, hint: "\"secretprefs audit on\" switches logging on")
      }
      names.append(group.name.text)
      vault.recordChange(by: Self.self, messages)
    }
    if self.vault.json { try Output.write(.object([("groups", .array(names.map { .string($0) }))])) }
  }
}
