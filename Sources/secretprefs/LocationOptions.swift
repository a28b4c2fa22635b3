internal import ArgumentParser

/// The options of where a vault is.
struct LocationOptions: ParsableArguments {
  @Option(
    name: FastPathOption.vault.name,
    help: ArgumentHelp(
      "The path of the vault, or the URL of one in a PostgreSQL database.",
      discussion: """
        A URL is \(DatabaseURL.form). Default: $SECRETPREFS_VAULT, the setting vault, or secretprefs/default.spv in \
        $XDG_DATA_HOME or ~/.local/share.
        """,
      valueName: "path"), completion: .file())
  var vault: String?

  @OptionGroup var storage: StorageOptions

  /// - Parameter files: The files of the configuration.
  func access(in files: Configuration.Files = .all) throws(ToolError) -> VaultAccess {
    try storage.access(vault, in: files)
  }
}
