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
      configured credential, also authenticates the contents, lists the access groups, and compares the vault with \
      its mark if there is one. Prompts for a passphrase only with --unlock.

      EXAMPLE:
        secretprefs status
        secretprefs status --unlock
      """)

  @OptionGroup var vault: VaultOptions
  @OptionGroup var unlock: UnlockOptions

  @Flag(name: .customLong("unlock"), help: "Prompt for the passphrase if no credential is configured.")
  var asks = false

  func perform(_ messages: Messages) throws {
    let access = try unlock.complete(try vault.access())
    let summary: VaultSummary
    do throws(VaultError) {
      summary = try VaultSummary(at: access.location.path, options: access.options)
    } catch { throw access.explained(error) }
    let opened = asks ? try access.open(messages) : try access.openIfConfigured(messages)
    let report = StatusReport(
      path: access.location.path, summary: summary, verified: try opened?.status(), hasMark: access.markPath != nil,
      markFailure: opened?.markFailure)
    if vault.json { try Output.write(report.json) } else { try Output.write(report.text) }
  }
}
