internal import ArgumentParser
internal import VaultCore
internal import VaultSealing

/// The source of a new passphrase for an existing vault.
struct NewPassphraseOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "Read the new passphrase from this descriptor.",
      discussion: "Example: --new-passphrase-fd 4 4< new.txt",
      valueName: "number"))
  var newPassphraseFd: Int32?

  @Flag(help: "Accept a new passphrase that is short, repetitive or a keyboard or letter sequence.")
  var acceptWeak = false

  @Flag(help: "Use an insecurely cheap key derivation for the new passphrase. For tests only.")
  var throwawayCost = false

  /// Whether the passphrase is typed at a prompt.
  var isTyped: Bool { newPassphraseFd == nil }

  /// Refuses the flags for a slot that has no passphrase.
  func refuseFlags() throws(ToolError) {
    try Self.refuse(acceptWeak: acceptWeak, throwawayCost: throwawayCost)
  }

  /// The same for a command whose own flags have these names.
  static func refuse(acceptWeak: Bool, throwawayCost: Bool) throws(ToolError) {
    guard !acceptWeak else { throw .usage("--accept-weak has no effect without a new passphrase") }
    guard !throwawayCost else { throw .usage("--throwaway-cost has no effect without a new passphrase") }
  }

  /// Checks the descriptor before this process opens a file that could get the same number.
  func check(besides access: VaultAccess) throws(ToolError) {
    guard let newPassphraseFd else { return }
    _ = try PassphraseDescriptor.check(newPassphraseFd, of: "--new-passphrase-fd")
    try PassphraseDescriptor.checkDistinct([newPassphraseFd] + [access.passphraseDescriptor].compactMap(\.self))
  }

  /// Reads the new passphrase and returns a slot with this label.
  func slot(_ label: String, _ access: VaultAccess) throws -> NewSlot {
    do {
      guard newPassphraseFd != nil || access.mayPrompt else {
        throw VaultError(.noCredential, "no new passphrase is configured")
      }
      let credential = try NewPassphrase(descriptor: newPassphraseFd, acceptsWeak: acceptWeak).read()
      return NewSlot(credential, label: label, cost: throwawayCost ? .throwaway : nil)
    } catch let error as VaultError {
      guard error.code == .noCredential else { throw error }
      throw ToolError(error, hint: "use --new-passphrase-fd; a prompt needs a terminal")
    }
  }
}
