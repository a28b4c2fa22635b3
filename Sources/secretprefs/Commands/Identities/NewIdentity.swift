internal import ArgumentParser
internal import DurableFiles
internal import Secrets
internal import VaultCore
internal import VaultSealing

/// `secretprefs identity new`.
struct NewIdentity: WritingCommand {
  static let configuration = CommandConfiguration(
    commandName: "new",
    abstract: "Creates an identity and prints its public key.",
    usage: "secretprefs identity new [--trust <pin>] [--json] <file>",
    discussion: """
      Creates the file, which only this user can read. With "-" as the file, the identity goes to standard output and \
      the public key to standard error, for a program that keeps it, such as systemd-creds.

      EXAMPLE:
        secretprefs identity new /etc/shop/shop.identity
        secretprefs identity new --trust "$(cat shop.pin)" /etc/shop/shop.identity
        secretprefs identity new - | systemd-creds encrypt --name=secret-preferences.identity - shop.cred
      """)

  @Option(help: ArgumentHelp("The pin of the vault that the identity trusts, for the file.", valueName: "pin"))
  var trust: String?

  @Flag(help: .json)
  var json = false

  @Argument(help: ArgumentHelp("The file to create, or \"-\".", valueName: "file"), completion: .file())
  var files: [String] = []

  func perform(_ messages: Messages) throws {
    let path = try Self.sole(files, "file")
    let pin = try PublicText.trusted(trust)
    guard path == "-" else {
      let file = IdentityFile(identity: try VaultIdentity(), pin: pin)
      let access = try VaultAccess(try VaultLocation(option: nil))
      _ = try NewSecretFile(at: path, .identity, try file.text(), besides: access)
      Output.recordChange(by: Self.self)
      guard json else { return try Output.write("\(file.identity.publicKey)\n") }
      return try Output.write(.object([("identityFile", .string(path))] + file.members))
    }
    guard !json else { throw ToolError.usage("\"-\" writes the identity to standard output, and not --json") }
    guard isatty(STDOUT_FILENO) == 0 else {
      throw ToolError.usage("an identity is not written to a terminal", hint: "pipe it to the program that keeps it")
    }
    let file = IdentityFile(identity: try VaultIdentity(), pin: pin)
    // First: an identity whose public key is lost is of no use.
    let publicKey = Array("\(file.identity.publicKey)\n".utf8)
    try publicKey.withUnsafeBytes { bytes in
      Result { () throws(ToolError) in try writeAll(bytes, to: STDERR_FILENO, "write to standard error") }
    }.get()
    try file.text().withUnsafeBytes { bytes in Result { () throws(ToolError) in try Output.write(bytes) } }.get()
    try Output.write("\n")
  }
}
