internal import ArgumentParser
internal import Secrets
internal import VaultCore

/// `secretprefs identity show`.
struct ShowIdentity: ToolCommand {
  static let configuration = CommandConfiguration(
    commandName: "show",
    abstract: "Prints the public key of an identity.",
    usage: "secretprefs identity show [--json] <file>",
    discussion: """
      An owner who adds the public key compares all its digits with these. --json also shows the pin of the vault that \
      the file trusts, and the pin that comes next if a rotation by this identity was interrupted.

      EXAMPLE:
        secretprefs identity show /etc/shop/shop.identity
      """)

  @Flag(help: .json)
  var json = false

  @Argument(help: ArgumentHelp("The identity file.", valueName: "file"), completion: .file())
  var files: [String] = []

  func perform(_ messages: Messages) throws {
    let path = try Self.sole(files, "file")
    try refuseDash(reading: path, as: "the identity file")
    let file = try IdentityFile(at: path)
    try json ? Output.write(.object(file.members)) : Output.write("\(file.identity.publicKey)\n")
  }
}

extension IdentityFile {
  /// What `--json` prints of an identity.
  var members: [(String, JSON)] {
    let pins = [("pin", pin), ("nextPin", nextPin)].compactMap { name, pin in pin.map { (name, JSON.string("\($0)")) } }
    return [("publicKey", .string("\(identity.publicKey)"))] + pins
  }
}
