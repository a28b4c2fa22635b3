internal import ArgumentParser
internal import VaultCore

/// The options of the credential of a vault.
struct CredentialOptions: ParsableArguments {
  @Option(
    name: FastPathOption.keyFile.name,
    help: ArgumentHelp("Unlock with the raw key in this file.", valueName: "file"), completion: .file())
  var keyFile: String?

  @Option(
    help: ArgumentHelp(
      "Unlock with the identity in this file.", discussion: "See \"secretprefs help identity\".", valueName: "file"),
    completion: .file())
  var identity: String?

  @Option(
    help: ArgumentHelp(
      "The pin of the vault that the identity trusts.",
      discussion: "Default: $SECRETPREFS_TRUST, or the second line of the identity file.", valueName: "pin"))
  var trust: String?

  @Option(
    help: ArgumentHelp(
      "Unlock with the passphrase read from this descriptor.",
      discussion: "Example: --passphrase-fd 3 3< passphrase.txt",
      valueName: "number"))
  var passphraseFd: Int32?

  @Option(
    help: ArgumentHelp(
      "Unlock with the passphrase that this program prints.",
      discussion: "Default: $SECRETPREFS_PASSPHRASE_COMMAND. See UNLOCKING in \"secretprefs help\".",
      valueName: "command"))
  var passphraseCommand: String?

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

  /// Whether one of them says how to unlock a vault.
  var areGiven: Bool {
    [keyFile, identity, trust, passphraseCommand, deviceKeyFile].contains { $0 != nil } || passphraseFd != nil
  }

  /// A pin that names no identity's vault would protect nothing.
  static let unusedPin = ToolError.usage("--trust is for an identity", hint: "name its file with --identity")

  func complete(_ access: VaultAccess) throws(ToolError) -> VaultAccess {
    guard [keyFile != nil, identity != nil, passphraseFd != nil, passphraseCommand != nil].count(where: \.self) <= 1
    else {
      throw .usage(
        "--key-file, --identity, --passphrase-fd and --passphrase-command cannot be used together",
        hint: "use one of them")
    }
    try refuseDash(reading: keyFile, as: "--key-file")
    try refuseDash(reading: identity, as: "--identity")
    try refuseDash(reading: deviceKeyFile, as: "--device-key-file")
    guard trust == nil || (keyFile == nil && passphraseFd == nil && passphraseCommand == nil) else {
      throw Self.unusedPin
    }
    var access = access
    access.keyFile = keyFile
    access.identity = identity
    access.trust = try PublicText.trusted(trust)
    access.passphraseDescriptor = try passphraseFd.map { (number) throws(ToolError) in
      try PassphraseDescriptor.check(number)
    }
    do throws(VaultError) {
      access.passphraseCommand = try passphraseCommand.map { (text) throws(VaultError) in
        try PassphraseCommand(text, of: "--passphrase-command")
      }
    } catch { throw ToolError(error) }
    access.mayPrompt = !noPrompt
    access.deviceKeyFile = deviceKeyFile
    return access
  }
}
