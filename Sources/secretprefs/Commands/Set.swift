internal import ArgumentParser
internal import Glibc
internal import VaultCore
internal import VaultSealing

/// `secretprefs set`.
struct Set: ToolCommand {
  static let configuration = CommandConfiguration(
    commandName: "set",
    abstract: "Stores a value under a key.",
    usage: "secretprefs set [<options>] <key>",
    discussion: """
      The value is standard input, byte for byte; or the file named with --file; or, when standard input is a \
      terminal, one line typed without echo. A value in an argument is refused. A key may contain "=": \
      nothing behind it is taken for a value. It is durable when the command returns.

      What is written down about the key stays unless it is named here, but for the expiry, which goes with the \
      old value. All of it is sealed in the vault, but other users of the machine see the arguments while the \
      command runs: put no secret there. --if-revision writes only what nobody has changed meanwhile; 0 stands \
      for a key that is not there.

      A value whose accessibility is afterFirstUnlock stays readable in a program that locks its vault. \
      whenUnlockedThisDeviceOnly and afterFirstUnlockThisDeviceOnly also take the device key of this machine: \
      the vault and its passphrase are not enough elsewhere. "secretprefs new-key" makes such a key. Going to or \
      from these two drops kept earlier values.

      EXAMPLE:
        secretprefs set github
        secretprefs set github --trim-newline < token.txt
        secretprefs set signing-key --data --file key.der
        secretprefs set github --expiry 90d --history 3 < token.txt
        secretprefs set github --if-revision 7 < token.txt
        secretprefs set disk --accessibility whenUnlockedThisDeviceOnly < key.txt
      """)

  @OptionGroup var vault: VaultOptions
  @OptionGroup var unlock: UnlockOptions
  @OptionGroup var record: RecordOptions

  @Option(help: ArgumentHelp("Store the bytes of this file.", valueName: "file"))
  var file: String?

  @Flag(help: "Store a data value, which may be any bytes, instead of text.")
  var data = false

  @Flag(help: "Leave out one line feed at the end of standard input or the file.")
  var trimNewline = false

  @Option(
    help: ArgumentHelp(
      "When the value can be read; a key that is there keeps what it has, a new one is whenUnlocked.",
      valueName: "name"))
  var accessibility: String?

  @OptionGroup var metadata: MetadataOptions

  @Argument(help: ArgumentHelp("The key.", valueName: "key"))
  var keys: [String] = []

  func perform(_ messages: Messages) throws {
    guard let key = keys.first else { throw ToolError.usage("no key is given", hint: UsageRefusal.set) }
    guard keys.count == 1 else {
      throw ToolError.usage("a value is not taken from the arguments", hint: UsageRefusal.set)
    }
    let access = try unlock.complete(try vault.access())
    let place = try record.place()
    let name = try Vault.Name(key)
    let change = try MetadataChange(metadata, now: access.options.now())
    let accessibility = try accessibility.map { (name) throws(VaultError) in try Vault.Accessibility(named: name) }
    let source = try ValueSource(
      file: file, trimmingNewline: trimNewline, mayPrompt: access.mayPrompt,
      isInputTaken: access.passphraseDescriptor == STDIN_FILENO)
    let vault = try access.open(messages)
    let group = try place.group(in: vault)
    let value = try source.read()
    let (edit, revision) = try change.resolved { () throws(VaultError) in
      try vault.record(service: place.service, key: key, in: group)
    }
    try store(value) { (bytes, kind) throws(VaultError) in
      try vault.update(service: place.service, in: group) { (batch) throws(VaultError) in
        try batch.set(
          bytes, kind: kind, forKey: key, accessibility: accessibility, edit: edit, ifRevision: revision)
      }
    }
    vault.noteChange(messages)
    guard self.vault.json else { return }
    try Output.write(
      .object([
        ("service", .string(place.service.text)), ("key", .string(name.text)), ("kind", .string(kind.label)),
      ]))
  }

  private var kind: ValueKind { data ? .data : .string }

  private func store(
    _ value: borrowing SecretBytes,
    _ update: (UnsafeRawBufferPointer, ValueKind) throws(VaultError) -> Void
  ) throws {
    do throws(VaultError) {
      try value.withUnsafeBytes { (bytes) throws(VaultError) in try update(bytes, kind) }
    } catch {
      guard error.code == .typeMismatch else { throw error }
      throw ToolError(error, message: "the value is not text in UTF-8", hint: "--data stores any bytes")
    }
  }
}
