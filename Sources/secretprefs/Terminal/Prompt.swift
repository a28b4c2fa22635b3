internal import VaultCore
internal import VaultSealing

/// The prompts on the controlling terminal.
enum Prompt {
  /// The number of attempts at the passphrase of an existing vault.
  static let tries = 3

  /// Prompts for the passphrase of an existing vault.
  ///
  /// - Parameter rejected: The number of passphrases rejected so far.
  static func passphrase(of vault: String, rejected: Int) throws(VaultError) -> SecretBytes {
    let remark =
      rejected == 0 ? "" : "Wrong passphrase; \(counted(tries - rejected, "attempt", "attempts")) left.\n"
    return try notEmpty(try ControllingTerminal().ask("\(remark)Passphrase of \(displayed(vault)): "))
  }

  /// Prompts twice for a new passphrase, and again if it cannot be used.
  ///
  /// - Parameters:
  ///   - purpose: What it is for: one or more lines in front of the prompt, or empty.
  ///   - check: Throws if the passphrase is not acceptable, before it is typed again.
  static func newPassphrase(
    _ purpose: String, _ check: (UnsafeRawBufferPointer) throws(ToolError) -> Void
  ) throws -> SecretBytes {
    let terminal = try ControllingTerminal()
    var remark = purpose
    var refused = 0
    while true {
      do { return try newPassphrase(terminal, remark, check) } catch {
        let error = ToolError(thrown: error)
        refused += 1
        guard error.code == VaultError.Code.invalidPassphrase.rawValue, refused < tries else { throw error }
        remark =
          "\(error.message.prefix(1).uppercased() + error.message.dropFirst())"
          + (error.hint.map { ": \($0)" } ?? "") + ".\n"
      }
    }
  }

  private static func newPassphrase(
    _ terminal: ControllingTerminal, _ remark: String, _ check: (UnsafeRawBufferPointer) throws(ToolError) -> Void
  ) throws -> SecretBytes {
    let first = try notEmpty(try terminal.ask("\(remark)New passphrase: "))
    guard !first.withUnsafeBytes({ $0.contains(where: PastedText.isControl) }) else {
      throw VaultError(.invalidPassphrase, "a key that types no character was pressed, such as an arrow")
    }
    try first.withUnsafeBytes(check)
    let second = try terminal.ask("Repeat the passphrase: ")
    let agree = first.isEqual(to: second)
    guard agree else { throw VaultError(.invalidPassphrase, "the two passphrases differ") }
    return first
  }

  /// Prompts for a value: one line, or several that are pasted at once.
  static func value() throws -> SecretBytes {
    do { return try ControllingTerminal(marksPaste: true).askValue("Value: ") } catch let error as VaultError {
      guard error.code == .noCredential, !PendingSignal.isPending else { throw error }
      throw ToolError.usage("there is no value and no terminal to prompt on", hint: UsageRefusal.set)
    }
  }

  /// Prompts for confirmation before data is lost.
  ///
  /// - Parameters:
  ///   - refusal: What would be lost, for the error if there is no terminal.
  ///   - unclear: the error for a reply that is neither "yes" nor "no", or none, as of a terminal that was closed.
  /// - Throws: ``ToolError/declined`` for any other reply except "yes" or "y". Without a terminal, a usage error with a
  ///   hint.
  static func confirm(
    _ question: String, otherwise refusal: String, mayPrompt: Bool, unclear: ToolError = .declined
  ) throws {
    let isConfirmed: Bool?
    do throws(VaultError) {
      guard mayPrompt else { throw VaultError(.noCredential, "prompts are disabled") }
      isConfirmed = try reply(question)
    } catch {
      guard error.code == .noCredential else { throw error }
      throw ToolError.usage("\(refusal), and there is no terminal to confirm on", hint: "--yes skips the question")
    }
    guard let isConfirmed else { throw unclear }
    guard isConfirmed else { throw ToolError.declined }
  }

  /// Returns true only if the reply is "yes" or "y", in capitals or not.
  static func confirms(_ question: String) throws(VaultError) -> Bool { try reply(question) ?? false }

  /// Returns `nil` if the reply is none of "yes", "y", "no" and "n", in capitals or not.
  private static func reply(_ question: String) throws(VaultError) -> Bool? {
    let answer = try ControllingTerminal(echoes: true).ask(question + " [yes/no] ")
    return switch answer.withUnsafeBytes({ String(decoding: $0, as: UTF8.self).lowercased() }) {
    case "yes", "y": true
    case "no", "n": false
    default: nil
    }
  }

  private static func notEmpty(_ passphrase: consuming SecretBytes) throws(VaultError) -> SecretBytes {
    guard passphrase.count > 0 else { throw VaultError(.invalidPassphrase, "the passphrase is empty") }
    return passphrase
  }
}
