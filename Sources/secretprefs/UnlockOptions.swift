internal import ArgumentParser

/// The options that select how to unlock the vault.
struct UnlockOptions: ParsableArguments {
  @OptionGroup var credential: CredentialOptions

  @Option(
    help: ArgumentHelp(
      "Refuse a vault that is older than this rollback mark, and update the mark.",
      discussion: "Default: $SECRETPREFS_MARK. See \"secretprefs help mark\".", valueName: "file"), completion: .file())
  var mark: String?

  /// Whether one of them says how to unlock a vault.
  var areGiven: Bool { credential.areGiven || mark != nil }

  func complete(_ access: VaultAccess) throws(ToolError) -> VaultAccess {
    var access = try credential.complete(access)
    if let mark {
      try refuseDash(mark, as: "the mark")
      access.markPath = mark
    }
    return access
  }
}
