internal import Secrets
internal import VaultCore

/// A new passphrase: from a descriptor, else typed twice on the terminal.
struct NewPassphrase {
  let descriptor: Int32?

  func read(_ messages: Messages) throws -> Vault.Credential {
    if let descriptor, let credential = try Unlocking.passphraseDescriptor(descriptor).credential() {
      return credential
    }
    let typed = try Prompt.newPassphrase()
    // NIST SP 800-63B-4 asks for 15 characters of a passphrase that is used alone. Advice, not a rule.
    let characters = typed.withUnsafeBytes { $0.count { $0 & 0xC0 != 0x80 } }
    if characters < 15 { messages.warn("the passphrase is short; 15 characters or more are hard to guess") }
    return .passphrase(typed)
  }
}
