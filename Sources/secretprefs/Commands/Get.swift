internal import ArgumentParser

/// `secretprefs get`, for the argument parser.
struct Get: ToolCommand {
  static let configuration = CommandConfiguration(
    commandName: "get",
    abstract: "Writes a value to standard output.",
    usage: "secretprefs get [<options>] <key>",
    discussion: """
      Text and data are written byte for byte. On a terminal, a line feed is added if the value does not end with \
      one. A bool is written as true or false, a number in decimal, a date as RFC 3339 in UTC. With --json the \
      output is an object with key, kind and value; data has base64 instead of value. Reading an expired value \
      prints a warning.

      EXAMPLE:
        secretprefs get github
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

  @Argument(help: ArgumentHelp("The key.", valueName: "key"), completion: .keys)
  var keys: [String] = []

  func perform(_ messages: Messages) throws {
    let key = try Self.sole(keys, "key")
    var access = try unlock.complete(try vault.access())
    access.refusesExpired = refuseExpired
    try GetValue(
      access: access, place: try record.place(), key: key, revision: revision,
      addsNewline: newline, isJSON: vault.json
    ).perform(messages)
  }
}
