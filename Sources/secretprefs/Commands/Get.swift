internal import ArgumentParser

/// `secretprefs get`, as the argument parser sees it.
struct Get: ToolCommand {
  static let configuration = CommandConfiguration(
    commandName: "get",
    abstract: "Writes a value to standard output.",
    usage: "secretprefs get [<options>] <key>",
    discussion: """
      Text and data are written byte for byte, with nothing added; on a terminal alone a line feed ends the last \
      line. A bool is true or false, a number is decimal, \
      a date is RFC 3339 in UTC. With --json the answer is an object with key, kind and value; data has base64 \
      instead of value. A value whose expiry has passed is written with a warning.

      EXAMPLE:
        secretprefs get github
        secretprefs get github --revision 7 --refuse-expired
        secretprefs get signing-key --key-file ~/.config/shop.key > key.der
      """)

  @OptionGroup var vault: VaultOptions
  @OptionGroup var unlock: UnlockOptions
  @OptionGroup var record: RecordOptions

  @Flag(help: "Write one line feed behind the value.")
  var newline = false

  @Option(
    help: ArgumentHelp(
      "Write the value that the key had at this revision, if it keeps that.", valueName: "revision"))
  var revision: UInt64?

  @Flag(help: "Fail when the key's expiry has passed.")
  var refuseExpired = false

  @Argument(help: ArgumentHelp("The key.", valueName: "key"))
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
