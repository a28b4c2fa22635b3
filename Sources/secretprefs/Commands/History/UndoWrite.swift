internal import ArgumentParser
internal import VaultCore

/// `secretprefs history undo`.
struct UndoWrite: WritingCommand {
  static let configuration = CommandConfiguration(
    commandName: "undo",
    abstract: "Undoes the last write, or those of revisions, such as an import.",
    usage: "secretprefs history undo [<options>] [<revision> | <first>-<last>]",
    discussion: """
      Without a revision, undoes the last write, also an earlier undo. The report of "secretprefs import" has a \
      revision, which all keys of one import have. An import of earlier values is several writes, and has the first \
      and the last of their revisions for each access group; the last one alone would bring an imported value back. \
      The command names the keys, the first 20 of them, and the time of the write, and asks for confirmation; all of \
      it is one transaction.

      Keys that the write has made are removed, and kept for 30 days as by "secretprefs remove"; one whose name a \
      removed key had is that key again, and its newest value is the one that is undone. Keys that it has \
      replaced, removed or moved have the value, name, label, comment, attributes and expiry from before again. Keys \
      that were changed or removed later are left as they are. So is, with its reason, what cannot come back: a key \
      that "secretprefs remove --now" removed, a value of a key that keeps no earlier ones, a changed accessibility.

      This needs the journal of the vault. A write of the whole file ends it: a rotation, "secretprefs compact", a \
      change of slots, access groups or logging, a large import, and every write that makes the journal too long. Then \
      there is no last write to undo, and a revision is undone by the history alone, which has values and no metadata: \
      label, comment and attributes stay, the expiry is removed, and a change of metadata, a copy or a new name is \
      taken for a new value. A note says so; several writes are not undone that way. A move to another access group \
      is two writes: \
      the copy, and the removal.

      EXAMPLE:
        secretprefs history undo
        secretprefs history undo 12
        secretprefs history undo 5-9
        secretprefs history undo 12 --group billing --yes
      """)

  @OptionGroup var vault: VaultOptions
  @OptionGroup var unlock: UnlockOptions

  @Option(
    help: ArgumentHelp(
      "The access group of the write.",
      discussion: "Without a revision, the default is the group of the last write. With one: "
        + ToolSetting.group.places + ToolSetting.soleGroup, valueName: "name"),
    completion: .groups)
  var group: String?

  @Flag(help: "Undo it without confirmation.")
  var yes = false

  @Argument(help: ArgumentHelp("The revisions of the writes, as in the report of an import.", valueName: "revisions"))
  var revisions: [String] = []

  func perform(_ messages: Messages) throws {
    guard revisions.count <= 1 else { throw Self.usageError("at most one revision is accepted") }
    let wanted = try revisions.first.map(Self.range)
    let access = try unlock.complete(try vault.access())
    let vault = try access.open(messages)
    let (group, revisions) = try chosen(wanted, of: vault)
    let undone: UndoneWrite
    let derives = self.revisions.allSatisfy { !$0.contains("-") }
    do throws(VaultError) { undone = try vault.undoing(revisions, in: group, deriving: derives) } catch {
      throw error.code == .notFound ? ToolError(error, hint: Self.otherWays) : ToolError(error)
    }
    let count = undone.removed.count + undone.restored.count + undone.edited.count
    guard count + undone.left.count > 0 else {
      throw wanted == nil
        ? ToolError(VaultError(.notFound, "the last write changed no key"), hint: Self.otherWays)
        : ToolError(VaultError(.notFound, "no key has this revision"), hint: Self.hint)
    }
    if undone.isDerived {
      messages.tell("the journal no longer has the write; the history says what it did, without metadata")
    }
    if count > 0 {
      if !yes { try confirm(undone, revisions, mayPrompt: access.mayPrompt) }
      do throws(VaultError) { try vault.commit(undone, in: group) } catch {
        guard error.code == .conflict else { throw error }
        throw ToolError(
          error, message: "another process changed one of the keys meanwhile; nothing was undone",
          hint: "run the command again")
      }
      vault.recordChange(by: Self.self, messages)
      warnOfRotations(undone, in: group, of: vault, messages)
    }
    try write(undone, of: revisions, in: group)
    guard count > 0 else {
      throw ToolError(VaultError(.notFound, "nothing was undone"), hint: Self.otherWays)
    }
  }

  /// Warns of rotations that are pending again and cannot be reverted, because the old value has another revision now.
  private func warnOfRotations(
    _ undone: UndoneWrite, in group: AccessGroup, of vault: Vault, _ messages: Messages
  ) {
    for record in undone.restored + undone.edited {
      let name = "\(displayed(record.service.text)) \(displayed(record.key.text))"
      do throws(VaultError) {
        guard let present = try vault.record(record, in: group), let mark = RotationMark(pendingIn: present),
          !present.previous.contains(where: { $0.revision == mark.revision })
        else { continue }
        messages.warn(
          "a rotation of \(name) is pending again and cannot be reverted: \"secretprefs history\" lists its earlier "
            + "values, and \"rotate-value --confirm\" ends it")
      } catch {
        // The undo is done, so that this is no reason to call it failed.
        messages.warn("whether a rotation of \(name) is pending again is not known: \(error.message)")
      }
    }
  }

