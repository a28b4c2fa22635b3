internal import ArgumentParser
internal import VaultCore

/// `secretprefs postgres export`.
struct ExportVault: WritingCommand {
  static let configuration = CommandConfiguration(
    commandName: "export",
    abstract: "Copies a vault from a database to a file.",
    usage: "secretprefs postgres export [<options>] <file>",
    discussion: """
      Needs no key, and checks what can be checked without one: the checksum, the structure and the slots. \
      "secretprefs backup" also verifies the contents. The bytes in the file are those of the database, as of one \
      moment. Existing files are never replaced. The vault in the database stays.

      EXAMPLE:
        secretprefs postgres export shop.spv --vault 'postgresql://db.example.com/secrets#shop'
      """)

  @OptionGroup var vault: VaultOptions

  @Argument(
    help: ArgumentHelp("The path of the copy, which must not exist.", valueName: "file"), completion: .file())
  var files: [String] = []

  func perform(_ messages: Messages) throws {
    let file = try Self.sole(files, "file")
    let access = try vault.databaseAccess()
    let target = VaultLocation(argument: file)
    try target.refuseIfOccupied("the copy")
    try access.checkOutput(file, as: "the copy", kind: .vault)
    var options = access.options
    // No byte is added to those of the database.
    options.reserveBytes = 0
    do throws(VaultError) {
      try Vault.copy(from: access.location.storage(options), to: target.storage(options), options: options)
    } catch { throw access.explained(error) }
    Output.recordChange(by: Self.self)
    guard vault.json else { return }
    try Output.write(.object([("vault", .string(access.location.name)), ("file", .string(file))]))
  }
}
