internal import ArgumentParser

/// `secretprefs new-key`.
struct NewKey: WritingCommand {
  static let configuration = CommandConfiguration(
    commandName: "new-key",
    abstract: "Creates a key file.",
    usage: "secretprefs new-key [--json] <file>",
    discussion: """
      Use it for a device key (--device-key-file), which stays on one machine and must not be in a backup together \
      with the vault. "secretprefs init" and "secretprefs slots add" create keys that unlock a vault.

      EXAMPLE:
        secretprefs new-key /etc/shop/device.key
      """)

  @Flag(help: .json)
  var json = false

  @Argument(help: ArgumentHelp("The file to create.", valueName: "file"), completion: .file())
  var files: [String] = []

  func perform(_ messages: Messages) throws {
    let file = try Self.sole(files, "file")
    _ = try NewKeyFile(at: file, besides: try VaultAccess(try VaultLocation(option: nil)))
    Output.recordChange(by: Self.self)
    if json { try Output.write(.object([("keyFile", .string(file))])) }
  }
}
