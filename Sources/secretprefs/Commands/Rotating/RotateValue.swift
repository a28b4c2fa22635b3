internal import ArgumentParser
internal import DurableFiles
internal import VaultCore
internal import VaultSealing

/// `secretprefs rotate-value`.
struct RotateValue: WritingCommand {
  static let configuration = CommandConfiguration(
    commandName: "rotate-value",
    abstract: "Replaces a value in two steps, and keeps the old one between them.",
    usage: "secretprefs rotate-value [<options>] <key> (--generate | --confirm | --revert | -- <command> ...)",
    discussion: """
      The first step stores a new value, which a program writes to its standard output, or which is generated. The old \
      value is an earlier value of the key, and no write drops it until the second step. When the new value is in use, \
      --confirm ends the rotation; the old value is then kept or dropped like any other earlier value. --revert makes \
      the old value the current one again, with the expiry that it had. In between, "secretprefs info" shows the \
      attribute "rotation", "secretprefs" and "doctor" count the key, and another rotation of it is refused.

      The program runs without a shell, once it is clear that the vault can be written. Its standard input is empty, \
      it does not inherit SECRETPREFS_ variables, and nothing is stored unless its exit code is 0. It must not end the \
      validity of the old value: if this process is killed before the new value is stored, the vault has the old one \
      alone; if storing it fails, it is kept in a file in memory, which is named, and which you remove. The value is \
      stored as the kind of the old one; the line ending of a single line is removed. Metadata is kept, except the \
      expiry. Until the second step, no copy, bundle or imported record replaces the key. "remove" ends the rotation, \
      until the key is restored.

      EXAMPLE:
        secretprefs rotate-value db/password --generate --length 32
        secretprefs rotate-value github --expiry 90d -- ./new-token.sh deploy
        secretprefs rotate-value github --confirm
        secretprefs rotate-value github --revert
      """)

  @OptionGroup var vault: VaultOptions
  @OptionGroup var unlock: UnlockOptions
  @OptionGroup var record: RecordOptions

  @Flag(help: "Store a generated value, as \"secretprefs generate\" makes it.")
  var generate = false

  @OptionGroup var generation: GenerationOptions

  @Option(
    help: ArgumentHelp("Set the time from which the new value counts as expired, as \"set\" does.", valueName: "time"))
  var expiry: String?

  @Flag(help: "End the rotation: the new value is in use.")
  var confirm = false

  @Flag(help: "Make the old value the current one again.")
  var revert = false

  // Not a list, behind which the parser accepts no command.
  @Argument(help: .key, completion: .keys)
  var key: String?

  @Argument(parsing: .postTerminator, help: ArgumentHelp("The program and its arguments.", valueName: "command"))
  var command: [String] = []

  func perform(_ messages: Messages) throws {
    // Without a program, the key may follow --, as in other commands.
    let isKeyBehind = self.key == nil && (generate || confirm || revert)
    let keys = isKeyBehind ? self.command : [self.key].compactMap(\.self)
    let (place, key) = try record.named(try Self.sole(keys, "key"))
    let command = isKeyBehind ? [] : self.command
    guard [generate, confirm, revert, !command.isEmpty].count(where: \.self) == 1 else {
      throw Self.usageError("one of --generate, --confirm, --revert and a command after -- is required")
    }
    guard generate || generation.isEmpty else { throw ToolError.usage("the options of passwords need --generate") }
    guard expiry == nil || !confirm && !revert else { throw ToolError.usage("--expiry is for a new value") }
    let access = try unlock.complete(try vault.access())
    let expiry = try expiry.map { (text) throws(ToolError) in try Expiry(text, now: access.options.now()).milliseconds }
    let rule = try generate ? generation.rule() : nil
    let vault = try access.open(messages)
    let group = try place.group(in: vault)
    let change = RotationChange(vault: vault, group: group, place: place, key: key)
    if confirm || revert {
      try change.end(reverting: revert)
    } else {
      let record = try change.begin()
      let kind = record.kind
      guard rule == nil || kind == .string else {
        throw ToolError.usage("a generated value is text, and the key has a value of the kind \(kind.label)")
      }
      if let rule {
        let value = try TypedValue(try rule.password(from: .system), kind)
        try change.store(value, expiry: expiry, keeping: access.keeping)
      } else {
        // Fails before the program makes a value that cannot be stored or kept.
        try change.check(record, expiry: expiry, keeping: access.keeping)
        let folder = try MemoryFolder("the new value")
        try folder.reserve(Self.usualLength)
        let output = try Self.output(of: command, kind)
        // A signal takes effect when the value is stored or kept.
        try PendingSignal.holding { try store(output, kind, in: change, expiry: expiry, access, folder, messages) }
      }
    }
    vault.recordChange(by: Self.self, messages)
    guard !self.vault.json else {
      return try Output.write(
        .object([
          ("service", .string(place.service.text)), ("key", .string(try Vault.Name(key).text)),
          ("state", .string(confirm ? "confirmed" : revert ? "reverted" : "pending")),
        ]))
    }
    guard !confirm, !revert else { return }
    messages.tell("the old value is kept; --confirm ends the rotation, --revert undoes it")
  }

