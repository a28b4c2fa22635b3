internal import Glibc

/// A passphrase on an inherited descriptor (`--passphrase-fd`).
enum PassphraseDescriptor {
  /// Checks the number before anything of ours can have it.
  static func check(_ number: Int32) throws(ToolError) -> Int32 {
    guard number >= 0, fcntl(number, F_GETFD) != -1 else {
      throw .usage("--passphrase-fd names no open descriptor", hint: "--passphrase-fd 3 3< passphrase.txt")
    }
    // It would echo, and be read to its end.
    guard isatty(number) == 0 else {
      throw .usage("--passphrase-fd names a terminal", hint: "leave the option out to be asked without echo")
    }
    return number
  }
}
