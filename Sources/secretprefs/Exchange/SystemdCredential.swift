internal import DurableFiles
internal import VaultCore
internal import VaultSealing

/// A value that `systemd-creds` encrypts for this machine, as a setting of a unit.
enum SystemdCredential {
  /// The most bytes that the credentials of a unit may have together: `CREDENTIALS_TOTAL_SIZE_MAX` of systemd.
  static let limit = 1 << 20
  /// The longest line of a unit, also one that is continued over several: `LONG_LINE_MAX` of systemd.
  private static let longestLine = 1 << 20
  private static let name = "systemd-creds"

  /// Appends `SetCredentialEncrypted=` to `output`. The program gets the value through a pipe.
  static func write(_ key: String, _ value: UnsafeRawBufferPointer, to output: SecretOutput) throws {
    guard let pipe = ChildProcess.pipe() else { throw VaultError.io("create a pipe") }
    let started = Result { () throws(VaultError) in
      try OtherProgram(name, [name, "encrypt", "--pretty", "--name=\(key)", "-", "-"], input: pipe.reading)
    }
    close(pipe.reading)
    // The program reads all of its input before it writes.
    let sent = Result { () throws(ToolError) in try writeAll(value, to: pipe.writing, "give \(name) the value") }
    close(pipe.writing)
    let program = try started.get()
    let setting = try ValueReader.read(program.output, atMost: 4 * limit, "read from \(name)")
    guard try program.succeeds() else {
      throw ToolError(
        VaultError(.io, "nothing was exported: \(name) cannot encrypt the value of \(key)"),
        hint: "it needs the key of this machine, which belongs to root, or its TPM")
    }
    try sent.get()
    guard setting.count < longestLine else {
      throw ToolError(
        VaultError(.valueTooLarge, "nothing was exported: the value of \(key) is too long for a unit when encrypted"),
        hint: "values of up to 500,000 bytes fit")
    }
    try setting.withUnsafeBytes { (bytes) throws in for byte in bytes { try output.put(byte) } }
  }
}