  /// The greatest length of a value that is sure to find room in memory, in bytes.
  private static let usualLength = 1 << 16

  /// Stores the output of the program. If that fails, it is kept in memory: a server may have issued it, and no other.
  private func store(
    _ output: borrowing SecretBytes, _ kind: ValueKind, in change: RotationChange, expiry: Int64?,
    _ access: VaultAccess, _ folder: MemoryFolder, _ messages: Messages
  ) throws {
    do {
      let copy = try output.withUnsafeBytes { (bytes) throws(VaultError) in try SecretBytes(copying: bytes) }
      try change.store(try TypedValue(copy, kind), expiry: expiry, keeping: access.keeping)
    } catch {
      let error = ToolError(thrown: error)
      guard let file = Self.keep(output, in: folder, messages) else { throw error.with(hint: Self.lost) }
      // Text of another kind would be refused again.
      guard error.code != VaultError.Code.typeMismatch.rawValue else { throw error }
      let isUnknown = error.code == VaultError.Code.durabilityUnknown.rawValue
      let hint = Self.hint(for: file, of: change, kind, isGone: error.code == VaultError.Code.notFound.rawValue)
      throw error.with(hint: isUnknown ? "check whether the new value is stored; if not, \(hint)" : hint)
    }
  }

  /// How the value in a file is stored: by a rotation, which also keeps the old value, unless there is none any more.
  private static func hint(for file: String, of change: RotationChange, _ kind: ValueKind, isGone: Bool) -> String {
    // No program can follow a key that begins with a dash.
    guard isGone || change.key.utf8.first == UInt8(ascii: "-") else {
      return Hints.keptValue(change.place.options, rotatedFrom: file, change.key)
    }
    return Hints.keptValue(
      change.place.options + (kind == .string ? "" : " --kind \(kind.label)"), setFrom: file, change.key)
  }

  /// - Returns: the path of the file; `nil` after a warning if the value could not be kept.
  private static func keep(
    _ output: borrowing SecretBytes, in folder: MemoryFolder, _ messages: Messages
  ) -> String? {
    do {
      _ = try output.withUnsafeBytes { (bytes) throws(VaultError) in try folder.add(bytes) }
      return folder.keep("the new value", messages)
    } catch {
      messages.warn("the new value could not be kept: \(displayed(ToolError(thrown: error).message))")
      return nil
    }
  }

  private static let lost = "the new value is lost; \"secretprefs rotate-value\" makes another one"

  /// Runs the program and reads the value into guarded memory.
  private static func output(of words: [String], _ kind: ValueKind) throws -> SecretBytes {
    let program = try OtherProgram("the command", words)
    let value = try ValueReader.read(program.output, atMost: ValueReader.longest, "read the output of the command")
    let end: ChildProcess.StateChange
    do throws(VaultError) { end = try program.end() } catch {
      guard let number = error.errno else { throw error }
      let failure = ToolError.notStarted(number)
      throw number == E2BIG ? failure.with(hint: "shorten the arguments or the environment") : failure
    }
    switch end {
    case .exited(0): break
    case .exited(let code):
      throw ToolError.problem("the command failed with exit code \(code); nothing was changed", hint: nil)
    case .killed(let signal):
      throw ToolError.problem("the command was ended by signal \(signal); nothing was changed", hint: nil)
    default: throw ToolError.problem("the command did not end; nothing was changed", hint: nil)
    }
    let count = kind == .data ? value.count : ValueInput.countWithoutLineEnd(value)
    guard count > 0 else { throw ToolError.problem("the command wrote no value; nothing was changed", hint: nil) }
    return try value.prefix(count)
  }
}
