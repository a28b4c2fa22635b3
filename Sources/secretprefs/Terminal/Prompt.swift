internal import VaultCore
internal import VaultSealing

/// The questions the tool asks, on the controlling terminal.
enum Prompt {
  /// The passphrase of an existing vault.
  static func passphrase(of path: String) throws(VaultError) -> SecretBytes {
    try notEmpty(try ControllingTerminal().ask("Passphrase of \(displayed(path)): "))
  }

  /// A new passphrase, typed twice.
  static func newPassphrase() throws(VaultError) -> SecretBytes {
    let terminal = try ControllingTerminal()
    let first = try notEmpty(try terminal.ask("New passphrase: "))
    let second = try terminal.ask("The same again: ")
    let agree = first.isEqual(to: second)
    guard agree else { throw VaultError(.invalidPassphrase, "the two passphrases differ") }
    return first
  }

  /// A value, one line of it.
  static func value() throws -> SecretBytes {
    let value: SecretBytes
    do throws(VaultError) { value = try ControllingTerminal().ask("Value: ") } catch {
      guard error.code == .noCredential else { throw error }
      throw ToolError.usage("there is no value and no terminal to ask on", hint: UsageRefusal.set)
    }
    // More likely a slip than a wish; the wish has another way.
    guard value.count > 0 else {
      throw ToolError.usage("no value was typed", hint: "an empty value is stored from an empty file: < /dev/null")
    }
    return value
  }

  /// Whether a question is answered with "yes"; everything else is no.
  static func confirms(_ question: String) throws(VaultError) -> Bool {
    let answer = try ControllingTerminal(echoes: true).ask(question + " [yes/no] ")
    return answer.withUnsafeBytes { $0.elementsEqual("yes".utf8) }
  }

  private static func notEmpty(_ passphrase: consuming SecretBytes) throws(VaultError) -> SecretBytes {
    guard passphrase.count > 0 else { throw VaultError(.invalidPassphrase, "the passphrase is empty") }
    return passphrase
  }
}
