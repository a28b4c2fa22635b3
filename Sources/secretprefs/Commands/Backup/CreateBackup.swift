internal import ArgumentParser
internal import VaultCore

/// `secretprefs backup create`.
struct CreateBackup: ToolCommand {
  static let configuration = CommandConfiguration(
    commandName: "create",
    abstract: "Makes a verified copy of the vault, also while others write.",
    usage: "secretprefs backup [create] [<options>] <file>",
    discussion: """
      The copy is one consistent state, checked with the credential before it gets its name, mode 0600, and on \
      the disk when the command returns. Nothing is ever replaced. The copy opens with the credentials of now, \
      also after they are changed or removed in the vault.

      In a directory the copy is named after the vault and the time, and the answer is its path. With --keep, the \
      new copy is read back and verified, and then the oldest dated copies of this vault go, so that so many are \
      left; what is named otherwise, is another vault or does not open stays.

      EXAMPLE:
        secretprefs backup /var/backups/shop/secrets.spv
        secretprefs backup /var/backups/shop/ --keep 7
      """)

  @OptionGroup var vault: VaultOptions
  @OptionGroup var unlock: UnlockOptions

  @Option(
    help: ArgumentHelp("Leave so many dated copies in the directory, the new one among them.", valueName: "number"))
  var keep: Int?

  @Argument(help: ArgumentHelp("Where the copy goes: a directory, or where nothing is.", valueName: "file"))
  var files: [String] = []

  func perform(_ messages: Messages) throws {
    let file = try Self.sole(files, "file")
    let access = try unlock.complete(try vault.access())
    let copies = DatedCopies(in: file, of: access.location.path)
    guard keep == nil || copies != nil else {
      throw ToolError.usage("--keep is for copies in a directory", hint: "a directory that is not there yet ends in /")
    }
    if let keep, keep < 1 { throw ToolError.usage("--keep is 1 or more: the new copy is one of them") }
    guard let copies else {
      try access.open(messages).backUp(to: file)
      Output.noteChange()
      if vault.json { try Output.write(.object([("backup", .string(file))])) }
      return
    }
    let made = try make(copies, access, messages)
    Output.noteChange()
    guard vault.json else {
      return try Output.write(
        displayed(made.copy) + "\n" + made.removed.map { "removed \(displayed($0))\n" }.joined())
    }
    try Output.write(
      .object([("backup", .string(made.copy)), ("removed", .array(made.removed.map { .string($0) }))]))
  }

  private func make(
    _ copies: DatedCopies, _ access: VaultAccess, _ messages: Messages
  ) throws -> (copy: String, removed: [String]) {
    guard let keep else { return (try copies.add(try access.open(messages), access.options), []) }
    let (vault, credential) = try access.openKeepingCredential(messages)
    let copy = try copies.add(vault, access.options)
    return (copy, try copies.removeOldest(keeping: keep, besides: copy, credential, access, messages))
  }
}
