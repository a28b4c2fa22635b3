internal import ArgumentParser
internal import VaultCore
internal import VaultSealing

/// `secretprefs status`.
struct Status: ToolCommand {
  static let configuration = CommandConfiguration(
    commandName: "status",
    abstract: "Checks a vault and shows its state.",
    usage: "secretprefs status [<options>]",
    discussion: """
      Without a credential, checks the checksum and structure of the file and shows the ways to unlock it. With a \
      configured credential, also authenticates the contents, lists the access groups, and compares the vault with its \
      mark if there is one. Prompts for a passphrase only with --unlock. Shows which credential it used, where each \
      setting comes from, and until when "secretprefs unlock" keeps a key. The idle time of that key does not begin \
      again. The exit code is 1 if reads are refused because they cannot be logged. What the logs say is not read: \
      that is "secretprefs audit verify".

      EXAMPLE:
        secretprefs status
        secretprefs status --unlock
      """)

  @OptionGroup var vault: VaultOptions
  @OptionGroup var unlock: UnlockOptions

  @Flag(name: .customLong("unlock"), help: "Prompt for the passphrase if no credential is configured.")
  var asks = false

  func perform(_ messages: Messages) throws {
    var access = try unlock.complete(try vault.access())
    access.keptKeyUse = .look
    let summary: VaultInfo
    do throws(VaultError) {
      summary = try access.info()
    } catch { throw access.explained(error) }
    let opened = try access.openIfConfigured(messages) ?? (asks ? (try access.open(messages), .prompt) : nil)
    let problems = try opened?.vault.auditProblems() ?? []
    let report = StatusReport(
      location: access.location, summary: summary, verified: try opened?.vault.status(),
      auditing: try opened?.vault.auditing(), auditProblems: problems, hasMark: access.markPath != nil,
      markFailure: opened?.vault.markFailure, source: opened?.source, kept: try access.keptKey(),
      settings: try Configuration.effective(vault: vault.location.vault))
    if vault.json { try Output.write(report.json) } else { try Output.write(report.text) }
    try AuditProblem.report(problems, messages)
  }
}
