internal import ArgumentParser
internal import VaultCore

/// `secretprefs backup create`.
struct CreateBackup: ToolCommand {
  static let form = "secretprefs backup [create] [<options>] <file>"

  static let configuration = CommandConfiguration(
    commandName: "create",
    abstract: "Makes a verified copy of the vault, also while others write.",
    usage: form,
    discussion: """
      The copy is one consistent state, checked with the credential before it gets its name, mode 0600, and on \
      the disk when the command returns. Nothing is ever replaced. The copy opens with the credentials of now, \
      also after they are changed or removed in the vault.

      EXAMPLE:
        secretprefs backup /var/backups/shop/secrets.spv
      """)

  @OptionGroup var vault: VaultOptions
  @OptionGroup var unlock: UnlockOptions

  @Argument(help: ArgumentHelp("Where the copy goes; nothing may be there.", valueName: "file"))
  var files: [String] = []

  func perform(_ messages: Messages) throws {
    guard let file = files.first, files.count == 1 else {
      throw ToolError.usage("one file is needed", hint: Self.form)
    }
    let access = try unlock.complete(try vault.access())
    try access.open(messages).backUp(to: file)
    if vault.json { try Output.write(.object([("backup", .string(file))])) }
  }
}
