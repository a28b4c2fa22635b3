internal import ArgumentParser
internal import VaultCore

/// `secretprefs salvage`.
struct Salvage: ToolCommand {
  static let configuration = CommandConfiguration(
    commandName: "salvage",
    abstract: "Saves what can be saved from a damaged vault, into a new one.",
    usage: "secretprefs salvage [<options>] --to <file>",
    discussion: """
      For when there is no backup. The damaged file is only read. The new one has every value that still proves \
      to be what a holder of the keys once stored, and opens with the slots that are left. What is UNVERIFIED may \
      lack records or have older values; these records have the attribute "salvaged". If the manifest cannot be \
      read, all of it may be an older state that was put back. With a credential for one access group the new \
      vault has that group alone. Exit code 1 if something was lost, or may have been.

      EXAMPLE:
        secretprefs salvage --to saved.spv
        secretprefs salvage --vault broken.spv --to saved.spv --key-file ~/.config/shop.key
      """)

  @OptionGroup var vault: VaultOptions
  @OptionGroup var unlock: UnlockOptions

  @Option(help: ArgumentHelp("Where the new vault goes; nothing may be there.", valueName: "file"))
  var to: String

  func perform(_ messages: Messages) throws {
    var access = try unlock.complete(try vault.access())
    // The mark stays that of the damaged vault, until this one takes its place.
    access.markPath = nil
    let target = VaultLocation(argument: to)
    try target.refuseIfOccupied("the new vault")
    let report: SalvageReport
    do throws(VaultError) {
      report = try access.withCredential(messages, looking: false) { (credential) throws(VaultError) in
        try Vault.salvage(at: access.location.path, credential: credential, to: target.path, options: access.options)
      }
    } catch { throw access.explained(error) }
    Output.noteChange()
    try vault.json ? Output.write(report.json) : Output.write(report.text)
    guard report.isWhole else {
      throw ToolError.incomplete(isCurrent: report.groups.allSatisfy(\.isCurrent))
    }
  }
}

extension SalvageReport {
  /// Whether nothing is lost, as far as the file shows.
  fileprivate var isWhole: Bool { lostGroups.isEmpty && groups.allSatisfy(\.isVerified) && hasList }

  /// Whether the list of groups and slots was read, which a group holder never sees.
  private var hasList: Bool { hasManifest || !isOwner }

  fileprivate var text: String {
    var rows = groups.sorted { $0.name < $1.name }.map { group in
      [displayed(group.name.text), counted(group.recordCount, "record", "records"), group.words]
    }
    rows += lostGroups.sorted().map { [displayed($0), "lost", "nothing of it could be read"] }
    let slots = "\(counted(slotCount, "slot opens", "slots open")) the new vault\n"
    let manifest =
      hasList
      ? (isOwner ? "" : "Whether this is the group's newest state, its own credential cannot tell.\n")
      : "The list of groups and slots could not be read: groups may be missing, labels are, and each group may be in\n"
        + "an older state that was put back.\n"
    return Table(rows: rows).text + slots + manifest
  }

  fileprivate var json: JSON {
    .object([
      ("whole", .bool(isWhole)),
      (
        "groups",
        .array(
          groups.sorted { $0.name < $1.name }.map { group in
            .object([
              ("name", .string(group.name.text)), ("records", .unsigned(UInt64(group.recordCount))),
              ("verified", .bool(group.isVerified)), ("current", .bool(group.isCurrent)),
              ("lostEntries", .unsigned(UInt64(group.lostEntryCount))),
              ("lostValues", .unsigned(UInt64(group.lostValueCount))),
            ])
          })
      ),
      ("lostGroups", .array(lostGroups.sorted().map { .string($0) })), ("owner", .bool(isOwner)),
      ("manifest", .bool(hasManifest)), ("slots", .unsigned(UInt64(slotCount))),
    ])
  }
}

extension SalvageReport.Group {
  /// How far it can be trusted.
  fileprivate var words: String {
    guard !isVerified else { return "verified: as whole as the file shows it" }
    var losses: [String] = []
    if lostEntryCount > 0 { losses.append(counted(lostEntryCount, "journal entry", "journal entries")) }
    if lostValueCount > 0 { losses.append(counted(lostValueCount, "value", "values")) }
    let known = losses.isEmpty ? "" : "; \(losses.joined(separator: " and ")) known to be lost"
    return "UNVERIFIED: records may be missing, or have older values\(known)"
  }
}