  /// The revision or revisions of an argument.
  private static func range(_ text: String) throws(ToolError) -> ClosedRange<UInt64> {
    let ends = text.split(separator: "-", maxSplits: 1, omittingEmptySubsequences: false).map { UInt64($0) ?? 0 }
    guard let first = ends.first, let last = ends.last, first > 0, first <= last else {
      throw ToolError.usage("revisions are whole numbers from 1, or two in their order as in 5-9", hint: hint)
    }
    return first...last
  }

  /// The writes of the revisions, or the last one.
  private func chosen(
    _ revisions: ClosedRange<UInt64>?, of vault: Vault
  ) throws -> (AccessGroup, ClosedRange<UInt64>) {
    if let revisions { return (try RecordPlace(service: nil, group: group).group(in: vault), revisions) }
    let named = try group.map { (_) in try RecordPlace(service: nil, group: group).group(in: vault) }
    guard let last = try vault.lastWrite(in: named) else {
      throw ToolError(
        VaultError(.notFound, "the last write replaced the whole vault, and nothing says what it changed"),
        hint: Self.otherWays)
    }
    return (last.group, last.revision...last.revision)
  }

  private func write(_ undone: UndoneWrite, of revisions: ClosedRange<UInt64>, in group: AccessGroup) throws {
    guard !vault.json else { return try Output.write(json(undone, of: revisions, in: group)) }
    let edited = undone.edited.isEmpty ? "" : ", \(undone.edited.count) with the metadata from before"
    try Output.write(
      "\(counted(undone.removed.count, "key", "keys")) removed, \(undone.restored.count) restored\(edited)\n"
        + undone.left.map { left in
          ([.droppedValues, .removedBefore, .keepsUndone].contains(left.reason) ? "" : "left as it is, ")
            + "\(left.reason.rawValue): \(displayed(left.record.service.text)) "
            + "\(displayed(left.record.key.text))\n"
        }.joined())
  }

  private func json(_ undone: UndoneWrite, of revisions: ClosedRange<UInt64>, in group: AccessGroup) -> JSON {
    .object([
      ("group", .string(group.name.text)), ("firstRevision", .unsigned(revisions.lowerBound)),
      ("revision", .unsigned(revisions.upperBound)),
      ("removed", .unsigned(UInt64(undone.removed.count))), ("restored", .unsigned(UInt64(undone.restored.count))),
      ("edited", .unsigned(UInt64(undone.edited.count))), ("derived", .bool(undone.isDerived)),
      (
        "left",
        .array(
          undone.left.map { left in
            .object([
              ("service", .string(left.record.service.text)), ("key", .string(left.record.key.text)),
              ("reason", .string(left.reason.rawValue)),
            ])
          })
      ),
    ])
  }

  /// Asks, after the names of the keys and the time of the write.
  private func confirm(_ undone: UndoneWrite, _ revisions: ClosedRange<UInt64>, mayPrompt: Bool) throws {
    let time =
      (undone.removed + undone.restored + undone.edited).map(\.modified).max().map { Timestamp.text(of: $0) } ?? ""
    let parts = [
      ("remove", undone.removed), ("bring an earlier value back for", undone.restored),
      ("bring the metadata back for", undone.edited),
    ]
    .filter { !$0.1.isEmpty }
    .map { "\($0.0) \(listed($0.1.map { "\(displayed($0.service.text)) \(displayed($0.key.text))" }))" }
    let what = (revisions.count == 1 ? "revision " : "revisions ") + Self.text(revisions)
    let words = "undoing \(what) of \(time) would \(parts.joined(separator: ", and "))"
    let question = "\(words.prefix(1).uppercased())\(words.dropFirst()). Undo it?"
    try Prompt.confirm(question, otherwise: words, mayPrompt: mayPrompt)
  }

  /// Says how an import is undone.
  ///
  /// - Parameters:
  ///   - group: the access group, if the command has to name it.
  ///   - vault: ``VaultAccess/namingOptions``.
  static func notice(_ revisions: String, group: String?, _ vault: String) -> String {
    "\(command(revisions, group: group, vault)) undoes the import"
  }

  /// The command that undoes the writes of revisions, in quotes. The parameters are those of ``notice(_:group:_:)``.
  static func command(_ revisions: String, group: String?, _ vault: String) -> String {
    let option = group.map { " --group \(shellWord($0))" } ?? ""
    return "\"secretprefs history undo \(revisions)\(option)\(vault)\""
  }

  static func text(_ revisions: ClosedRange<UInt64>) -> String {
    revisions.count == 1 ? String(revisions.lowerBound) : "\(revisions.lowerBound)-\(revisions.upperBound)"
  }

  private static let otherWays =
    "\"secretprefs history <key>\" lists earlier values, and \"secretprefs history removed\" removed keys"
  private static let hint = "the report of \"secretprefs import\" has the revision"
}
