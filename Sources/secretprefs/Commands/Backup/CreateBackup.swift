internal import ArgumentParser
internal import DurableFiles
internal import VaultCore

/// `secretprefs backup create`.
struct CreateBackup: WritingCommand {
  static let configuration = CommandConfiguration(
    commandName: "create",
    abstract: "Creates a verified copy of the vault.",
    usage: "secretprefs backup [create] [<options>] <file>",
    discussion: """
      Other processes may write to the vault meanwhile: the copy is one consistent state. It is verified with the \
      credential, has mode 0600, and is durable when the command returns. Existing files are never replaced. The \
      copy opens with the credentials that the vault has now, even after they are changed or removed in the vault.

      If the path is a directory, the copy is named after the vault and the time, and the command prints its path. \
      With --keep, the new copy is read back and verified, and then the oldest dated copies of this vault are \
      removed until that number is left. Files that have different names, belong to a different vault or cannot be \
      read are never removed.

      EXAMPLE:
        secretprefs backup /var/backups/shop/secrets.spv
        secretprefs backup /var/backups/shop/ --keep 7
      """)

  @OptionGroup var vault: VaultOptions
  @OptionGroup var unlock: UnlockOptions

  @Option(
    help: ArgumentHelp("Keep this number of dated copies, including the new one.", valueName: "number"))
  var keep: Int?

  @Argument(
    help: ArgumentHelp("A directory, or the path of the copy, which must not exist.", valueName: "file"),
    completion: .file())
  var files: [String] = []

  func perform(_ messages: Messages) throws {
    let file = try Self.sole(files, "file")
    let access = try unlock.complete(try vault.access())
    try OutputFile(file, as: "the copy").refuseNoPath()
    let copies = DatedCopies(in: file, of: access.location)
    guard keep == nil || copies != nil else {
      throw ToolError.usage("--keep needs a directory", hint: "end the path of a new directory with /")
    }
    if let keep, keep < 1 { throw ToolError.usage("--keep must be at least 1, which is the new copy") }
    guard let copies else {
      try access.checkOutput(file, as: "the copy", kind: .vault)
      try access.open(messages).backUp(to: file)
      Output.recordChange(by: Self.self)
      if vault.json { try Output.write(.object([("backup", .string(file))])) }
      return
    }
    let made = try make(copies, access, messages)
    Output.recordChange(by: Self.self)
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
    do throws(VaultError) {
      return (copy, try copies.removeOldest(keeping: keep, besides: copy, credential, access, messages))
    } catch { throw error.after("the new copy \(displayed(copy)) was made") }
  }
}
