internal import ArgumentParser
internal import DurableFiles
internal import VaultCore
internal import VaultSealing

/// `secretprefs set`.
struct SetValue: WritingCommand {
  static let configuration = CommandConfiguration(
    commandName: "set",
    abstract: "Stores a value under a key.",
    usage: "secretprefs set [<options>] <key>",
    discussion: """
      The value is read from standard input, from --file, or, if standard input is a terminal, from a prompt without \
      echo, for one line or several that are pasted at once. It is durable when the command returns. The line ending \
      (LF or CRLF) of text with a single line is removed, with a note, because editors and echo add it; --exact keeps \
      it. Text with several lines is stored as it is. Data is stored byte for byte. An empty value is refused unless \
      --allow-empty is given. A value in an argument is refused, and so is a key that contains "=", unless it follows \
      "--" or is a reference with %3D in its place.

      --int, --bool, --double and --date store the value as that kind, and --kind as any: programs read it as such, \
      and text that is none is refused. Without them a value is text, which programs of this package parse where they \
      ask for a number, bool or date. --json is the form of the output, as in all commands; --kind json stores JSON.

      Metadata that no option names is kept, except the expiry, which is removed together with the old value. \
      Metadata is sealed in the vault, but other users of the machine can see the arguments while the command runs: \
      do not put a secret there. With --if-revision the command fails if another process changed the key; 0 means \
      that the key must not exist.

      A value with accessibility afterFirstUnlock stays readable in a program that has locked its vault. Values with \
      whenUnlockedThisDeviceOnly and afterFirstUnlockThisDeviceOnly also need the device key, so that the vault and \
      its passphrase are not enough on a different machine. "secretprefs new-key" creates a device key. Changing to \
      or from these two drops kept earlier values.

      EXAMPLE:
        secretprefs set github
        secretprefs set github < token.txt
        secretprefs set note --exact < note.txt
        secretprefs set signing-key --data --file key.der
        echo 8080 | secretprefs set port --int
        echo '["a","b"]' | secretprefs set hosts --kind json
        secretprefs set --data --file key.der -- a=b
        secretprefs set github --expiry 90d --history 3 < token.txt
        secretprefs set github --if-revision 7 < token.txt
        secretprefs set disk --accessibility whenUnlockedThisDeviceOnly < key.txt
      """)

  @OptionGroup var vault: VaultOptions
  @OptionGroup var unlock: UnlockOptions
  @OptionGroup var record: RecordOptions

  @Option(help: ArgumentHelp("Read the value from this file.", valueName: "file"), completion: .file())
  var file: String?

  @Flag(help: "Store data (any bytes) instead of text.")
  var data = false

  @OptionGroup var kindOptions: KindOptions

  @Flag(help: "Store text byte for byte, including a line ending at the end.")
  var exact = false

  @Flag(help: "Accept an empty value.")
  var allowEmpty = false

  @Option(
    help: ArgumentHelp(
      "When the value is readable. An existing key keeps its accessibility; the default is whenUnlocked.",
      valueName: "name"),
    completion: .list(Vault.Accessibility.allCases.map(\.name)))
  var accessibility: String?

  @OptionGroup var metadata: MetadataOptions

  @Argument(help: .key, completion: .keys)
  var keys: [String] = []

  func perform(_ messages: Messages) throws {
    guard let word = keys.first else { throw ToolError.usage("no key is given", hint: UsageRefusal.set) }
    guard keys.count == 1 else {
      throw ToolError.usage("values are not accepted in arguments", hint: UsageRefusal.set)
    }
    // The parser does not say whether the key came after `--`.
    guard !Self.mayHaveValue(word) || Arguments.read().afterTerminator.contains(word) else {
      throw ToolError.usage(
        "values are not accepted in arguments",
        hint: "\(UsageRefusal.set); put -- in front of a key that contains an equals sign, or write %3D in a reference")
    }
    let access = try unlock.complete(try vault.access())
    let (place, key) = try record.named(word)
    let name = try Vault.Name(key)
    let change = try MetadataChange(metadata, now: access.options.now(), messages)
    let accessibility = try accessibility.map { (name) throws(VaultError) in try Vault.Accessibility(named: name) }
    let kind = try kindOptions.kind(isData: data)
    let source = try ValueInput(
      file: file, keepsLineEnd: exact || kind == .data, mayBeEmpty: allowEmpty, mayPrompt: access.mayPrompt,
      isInputTaken: access.passphraseDescriptor == STDIN_FILENO, isStored: kind == .string)
    let vault = try access.open(messages)
    let group = try place.group(in: vault)
    let typed = try TypedValue(try source.read(messages), kind)
    let storedKind = typed.kind
    let existing = try vault.record(service: place.service, key: key, in: group)
    let (edit, revision) = try change.resolved { () throws(VaultError) in existing }
    if let accessibility, let existing, accessibility.isThisDeviceOnly != existing.accessibility.isThisDeviceOnly {
      try RotationMark.refuse(existing)
    }
    try TypedInput.save(messages, isTyped: source.isTyped) {
      try store(typed) { (bytes) throws(VaultError) in
        try vault.transaction(service: place.service, in: group) { (batch) throws(VaultError) in
          try batch.set(
            bytes, kind: storedKind, forKey: key, accessibility: accessibility, edit: edit, ifRevision: revision)
        }
      }
    }
    vault.recordChange(by: Self.self, messages)
    if let note = VariableName.note(onNew: key, exists: { existing != nil }) { messages.tell(note) }
    guard self.vault.json else { return }
    try Output.write(
      .object([
        ("service", .string(place.service.text)), ("key", .string(name.text)), ("kind", .string(storedKind.label)),
      ]))
  }

  /// Whether an equals sign in a key may be in front of a value. That of a reference's group is not.
  private static func mayHaveValue(_ word: String) -> Bool {
    (SecretReference.isMeant(word.utf8) ? word.prefix { $0 != "?" } : word[...]).contains("=")
  }

  private func store(
    _ value: borrowing TypedValue, _ update: (RawSpan) throws(VaultError) -> Void
  ) throws {
    do throws(VaultError) {
      try value.body.withSpan { (bytes) throws(VaultError) in try update(bytes) }
    } catch {
      guard error.code == .typeMismatch else { throw error }
      throw ToolError(error, message: "the value is not valid UTF-8", hint: "--data stores any bytes")
    }
  }
}
