internal import ArgumentParser
internal import VaultCore

/// `secretprefs verify`.
struct Verify: ToolCommand {
  static let configuration = CommandConfiguration(
    commandName: "verify",
    abstract: "Decrypts and authenticates everything that the credential opens.",
    usage: "secretprefs verify [<options>]",
    discussion: """
      Reads the file again and opens the manifest, every section and journal entry, every value and every kept \
      earlier value. The vault does not change. --report explains what was checked, what is proved and what cannot \
      be known. The exit code is 1 if the journal ends with a broken entry, if the file is mounted by itself and was \
      replaced outside the mount, or if reads are refused because they cannot be logged.

      EXAMPLE:
        secretprefs verify
        secretprefs verify --report --key-file ~/.config/shop.key
      """)

  @OptionGroup var vault: VaultOptions
  @OptionGroup var unlock: UnlockOptions

  @Flag(help: "Explain what was checked, what is proved and what cannot be known.")
  var report = false

  func perform(_ messages: Messages) throws {
    var access = try unlock.complete(try vault.access())
    access.progress = ProgressLine("verifying", messages)
    let hasMark = access.markPath != nil
    let opened = try access.open(messages)
    let found = try opened.verify()
    if vault.json {
      try Output.write(found.json(hasMark: hasMark))
    } else {
      try Output.write(report ? found.report(hasMark: hasMark) : found.summary)
    }
    if found.status.isFrozen { throw ToolError.frozen }
    if found.status.hasTornTail { throw ToolError.tornTail }
    try AuditProblem.report(try opened.auditProblems(), messages)
  }
}

extension VerificationReport {
  /// The result in one line.
  var summary: String {
    var parts = [counted(values, "value", "values")]
    if previousValues > 0 { parts.append(counted(previousValues, "earlier value", "earlier values")) }
    let groups = counted(status.groups.count, "access group", "access groups")
    return "verified: \(parts.joined(separator: " and ")) of \(groups)\(status.isOwner ? ", as an owner" : "")\n"
  }

  /// The text of `--report`.
  func report(hasMark: Bool) -> String {
    let others =
      status.isOwner
      ? "" : "The state of other access groups, the slots and the manifest: this credential does not open them.\n"
    let devices =
      deviceValues == 0
      ? ""
      : "The contents of \(counted(deviceValues, "value", "values")) bound to a device key that is not configured; "
        + "only the outer seal was checked.\n"
    return """
      \(summary)
      Checked and correct:
      \(status.hasTornTail
        ? "The snapshot and the journal up to the broken entry are as they were written."
        : "The file is as it was written: its checksum, lengths and order are correct.")
      \(status.isOwner
        ? "Header, slots, manifest and every access group were written with the vault's keys, for this vault,\n"
          + "and belong together: none of them is from a different time or copy."
        : "The granted access group was written with its key, for this vault and epoch.")
      Every journal entry\(status.isOwner ? "" : " of the group") follows the state it was \
      written after; no entry in between is missing.
      Every value opens at the service, key and kind it was sealed for.
      \(hasMark
        ? "The vault is not older than its mark: nothing the mark covers was undone, unless the mark was changed too.\n"
        : "")
      \(status.isFrozen
        ? "Wrong: \(FrozenVault.words).\n\n"
        : "")\
      Not known, because the file cannot prove it:
      \(status.hasTornTail
        ? "Whether the broken end of the journal held acknowledged entries. Their changes are missing here.\n"
        : "")\
      \(hasMark
        ? "Whether changes were undone that were written without raising the mark."
        : "Whether the whole file is an older copy, or the newest entries since the last full write were cut off.\n"
          + "A mark outside the vault detects both: see \"secretprefs help mark\".")
      Which of the holders of a key wrote a value.
      \(others)\(devices)
      """
  }

  func json(hasMark: Bool) -> JSON {
    var members: [(String, JSON)] = [
      ("owner", .bool(status.isOwner)), ("markChecked", .bool(hasMark)), ("generation", .unsigned(status.generation)),
      ("values", .unsigned(UInt64(values))), ("previousValues", .unsigned(UInt64(previousValues))),
      ("deviceValues", .unsigned(UInt64(deviceValues))), ("journalEntries", .unsigned(UInt64(status.entryCount))),
      ("tornTail", .bool(status.hasTornTail)), ("frozen", .bool(status.isFrozen)),
      ("groups", .array(status.groups.map(\.json))),
    ]
    if let limit = status.tornTail?.entryLimit { members.append(("tornEntries", .unsigned(UInt64(limit)))) }
    return .object(members)
  }
}
