internal import ArgumentParser
internal import DurableFiles
internal import Secrets
internal import VaultCore
internal import VaultSealing

/// `secretprefs identity key`.
struct IdentityKey: ToolCommand {
  static let configuration = CommandConfiguration(
    commandName: "key",
    abstract: "Prints the key that an identity and a vault agreed on.",
    usage: "secretprefs identity key [--trust <pin>] <file>",
    discussion: """
      The key file (spv-key-1:...) opens the slots of the identity in the vault that it trusts, for a program that \
      knows no identities. It is a secret, and is useless after the vault's keys were replaced.

      EXAMPLE:
        (umask 077; secretprefs identity key /etc/shop/shop.identity > shop.key)
      """)

  @Option(help: ArgumentHelp("The pin of the vault, in place of the one in the file.", valueName: "pin"))
  var trust: String?

  @Argument(help: ArgumentHelp("The identity file.", valueName: "file"), completion: .file())
  var files: [String] = []

  func perform(_ messages: Messages) throws {
    let path = try Self.sole(files, "file")
    try refuseDash(reading: path, as: "the identity file")
    let named = try PublicText.trusted(trust)
    let file = try IdentityFile(at: path)
    let text = try KeyText.write(try file.identity.key(for: try file.trusted(named)))
    try text.withUnsafeBytes { bytes in Result { () throws(ToolError) in try Output.write(bytes) } }.get()
    try Output.write("\n")
  }
}
