internal import ArgumentParser
internal import DurableFiles
internal import VaultCore
internal import VaultSealing

/// `secretprefs qr`.
struct Qr: ToolCommand {
  static let configuration = CommandConfiguration(
    commandName: "qr",
    abstract: "Shows a value as a QR code.",
    usage: "secretprefs qr [<options>] <key>",
    discussion: """
      The code is for the camera of a device that takes the value over, such as an otpauth URI of "secretprefs otp". \
      It has the value's bytes, at most \(QRCode.longestValue). Anyone who can see the screen can read the value, and \
      terminals keep what they have shown: clear the screen and its history afterwards. Without --print the code is \
      only written to a terminal in which it fits. With --json the output is an object with key, size and rows, in \
      which 1 is dark.

      EXAMPLE:
        secretprefs qr github/otp
      """)

  @OptionGroup var vault: VaultOptions
  @OptionGroup var unlock: UnlockOptions
  @OptionGroup var record: RecordOptions

  @Flag(
    name: .customLong("print"),
    help: "Write the code also if standard output is not a terminal, or one that is too small.")
  var prints = false

  @Argument(help: .key, completion: .keys)
  var keys: [String] = []

  func perform(_ messages: Messages) throws {
    let (place, key) = try record.named(try Self.sole(keys, "key"))
    let access = try unlock.complete(try vault.access())
    let isTerminal = isatty(STDOUT_FILENO) == 1
    guard isTerminal || prints || self.vault.json else {
      throw ToolError.usage("standard output is not a terminal", hint: "--print writes it anyway")
    }
    let vault = try access.open(messages)
    let group = try place.group(in: vault)
    let record = try place.existing(key, in: group, of: vault)
    let output = try SecretOutput(isCollecting: true)
    try vault.withShownValue(of: record, in: group) { _, bytes in
      try write(try code(bytes), key, to: output, fitting: isTerminal && !prints ? ScreenTerminal.size : nil)
    }
    if record.isExpired(at: access.options.now()) { messages.warn("the key has expired") }
    try output.flush()
  }

  private func code(_ bytes: UnsafeRawBufferPointer) throws -> QRCode {
    do throws(VaultError) { return try QRCode(bytes) } catch {
      guard error.code == .valueTooLarge else { throw error }
      throw ToolError(error, hint: "\"secretprefs get\" writes the value")
    }
  }

  private func write(
    _ code: borrowing QRCode, _ key: String, to output: SecretOutput, fitting terminal: (rows: Int, columns: Int)?
  ) throws {
    if vault.json {
      let members = JSON.object([("key", .string(key)), ("size", .unsigned(UInt64(code.size)))])
      try output.write(members.text.dropLast() + ",\"rows\":[")
      try code.writeJSON(to: output)
      return try output.write("]}\n")
    }
    // One line is left for the shell's prompt.
    let rows = (code.size + 1) / 2 + 1
    if let terminal, terminal.columns < code.size || terminal.rows < rows {
      throw ToolError.usage(
        "the terminal has \(terminal.columns) columns and \(terminal.rows) lines, and the code needs \(code.size) and "
          + "\(rows)", hint: "make the terminal larger or its font smaller; --print writes it anyway")
    }
    try code.write(to: output, isColored: isatty(STDOUT_FILENO) == 1)
  }
}
