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
    guard let bytes = getenv(variable) else { return nil }
    guard let text = String(validatingCString: bytes) else {
      throw VaultError(.invalidPassphrase, "the variable \(variable) is not valid UTF-8")
    }
    return try PassphraseCommand(text, of: "the variable \(variable)")
  }

  /// Runs the program and reads the passphrase into guarded memory.
  func read() throws(VaultError) -> Vault.Credential {
    var ends: [Int32] = [-1, -1]
    guard pipe(&ends) == 0 else { throw .io("create a pipe") }
    var output = ends[0]
    defer { if output >= 0 { close(output) } }
    for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    let process = start(output: ends[1])
    let number = errno
    close(ends[1])
    guard let process else { throw .io("start the passphrase command", number) }
    let result = Result { () throws(VaultError) in
      guard let credential = try Unlocking.passphraseDescriptor(output).credential() else {
        throw VaultError(.noCredential, "the passphrase command has no output")
      }
      return credential
    }
    // A program that writes more than is read ends by SIGPIPE.
    close(output)
    output = -1
    var status: Int32 = 0
    guard retrying({ waitpid(process, &status, 0) }) == process else { throw .io("wait for the passphrase command") }
    let (code, signal) = (status >> 8 & 0xFF, status & 0x7F)
    guard signal == 0 || signal == SIGPIPE else {
      throw VaultError(.io, "the passphrase command was ended by signal \(signal)")
    }
    guard code == 0 else { throw VaultError(.io, "the passphrase command failed with exit code \(code)") }
    return try result.get()
  }

  /// Returns `nil`, with `errno`, if the program cannot be started.
  private func start(output: Int32) -> pid_t? {
    var arguments = words.map { strdup($0) } + [nil]
    defer { for argument in arguments { free(argument) } }
    // Otherwise a command that is this tool would run itself without end.
    var environment = CommandEnvironment.inherited + [nil]
    return startProcess(&arguments, environment: &environment, output: output)
  }
}
