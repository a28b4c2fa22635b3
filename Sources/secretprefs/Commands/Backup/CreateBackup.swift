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
      read are never removed. If the vault ends with a broken entry, or does not have all that a copy has, the new \
      copy is made, such older copies are kept, and the exit code is 1. A copy that opens with former credentials \
      alone is not compared. The same holds, also without --keep, if the file of the vault is mounted by itself and \
      was replaced outside the mount: the copy has an old state.

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
      let source = try access.open(messages)
      try source.backUp(to: file)
      Output.recordChange(by: Self.self)
      if vault.json {
        try Output.write(
          .object([
            ("backup", .string(file)), ("tornTail", .bool(try source.hasTornTail)),
            ("frozen", .bool(try source.isFrozen)),
          ]))
      }
      if try source.isFrozen { throw ToolError.frozenCopy }
      return
    }
    let made = try make(copies, access, messages)
    Output.recordChange(by: Self.self)
    try vault.json ? Output.write(made.json) : Output.write(made.text)
    if made.isFrozen { throw ToolError.frozenCopy }
    if keep != nil, let reason = made.reasonToKeep { throw reason }
  }

  /// Makes a dated copy. Older copies stay if the vault ends with a broken entry, because they may be the only ones
  /// that have what is behind it, or if it no longer changes: each copy is then the same.
  private func make(_ copies: DatedCopies, _ access: VaultAccess, _ messages: Messages) throws -> DatedCopy {
    let (vault, credential) = try access.openKeepingCredential(messages)
    var made = DatedCopy(
      path: try copies.add(vault, access.options), isTorn: try vault.hasTornTail, isFrozen: try vault.isFrozen)
    guard let keep, !made.isTorn, !made.isFrozen else { return made }
    do throws(VaultError) {
      made.older = try copies.removeOldest(keeping: keep, besides: made.path, credential, access, messages)
    } catch { throw error.after("the new copy \(displayed(made.path)) was made") }
    return made
  }
}

/// A dated copy that was made.
private struct DatedCopy {
  let path: String
  /// Whether the vault ends with a broken entry, which the copy does not have.
  let isTorn: Bool
  /// Whether the file of the vault is mounted by itself and was replaced outside the mount.
  let isFrozen: Bool
  var older = DatedCopies.Older()

  var text: String { displayed(path) + "\n" + older.removed.map { "removed \(displayed($0))\n" }.joined() }

  var json: JSON {
    .object([
      ("backup", .string(path)), ("removed", .array(older.removed.map { .string($0) })), ("tornTail", .bool(isTorn)),
      ("frozen", .bool(isFrozen)), ("unmatched", .array(older.unmatched.map { .string($0) })),
    ])
  }

  /// The error if older copies were kept that `--keep` would remove of a whole vault; `nil` if none was.
  var reasonToKeep: ToolError? {
    if isTorn {
      return .problem(
        "the new copy was made; older copies are kept, because the vault ends with a broken entry",
        hint: ToolError.tornTail.hint)
    }
    guard !older.unmatched.isEmpty else { return nil }
    return .problem(
      "the new copy was made; older copies are kept, because the vault does not have all that they have: "
        + listed(older.unmatched),
      hint: "if an older state of the vault was restored on purpose, move these copies to another directory")
  }
}
