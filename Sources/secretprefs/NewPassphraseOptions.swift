internal import ArgumentParser
internal import VaultCore
internal import VaultSealing

/// Where the new passphrase of an existing vault comes from.
struct NewPassphraseOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "Read the new passphrase from this descriptor.",
      discussion: "For example: --new-passphrase-fd 4 4< new.txt",
      valueName: "number"))
  var newPassphraseFd: Int32?

  @Flag(help: "Take a new passphrase that is short, repeats itself or follows a row.")
  var acceptWeak = false

  @Flag(help: "Make guessing the new passphrase cheap: for tests and trials alone.")
  var throwawayCost = false

  /// Checks the descriptor before anything of ours can have its number.
  func check(besides access: VaultAccess) throws(ToolError) {
    guard let newPassphraseFd else { return }
    _ = try PassphraseDescriptor.check(newPassphraseFd, of: "--new-passphrase-fd")
    try PassphraseDescriptor.checkDistinct([newPassphraseFd] + [access.passphraseDescriptor].compactMap(\.self))
  }

  /// Reads the new passphrase, for a slot of that label.
  func slot(_ label: String, _ access: VaultAccess) throws -> NewSlot {
    do {
      guard newPassphraseFd != nil || access.mayPrompt else {
        throw VaultError(.noCredential, "no new passphrase is configured")
      }
      let credential = try NewPassphrase(descriptor: newPassphraseFd, acceptsWeak: acceptWeak).read()
      return NewSlot(credential, label: label, cost: throwawayCost ? .throwaway : nil)
    } catch let error as VaultError {
      guard error.code == .noCredential else { throw error }
      throw ToolError(error, hint: "give --new-passphrase-fd; to be asked for it takes a terminal")
    }
  }
}
