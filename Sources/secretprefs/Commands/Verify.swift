internal import ArgumentParser
internal import VaultCore

/// `secretprefs verify`.
struct Verify: ToolCommand {
  static let configuration = CommandConfiguration(
    commandName: "verify",
    abstract: "Opens everything that the credential grants, and says whether it holds.",
    usage: "secretprefs verify [<options>]",
    discussion: """
      Reads the file anew and opens the manifest, every section and journal entry, every value and every kept \
      earlier value. Nothing is written. With --report the answer says in plain words what was checked, what \
      holds, and what cannot be known. Exit code 1 if the last journal entry is broken.

      EXAMPLE:
        secretprefs verify
        secretprefs verify --report --key-file ~/.config/shop.key
      """)

  @OptionGroup var vault: VaultOptions
  @OptionGroup var unlock: UnlockOptions

  @Flag(help: "Say what was checked, what holds and what cannot be known.")
  var report = false

  func perform(_ messages: Messages) throws {
    var access = try unlock.complete(try vault.access())
    access.progress = ProgressLine("verifying", messages)
    let hasMark = access.markPath != nil
    let found = try access.open(messages).verify()
    if vault.json {
      try Output.write(found.json(hasMark: hasMark))
    } else {
      try Output.write(report ? found.report(hasMark: hasMark) : found.summary)
    }
    if found.status.hasTornTail { throw ToolError.tornTail }
  }
}

extension VerificationReport {
  /// One line.
  var summary: String {
    var parts = [counted(values, "value", "values")]
    if previousValues > 0 { parts.append(counted(previousValues, "earlier value", "earlier values")) }
    let groups = counted(status.groups.count, "access group", "access groups")
    return "verified: \(parts.joined(separator: " and ")) of \(groups)\(status.isOwner ? ", as an owner" : "")\n"
  }

  /// Plain words, line by line.
  func report(hasMark: Bool) -> String {
    let others =
      status.isOwner
      ? "" : "Other access groups, the slots and the manifest: their keys are not granted to this credential.\n"
    let devices =
      deviceValues == 0
      ? ""
      : "\(counted(deviceValues, "value", "values")) bound to a device key that was not given: only the outer seal.\n"
    return """
      \(summary)
      Checked, and it holds:
      \(status.hasTornTail
        ? "The snapshot, and every journal entry but the last, arrived as they were written."
        : "The file arrived as it was written: its checksum, lengths and order.")
      \(status.isOwner
        ? "Header, slots, manifest and every access group were made by holders of the vault's keys, for this vault,\n"
          + "and belong together: none is of another time or copy."
        : "The granted access group was made by holders of its key, for this vault and epoch.")
      Every journal entry\(status.isOwner ? "" : " of it") stands behind exactly the state it was written after; none is missing in between.
      Every value opens at the service, key and kind it was sealed for.
      \(hasMark
        ? "It is not older than its mark: nothing that the mark has seen was undone, unless the mark was, too.\n" : "")
      Not known, whatever is checked inside the file:
      \(status.hasTornTail
        ? "Whether the last journal entry, which is broken, had been acknowledged. What it changed is missing here.\n"
        : "")\
      \(hasMark
        ? "Whether something was undone that was written while nobody raised the mark."
        : "Whether the whole file is an older copy, or the newest entries since the last full write were cut off.\n"
          + "A mark outside of the vault would tell: see \"secretprefs help mark\".")
      Who of the holders of a key wrote what.
      \(others)\(devices)
      """
  }

  func json(hasMark: Bool) -> JSON {
    .object([
      ("owner", .bool(status.isOwner)), ("markChecked", .bool(hasMark)), ("generation", .unsigned(status.generation)),
      ("values", .unsigned(UInt64(values))), ("previousValues", .unsigned(UInt64(previousValues))),
      ("deviceValues", .unsigned(UInt64(deviceValues))), ("journalEntries", .unsigned(UInt64(status.entryCount))),
      ("tornTail", .bool(status.hasTornTail)), ("groups", .array(status.groups.map(\.json))),
    ])
  }
}
