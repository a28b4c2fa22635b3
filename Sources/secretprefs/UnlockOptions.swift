internal import ArgumentParser

/// The options that select how to unlock the vault.
struct UnlockOptions: ParsableArguments {
  @Option(
    name: FastPathOption.keyFile.name,
    help: ArgumentHelp("Unlock with the raw key in this file.", valueName: "file"), completion: .file())
  var keyFile: String?

  @Option(
    help: ArgumentHelp(
      "Unlock with the passphrase read from this descriptor.",
      discussion: "Example: --passphrase-fd 3 3< passphrase.txt",
      valueName: "number"))
  var passphraseFd: Int32?

  @Flag(name: FastPathOption.noPrompt.name, help: "Never prompt on the terminal.")
  var noPrompt = false

  @Option(
    help: ArgumentHelp(
      "The device key file, for values bound to this machine.",
      discussion: """
        Default: secret-preferences-device.key in $CREDENTIALS_DIRECTORY, or the file named by \
        $SECRETPREFS_DEVICE_KEY_FILE.
        """,
      valueName: "file"), completion: .file())
  var deviceKeyFile: String?

  @Option(
    help: ArgumentHelp(
      "Refuse a vault that is older than this rollback mark, and update the mark.",
      discussion: "Default: $SECRETPREFS_MARK. See \"secretprefs help mark\".", valueName: "file"), completion: .file())
  var mark: String?

  func complete(_ access: VaultAccess) throws(ToolError) -> VaultAccess {
    guard keyFile == nil || passphraseFd == nil else {
      throw .usage("--key-file and --passphrase-fd cannot be used together", hint: "use one of them")
    }
    var access = access
    if let mark { try access.setMark(mark) }
    access.keyFile = keyFile
    access.passphraseDescriptor = try passphraseFd.map { (number) throws(ToolError) in
      try PassphraseDescriptor.check(number)
    }
    access.mayPrompt = !noPrompt
    access.deviceKeyFile = deviceKeyFile
    return access
  }
}
