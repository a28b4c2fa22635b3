internal import ArgumentParser
internal import VaultCore

/// `secretprefs postgres import`.
struct ImportVault: WritingCommand {
  static let configuration = CommandConfiguration(
    commandName: "import",
    abstract: "Copies a vault from a file into a database.",
    usage: "secretprefs postgres import [<options>] <file>",
    discussion: """
      Needs no key, and checks what can be checked without one: the checksum, the structure and the slots. The bytes \
      in the database are those of the file, and a vault of that name is never replaced. The file stays. Remove it \
      when all programs use the database, because what is written to one of the two is not in the other. Its logs stay \
      beside the file; in a database each machine has logs of its own (--logs).

      EXAMPLE:
        secretprefs postgres import shop.spv --vault 'postgresql://db.example.com/secrets#shop'
      """)

  @OptionGroup var vault: VaultOptions

  @Argument(help: ArgumentHelp("The vault to copy.", valueName: "file"), completion: .file())
  var files: [String] = []

  func perform(_ messages: Messages) throws {
    let file = try Self.sole(files, "file")
    let access = try vault.databaseAccess()
    var source = access
    source.location = VaultLocation(argument: file)
    source.markPath = nil
    let info: VaultInfo
    do throws(VaultError) {
      info = try source.info()
      try Vault.copy(
        from: source.location.storage(source.options), to: access.location.storage(access.options),
        options: access.options)
    } catch {
      guard !DatabaseHints.isAbout(error) else { throw error }
      let hint = [.notFound, .notAVault].contains(error.code) ? "the argument is the file of a vault" : nil
      throw ToolError(source.cured(error), hint: hint)
    }
    Output.recordChange(by: Self.self)
    if let torn = info.tornTail { messages.warn("\(torn.words). The broken bytes are not copied") }
    guard vault.json else { return }
    let count = UInt64(info.snapshotBytes + info.journalBytes)
    try Output.write(
      .object([
        ("vault", .string(access.location.name)), ("id", .string(info.vaultID.description)),
        ("bytes", .unsigned(count)),
      ]))
  }
}

extension VaultOptions {
  /// The vault in a database that the options name.
  func databaseAccess() throws(ToolError) -> VaultAccess {
    let access = try access()
    guard access.location.path == nil else {
      throw .usage("the vault is in a file", hint: "--vault names one in a database: \(DatabaseURL.form)")
    }
    return access
  }
}
