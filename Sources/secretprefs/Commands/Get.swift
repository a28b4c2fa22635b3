internal import ArgumentParser

/// `secretprefs get`, for the argument parser.
struct Get: ToolCommand {
  static let configuration = CommandConfiguration(
    commandName: "get",
    abstract: "Writes a value to standard output.",
    usage: "secretprefs get [<options>] <key>",
    discussion: """
      Text and data are written byte for byte. On a terminal, a line feed is added if the value does not end with \
      one, and bytes that are no text are refused. A bool is written as true or false, a number in decimal, a date as \
      RFC 3339 in UTC. With --json the output is an object with key, kind and value; data has base64 instead of value. \
      Reading an expired value prints a warning.

      With --clip the value goes to the clipboard of the terminal (OSC 52), also over SSH, and nothing to standard \
      output. It has at most \(Clipboard.longestValue) bytes. The command waits, and then clears the clipboard; a \
      signal such as Ctrl-C clears it at once. Terminals do not say whether they have obeyed, and some do not by \
      default. Clearing also removes what was copied in the meantime. tmux passes them on only if its \
      option allow-passthrough is on; without it the command fails.

      EXAMPLE:
        secretprefs get github
        secretprefs get github --clip
        secretprefs get github --revision 7 --refuse-expired
        secretprefs get signing-key --key-file ~/.config/shop.key > key.der
      """)

  @OptionGroup var vault: VaultOptions
  @OptionGroup var unlock: UnlockOptions
  @OptionGroup var record: RecordOptions

  @Flag(help: "Write a line feed after the value.")
  var newline = false

  @Option(
    help: ArgumentHelp(
      "Write the kept earlier value with this revision.", valueName: "revision"))
  var revision: UInt64?

  @Flag(help: "Fail if the key has expired.")
  var refuseExpired = false

  @Flag(
    name: [.customShort("c"), .long], help: "Copy the value to the clipboard of the terminal, and clear it afterwards.")
  var clip = false

  @Option(
    help: ArgumentHelp(
      "Clear the clipboard after this time, from 1 to 3600.", discussion: ToolSetting.clearAfter.places,
      valueName: "seconds"))
  var clearAfter: Int?

  @Argument(help: .key, completion: .keys)
  var keys: [String] = []

  func perform(_ messages: Messages) throws {
    guard !newline || !vault.json else { throw ToolError.usage("--json and --newline cannot be used together") }
    let (place, key) = try record.named(try Self.sole(keys, "key"))
    var access = try unlock.complete(try vault.access())
    access.refusesExpired = refuseExpired
    let clipboard = try clipboard()
    let seconds = try clip ? clearAfter ?? Clipboard.configuredTime : Clipboard.usualTime
    try GetValue(
      access: access, place: place, key: key, revision: revision,
      addsNewline: newline, isJSON: vault.json, clipboard: clipboard
    ).perform(messages)
    // No handle of the vault is open during the wait.
    try clipboard?.clear(after: seconds, messages)
  }

  private func clipboard() throws(ToolError) -> Clipboard? {
    guard clip else {
      guard clearAfter == nil else { throw .usage("--clear-after has no effect without --clip") }
      return nil
    }
    guard !newline else { throw .usage("--clip and --newline cannot be used together") }
    guard Clipboard.times.contains(clearAfter ?? Clipboard.usualTime) else {
      throw .usage("--clear-after must be between 1 and 3600 seconds")
    }
    return try Clipboard()
  }
}
