internal import Secrets
internal import VaultCore

/// A new passphrase, read from a descriptor or typed twice on the terminal.
struct NewPassphrase {
  let descriptor: Int32?
  /// Whether to accept a passphrase that ``PassphraseRule`` considers weak.
  let acceptsWeak: Bool
  /// What it is for: one or more lines in front of the prompt.
  var purpose = ""

  func read() throws -> Vault.Credential {
    guard let descriptor else { return .passphrase(try Prompt.newPassphrase(purpose, check)) }
    let credential = try Unlocking.passphraseDescriptor(descriptor).configuredCredential()
    try credential.withPassphrase {
      $0.withUnsafeBytes { bytes in Result { () throws(ToolError) in try check(bytes) } }
    }?.get()
    return credential
  }

  private func check(_ passphrase: UnsafeRawBufferPointer) throws(ToolError) {
    guard !acceptsWeak, let weakness = PassphraseRule.weakness(of: passphrase) else { return }
    throw ToolError(
      VaultError(.invalidPassphrase, "the passphrase is weak: \(weakness)"),
      hint: "use several unrelated words, or add --accept-weak")
  }
}
