internal import ArgumentParser
internal import DurableFiles
internal import Secrets
internal import VaultCore
internal import VaultSealing

/// `secretprefs generate`.
struct Generate: WritingCommand {
  static let configuration = CommandConfiguration(
    commandName: "generate",
    abstract: "Stores a random password or passphrase.",
    usage: "secretprefs generate [<options>] <key>",
    discussion: """
      A password has lower-case and upper-case letters, digits and the symbols \(PasswordRule.symbols) and contains \
      at least one of each kind. None of the symbols needs an escape inside quotes; in a URL use --no-symbols. With \
      --words it is a passphrase of English words, which are easier to type: six of them have 77 bits. The \
      output is the strength in bits: the binary logarithm of the number of passwords, which are equally probable. \
      The password is in the output only with --print. An existing key is refused unless --replace or --if-revision is \
      given. As with "secretprefs set", a new value keeps the metadata that no option names, except the expiry.

      EXAMPLE:
        secretprefs generate database
        secretprefs generate database --replace --history 1 --expiry 90d
        secretprefs generate wifi --length 16 --no-symbols --no-similar --print
        secretprefs generate disk --words 6 --separator ' '
      """)

  @OptionGroup var vault: VaultOptions
  @OptionGroup var unlock: UnlockOptions
  @OptionGroup var record: RecordOptions

  @OptionGroup var generation: GenerationOptions

  @Flag(help: "Replace the value of an existing key.")
  var replace = false

  @Flag(name: .customLong("print"), help: "Write the password to standard output, like \"secretprefs get\".")
  var prints = false

  @OptionGroup var metadata: MetadataOptions

  @Argument(help: .key, completion: .keys)
  var keys: [String] = []

  func perform(_ messages: Messages) throws {
    let (place, key) = try record.named(try Self.sole(keys, "key"))
    let access = try unlock.complete(try vault.access())
    let name = try Vault.Name(key)
    let rule = try generation.rule()
    let change = try MetadataChange(metadata, now: access.options.now(), messages)
    let vault = try access.open(messages)
    let group = try place.group(in: vault)
    let (edit, revision) = try change.resolved { () throws(VaultError) in
      try vault.record(service: place.service, key: key, in: group)
    }
    let isNew = !replace && metadata.ifRevision == nil
    let note = try VariableName.note(onNew: key) {
      try !isNew && vault.record(service: place.service, key: key, in: group) != nil
    }
    let password = try rule.password(from: .system)
    do throws(VaultError) {
      _ = try password.withSpan { (bytes) throws(VaultError) in
        try vault.transaction(service: place.service, in: group) { (batch) throws(VaultError) in
          try batch.set(bytes, kind: .string, forKey: key, edit: edit, ifRevision: isNew ? 0 : revision)
        }
      }
    } catch {
      guard isNew, error.code == .conflict else { throw error }
      throw ToolError(VaultError(.alreadyExists, "the key exists"), hint: "--replace stores a new value")
    }
    vault.recordChange(by: Self.self, messages)
    if let note { messages.tell(note) }
    let strength = UInt64(rule.bits)
    if self.vault.json {
      try writeJSON(place, name, strength, password)
    } else if prints {
      try password.withUnsafeBytes { bytes in Result { () throws(ToolError) in try Output.write(bytes) } }.get()
      if isatty(STDOUT_FILENO) == 1 { try Output.write("\n") }
      messages.note("\(strength) bits")
    } else {
      try Output.write("\(strength) bits\n")
    }
  }

  private func writeJSON(
    _ place: RecordPlace, _ key: Vault.Name, _ strength: UInt64, _ password: borrowing SecretBytes
  ) throws {
    let members = JSON.object([
      ("service", .string(place.service.text)), ("key", .string(key.text)), ("kind", .string(ValueKind.string.label)),
      ("bits", .unsigned(strength)),
    ])
    guard prints else { return try Output.write(members) }
    let output = try SecretOutput()
    try output.write(members.text.dropLast() + ",\"value\":\"")
    try password.withUnsafeBytes { bytes in Result { () throws(ToolError) in try output.writeEscaped(bytes) } }.get()
    try output.write("\"}\n")
    try output.flush()
  }
}
