internal import Glibc
internal import VaultCore
internal import VaultSealing

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

  /// Reads a new passphrase to the end; one trailing LF or CRLF is not part of it (`Docs/Format.md` 2.5).
  static func read(_ number: Int32) throws -> SecretBytes {
    let limit = 4096
    let bytes = try ValueReader.read(number, atMost: limit + 2, "read the passphrase")
    let count = bytes.withUnsafeBytes { bytes in
      guard bytes.last == UInt8(ascii: "\n") else { return bytes.count }
      return bytes.dropLast().last == UInt8(ascii: "\r") ? bytes.count - 2 : bytes.count - 1
    }
    guard (1...limit).contains(count) else {
      throw VaultError(.invalidPassphrase, "a passphrase has 1 to \(limit) bytes")
    }
    return try bytes.prefix(count)
  }
}
