internal import ArgumentParser
internal import VaultCore

/// `secretprefs history undo`.
struct UndoImport: WritingCommand {
  static let configuration = CommandConfiguration(
    commandName: "undo",
    abstract: "Undoes an import.",
    usage: "secretprefs history undo [<options>] <revision>",
    discussion: """
      The revision is in the report of "secretprefs import" or "secretprefs bundle import": all keys of one import \
      have it. Keys that the import has added are removed, and kept for 30 days as by "secretprefs remove". Keys that \
      it has replaced get the value from before back, if that was kept. All this is one transaction. The command names \
      the keys, the first 20 of them, and the time of the write, and asks for confirmation; any other write has a \
      revision, too, and is undone in the same way.

      The history keeps values and no metadata. Label, comment and attributes of a replaced key stay as the import has \
      left them: as they were after "secretprefs import", those of the bundle after "secretprefs bundle import". Its \
      expiry is removed. A key that was removed before the import does not get its metadata back.

      Keys that were changed or removed after the import are left as they are, and named as far as they still keep \
      the imported value.

      EXAMPLE:
        secretprefs history undo 12
        secretprefs history undo 12 --group billing --yes
      """)

  @OptionGroup var vault: VaultOptions
  @OptionGroup var unlock: UnlockOptions

  @Option(
    help: ArgumentHelp(
      "The access group of the import.",
      discussion: "Default: \"default\", or the group that the credential opens.", valueName: "name"),
    completion: .groups)
  var group: String?

  @Flag(help: "Undo it without confirmation.")
  var yes = false

  @Argument(help: ArgumentHelp("The revision in the report of the import.", valueName: "revision"))
  var revisions: [String] = []

  func perform(_ messages: Messages) throws {
    guard let revision = UInt64(try Self.sole(revisions, "revision")), revision > 0 else {
      throw ToolError.usage("a revision must be a whole number", hint: Self.hint)
    }
    let access = try unlock.complete(try vault.access())
    let vault = try access.open(messages)
    let group = try RecordPlace(service: nil, group: group).group(in: vault)
    let undone = try vault.undoing(revision, in: group)
    let left = [(undone.changedSince, "changed since"), (undone.withoutEarlierValue, "no earlier value")]
    let count = undone.removed.count + undone.restored.count
    guard count + left.reduce(0, { $0 + $1.0.count }) > 0 else {
      throw ToolError(VaultError(.notFound, "no key has this revision"), hint: Self.hint)
    }
    if count > 0 {
      if !yes { try confirm(undone, revision, mayPrompt: access.mayPrompt) }
      do throws(VaultError) { try vault.commit(undone, in: group) } catch {
        guard error.code == .conflict else { throw error }
        throw ToolError(
          error, message: "another process changed one of the keys meanwhile; nothing was undone",
          hint: "run the command again")
      }
      vault.recordChange(by: Self.self, messages)
    }
    if self.vault.json {
      try Output.write(
        .object([
          ("removed", .unsigned(UInt64(undone.removed.count))), ("restored", .unsigned(UInt64(undone.restored.count))),
          (
            "left",
            .array(
              left.flatMap { records, reason in
                records.map { record in
                  .object([
                    ("service", .string(record.service.text)), ("key", .string(record.key.text)),
                    ("reason", .string(reason)),
                  ])
                }
              })
          ),
        ]))
    } else {
      try Output.write(
        "\(counted(undone.removed.count, "key", "keys")) removed, \(undone.restored.count) restored\n"
          + left.flatMap { records, reason in
            records.map { "left as it is, \(reason): \(displayed($0.service.text)) \(displayed($0.key.text))\n" }
          }.joined())
    }
  }

  /// Asks, after the names of the keys and the time of the write.
  private func confirm(_ undone: UndoneWrite, _ revision: UInt64, mayPrompt: Bool) throws {
    let time = (undone.removed + undone.restored).first.map { Timestamp.text(of: $0.modified) } ?? ""
    let parts = [("remove", undone.removed), ("bring an earlier value back for", undone.restored)]
      .filter { !$0.1.isEmpty }
      .map { "\($0.0) \(listed($0.1.map { "\(displayed($0.service.text)) \(displayed($0.key.text))" }))" }
    let words = "undoing revision \(revision) of \(time) would \(parts.joined(separator: ", and "))"
    let question = "\(words.prefix(1).uppercased())\(words.dropFirst()). Undo it?"
    try Prompt.confirm(question, otherwise: words, mayPrompt: mayPrompt)
  }

  /// Says how an import is undone.
  ///
  /// - Parameters:
  ///   - revision: The revision of the imported keys; 0 if there are none.
  ///   - group: The access group, if an option names it.
  static func notice(_ revision: UInt64, group: String?) -> String {
    let option = group.map { " --group \(shellWord($0))" } ?? ""
    return revision > 0 ? "\"secretprefs history undo \(revision)\(option)\" undoes the import\n" : ""
  }

  private static let hint = "the report of \"secretprefs import\" has the revision"
}
