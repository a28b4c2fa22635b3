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
      The value is standard input; or the file named with --file; or, when standard input is a terminal, one line \
      typed without echo. It is durable when the command returns. Of text, one line end (LF or CRLF) behind the \
      last line is left out, which editors and echo put there; --exact keeps it, and data is stored byte for byte. \
      An empty value is refused unless --allow-empty is given. A value in an argument is refused, and so is a key \
      with "=" in it unless it stands behind two dashes.

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
        secretprefs set github < token.txt
        secretprefs set note --exact < note.txt
        secretprefs set signing-key --data --file key.der
        secretprefs set --data --file key.der -- a=b
        secretprefs set github --expiry 90d --history 3 < token.txt
        secretprefs set github --if-revision 7 < token.txt
        secretprefs set disk --accessibility whenUnlockedThisDeviceOnly < key.txt
      """)

  @OptionGroup var vault: VaultOptions
  @OptionGroup var unlock: UnlockOptions
  @OptionGroup var record: RecordOptions

  @Option(help: ArgumentHelp("Store what is in this file.", valueName: "file"))
  var file: String?

  @Flag(help: "Store a data value, which may be any bytes, instead of text.")
  var data = false

  @Flag(help: "Store text byte for byte, with the line end behind it.")
  var exact = false

  @Flag(help: "Store a value even if it is empty.")
  var allowEmpty = false

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
    // The parser does not tell on which side of the two dashes it stood.
    guard !key.contains("=") || Arguments.read().behindDashes.contains(key) else {
      throw ToolError.usage(
        "a value is not taken from the arguments",
        hint: "\(UsageRefusal.set); a key with an equals sign in it stands behind two dashes")
    }
    let access = try unlock.complete(try vault.access())
    let place = try record.place()
    let name = try Vault.Name(key)
    let change = try MetadataChange(metadata, now: access.options.now())
    let accessibility = try accessibility.map { (name) throws(VaultError) in try Vault.Accessibility(named: name) }
    let source = try ValueSource(
      file: file, keepsLineEnd: exact || data, mayBeEmpty: allowEmpty, mayPrompt: access.mayPrompt,
      isInputTaken: access.passphraseDescriptor == STDIN_FILENO)
    let vault = try access.open(messages)
    let group = try place.group(in: vault)
    let value = try source.read(messages)
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
