internal import ArgumentParser
internal import VaultCore

/// `secretprefs overview`, and `secretprefs` alone.
struct Overview: ToolCommand {
  static let configuration = CommandConfiguration(
    commandName: "overview",
    abstract: "Shows where one stands: the vault, whether it opens, and what is due.",
    usage: "secretprefs overview [<options>]",
    discussion: """
      Shows where the vault is, whether it exists and can be opened, how many keys and services it has, which \
      have expired or expire within \(ExpiryRule.usualText), which rotations are not confirmed, what is wrong with \
      reads, with the mount of the file or with the end of the journal, and a next step. Never prompts. Without a \
      configured credential it shows what the file says without one: names and expiries are sealed. The exit code is \
      0 also if there is no vault. If the vault does not open, where it is and why is shown as well, and the exit code \
      is that of the error. "secretprefs status" is for scripts. "secretprefs" alone does the same.

      EXAMPLE:
        secretprefs
        secretprefs overview --vault other.spv
      """)

  @OptionGroup var vault: VaultOptions
  @OptionGroup var unlock: UnlockOptions

  func perform(_ messages: Messages) throws {
    var access = try unlock.complete(try vault.access())
    access.keptKeyUse = .look
    let origin = try Configuration.effective(.vault, vault: vault.location.vault).origin
    let report = OverviewReport(access, origin, messages)
    try vault.json ? Output.write(report.json) : Output.write(report.text)
    if let failure = report.failure { throw failure }
  }
}
