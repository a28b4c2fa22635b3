internal import ArgumentParser
internal import VaultCore

/// The options of what a vault is stored in.
struct StorageOptions: ParsableArguments {
  @Flag(
    help: ArgumentHelp(
      "The vault is shared by the Unix group of its directory.",
      discussion: "Default: $SECRETPREFS_SHARED. See \"secretprefs help init\"."))
  var shared = false

  @Option(
    help: ArgumentHelp(
      "The folder of this machine for the logs of a vault in a database.",
      discussion: "Default: $SECRETPREFS_LOGS. See \"secretprefs help audit\".", valueName: "folder"),
    completion: .directory)
  var logs: String?

  @Option(help: ArgumentHelp("How long to wait for the vault's lock.", valueName: "seconds"))
  var lockTimeout = VaultAccess.usualLockTimeout

  /// Whether one of them is given, which is of no use without a vault.
  var areGiven: Bool { shared || logs != nil || lockTimeout != VaultAccess.usualLockTimeout }

  /// - Parameters:
  ///   - vault: The path or URL in `--vault`.
  ///   - files: The files of the configuration.
  func access(_ vault: String?, in files: Configuration.Files = .all) throws(ToolError) -> VaultAccess {
    guard (0...86_400).contains(lockTimeout) else { throw .usage("--lock-timeout must be between 0 and 86400 seconds") }
    if let logs { try refuseDash(logs, as: "--logs") }
    var access = try VaultAccess(try VaultLocation(option: vault, logs: logs, in: files), in: files)
    guard logs == nil || access.location.path == nil else {
      throw .usage("--logs is about a database", hint: "the logs of a vault in a file are beside it")
    }
    access.lockTimeout = .seconds(lockTimeout)
    if shared {
      guard access.location.path != nil else {
        throw .usage("--shared is about a file", hint: "\"secretprefs postgres grant\" shares a vault in a database")
      }
      access.pathPolicy = .sharedWithGroup
    }
    return access
  }
}
