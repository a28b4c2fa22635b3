internal import ArgumentParser
internal import VaultCore
internal import VaultSealing

/// `secretprefs status`.
struct Status: ToolCommand {
  static let configuration = CommandConfiguration(
    commandName: "status",
    abstract: "Tells what is known of a vault, and checks it.",
    usage: "secretprefs status [<options>]",
    discussion: """
      Without a credential: the checksum and the frame of the file, and how it can be unlocked. With a \
      configured one, also whether anything was tampered with, and the access groups; and, if there is a mark, \
      whether the vault is older. The passphrase is asked for with --unlock alone.

      EXAMPLE:
        secretprefs status
        secretprefs status --unlock
      """)

  @OptionGroup var vault: VaultOptions
  @OptionGroup var unlock: UnlockOptions

  @Flag(name: .customLong("unlock"), help: "Ask for the passphrase if nothing else is configured.")
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
