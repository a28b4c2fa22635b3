internal import DurableFiles
internal import Secrets
internal import VaultCore

/// A program that writes a passphrase to its standard output.
struct PassphraseCommand {
  static let variable = "SECRETPREFS_PASSPHRASE_COMMAND"

  private let words: [String]

  /// - Parameter origin: The option or variable with the command, for errors.
  init(_ text: String, of origin: String) throws(VaultError) {
    words = text.split(separator: " ").map(String.init)
    guard !words.isEmpty else { throw VaultError(.invalidPassphrase, "\(origin) is empty") }
    guard !text.utf8.contains(where: { "'\"\\$`;|&<>".utf8.contains($0) }) else {
      throw VaultError(
        .invalidPassphrase,
        "\(origin) is split at spaces and run without a shell, so quotes, backslashes, $ ` ; | & < > are refused; "
          + "write a script for them")
    }
  }

  /// The command in the variable. `nil` if it is not set.
  static func configured() throws(VaultError) -> PassphraseCommand? {
    try Environment.text(variable).map { (text) throws(VaultError) in
      try PassphraseCommand(text, of: "the variable \(variable)")
    }
  }

  /// The files that the command names: the program, if it is a path, and arguments.
  var files: [String] {
    (words.prefix(1).filter { $0.contains("/") } + words.dropFirst()).filter { FileIdentity(at: $0) != nil }
  }

  /// Runs the program and reads the passphrase into guarded memory.
  func read() throws(VaultError) -> Vault.Credential {
    let program = try OtherProgram("the passphrase command", words)
    let result = Result { () throws(VaultError) in
      do throws(VaultError) { return try Unlocking.passphraseDescriptor(program.output).configuredCredential() } catch {
        guard error.code == .invalidPassphrase else { throw error }
        throw VaultError(.invalidPassphrase, "the passphrase command has no output, or too much: \(error.message)")
      }
    }
    switch try program.end() {
    case .killed(let signal) where signal != SIGPIPE:  // it has written more than is read
      throw VaultError(.io, "the passphrase command was ended by signal \(signal)")
    case .exited(let code) where code != 0:
      throw VaultError(.io, "the passphrase command failed with exit code \(code)")
    default: return try result.get()
    }
  }
}
