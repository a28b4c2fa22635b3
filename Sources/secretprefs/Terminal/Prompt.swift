internal import VaultCore
internal import VaultSealing

/// The questions the tool asks, on the controlling terminal.
enum Prompt {
  /// How often the passphrase of an existing vault may be typed.
  static let tries = 3

  /// The passphrase of an existing vault.
  ///
  /// - Parameter rejected: how many were typed in vain.
  static func passphrase(of vault: String, rejected: Int) throws(VaultError) -> SecretBytes {
    let remark =
      rejected == 0 ? "" : "It does not open with that; \(counted(tries - rejected, "try is", "tries are")) left.\n"
    return try notEmpty(try ControllingTerminal().ask("\(remark)Passphrase of \(displayed(vault)): "))
  }

  /// A new passphrase, typed twice.
  ///
  /// - Parameter judge: throws for one that will not do, before it is typed again.
  static func newPassphrase(_ judge: (UnsafeRawBufferPointer) throws(ToolError) -> Void) throws -> SecretBytes {
    let terminal = try ControllingTerminal()
    let first = try notEmpty(try terminal.ask("New passphrase: "))
    try first.withUnsafeBytes(judge)
    let second = try terminal.ask("The same again: ")
    let agree = first.isEqual(to: second)
    guard agree else { throw VaultError(.invalidPassphrase, "the two passphrases differ") }
    return first
  }

  /// A value, one line of it.
  static func value() throws -> SecretBytes {
    do throws(VaultError) { return try ControllingTerminal().ask("Value: ") } catch {
      guard error.code == .noCredential else { throw error }
      throw ToolError.usage("there is no value and no terminal to ask on", hint: UsageRefusal.set)
    }
  }

  /// Has a question answered with "yes" before something is lost.
  ///
  /// - Parameter refusal: what would be lost, for when there is nobody to ask.
  /// - Throws: ``ToolError/declined``, or a refusal that says how to do it without asking.
  static func confirm(_ question: String, otherwise refusal: String, mayPrompt: Bool) throws {
    let isConfirmed: Bool
    do throws(VaultError) {
      guard mayPrompt else { throw VaultError(.noCredential, "may not ask") }
      isConfirmed = try confirms(question)
    } catch {
      guard error.code == .noCredential else { throw error }
      throw ToolError.usage("\(refusal), and there is nobody to ask", hint: "--yes does it without asking")
    }
    guard isConfirmed else { throw ToolError.declined }
  }

  /// Everything but "yes" is no.
  private static func confirms(_ question: String) throws(VaultError) -> Bool {
    let answer = try ControllingTerminal(echoes: true).ask(question + " [yes/no] ")
    return answer.withUnsafeBytes { $0.elementsEqual("yes".utf8) }
  }

  private static func notEmpty(_ passphrase: consuming SecretBytes) throws(VaultError) -> SecretBytes {
    guard passphrase.count > 0 else { throw VaultError(.invalidPassphrase, "the passphrase is empty") }
    return passphrase
  }
}
