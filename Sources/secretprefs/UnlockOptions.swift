internal import ArgumentParser

/// How to unlock the vault.
struct UnlockOptions: ParsableArguments {
  @Option(help: ArgumentHelp("Unlock with the raw key in this file.", valueName: "file"))
  var keyFile: String?

  @Option(
    help: ArgumentHelp(
      "Unlock with the passphrase read from this descriptor.",
      discussion: "For example: --passphrase-fd 3 3< passphrase.txt",
      valueName: "number"))
  var passphraseFd: Int32?

  @Flag(help: "Never ask for the passphrase on the terminal.")
  var noPrompt = false

  func complete(_ access: VaultAccess) throws(ToolError) -> VaultAccess {
    guard keyFile == nil || passphraseFd == nil else {
      throw .usage("--key-file and --passphrase-fd are two ways to unlock", hint: "give one of them")
    }
    var access = access
    access.keyFile = keyFile
    access.passphraseDescriptor = try passphraseFd.map { (number) throws(ToolError) in
      try PassphraseDescriptor.check(number)
    }
    access.mayPrompt = !noPrompt
    return access
  }
}
