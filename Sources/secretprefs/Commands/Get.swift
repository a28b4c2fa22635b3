internal import ArgumentParser

/// `secretprefs get`, as the argument parser sees it.
struct Get: ToolCommand {
  static let configuration = CommandConfiguration(
    commandName: "get",
    abstract: "Writes a value to standard output.",
    usage: "secretprefs get [<options>] <key>",
    discussion: """
      Text and data are written byte for byte, with nothing added. A bool is true or false, a number is decimal, \
      a date is RFC 3339 in UTC. With --json the answer is an object with key, kind and value; data has base64 \
      instead of value.

      EXAMPLE:
        secretprefs get github
        secretprefs get signing-key --key-file ~/.config/shop.key > key.der
      """)

  @OptionGroup var vault: VaultOptions
  @OptionGroup var unlock: UnlockOptions
  @OptionGroup var record: RecordOptions

  @Flag(help: "Write one line feed behind the value.")
  var newline = false

  @Argument(help: ArgumentHelp("The key.", valueName: "key"))
  var keys: [String] = []

  func perform(_ messages: Messages) throws {
    guard let key = keys.first, keys.count == 1 else {
      throw ToolError.usage("one key is needed", hint: "secretprefs get [<options>] <key>")
    }
    try GetValue(
      access: try unlock.complete(try vault.access()), service: record.service, group: record.group, key: key,
      addsNewline: newline, isJSON: vault.json
    ).perform(messages)
  }
}
