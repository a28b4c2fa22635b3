internal import ArgumentParser

/// Which vault, and how answers look. Every command that works on a vault has these.
struct VaultOptions: ParsableArguments {
  @Option(
    name: PlainOption.vault.name,
    help: ArgumentHelp(
      "The vault.",
      discussion: "Else $SECRETPREFS_VAULT, else secretprefs/default.spv in $XDG_DATA_HOME or ~/.local/share.",
      valueName: "path"))
  var vault: String?

  @Option(help: ArgumentHelp("How long to wait for other writers.", valueName: "seconds"))
  var lockTimeout: Double = 30

  @Flag(help: "Answer in JSON; errors and warnings are JSON objects on standard error.")
  var json = false

  func access() throws(ToolError) -> VaultAccess {
    guard (0...86_400).contains(lockTimeout) else { throw .usage("--lock-timeout is 0 to 86400 seconds") }
    var access = try VaultAccess(try VaultLocation(option: vault))
    access.lockTimeout = .seconds(lockTimeout)
    return access
  }
}
