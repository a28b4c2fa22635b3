internal import ArgumentParser

/// `secretprefs new-key`.
struct NewKey: ToolCommand {
  static let configuration = CommandConfiguration(
    commandName: "new-key",
    abstract: "Makes a raw key in a new file, and nothing else.",
    usage: "secretprefs new-key [--json] <file>",
    discussion: """
      For a device key (--device-key-file), which belongs on one machine and in no backup of the vault. A key \
      that opens a vault is made by "secretprefs init" and "secretprefs slots add".

      EXAMPLE:
        secretprefs new-key /etc/shop/device.key
      """)

  @Flag(help: "Answer in JSON; errors and warnings are JSON objects on standard error.")
  var json = false

  @Argument(help: ArgumentHelp("Where the key goes; nothing may be there.", valueName: "file"))
  var files: [String] = []

  func perform(_ messages: Messages) throws {
    let file = try Self.sole(files, "file")
    _ = try NewKeyFile(at: file)
    Output.noteChange()
    if json { try Output.write(.object([("keyFile", .string(file))])) }
  }
}
