internal import ArgumentParser
internal import DurableFiles
internal import VaultCore

/// `secretprefs salvage`.
struct Salvage: WritingCommand {
  static let configuration = CommandConfiguration(
    commandName: "salvage",
    abstract: "Recovers what is readable in a damaged vault into a new one.",
    usage: "secretprefs salvage [<options>] --to <file>",
    discussion: """
      Use it if there is no backup. The damaged file does not change. The new vault contains every value that is \
      still authenticated, and opens with the slots that are readable. An UNVERIFIED group may lack records or \
      contain older values; its records have the attribute "salvaged". If the manifest is not readable, all groups \
      may be in an older state. With a credential for access groups the new vault contains only these. The exit code \
      is 1 if data was lost or may have been lost.

      EXAMPLE:
        secretprefs salvage --to saved.spv
        secretprefs salvage --vault broken.spv --to saved.spv --key-file ~/.config/shop.key
      """)

  @OptionGroup var vault: VaultOptions
  @OptionGroup var unlock: UnlockOptions

  @Option(
    help: ArgumentHelp("The path of the new vault, which must not exist.", valueName: "file"), completion: .file())
  var to: String

  func perform(_ messages: Messages) throws {
    var access = try unlock.complete(try vault.access())
    // The mark belongs to the damaged vault until the new one replaces it.
    access.markPath = nil
    let target = VaultLocation(argument: to)
    try target.refuseIfOccupied("the new vault")
    try access.checkOutput(to, as: "--to", kind: .vault)
    let report: SalvageReport
    do throws(VaultError) {
      report = try access.withCredential(messages, inspectsFile: false) { (credential) throws(VaultError) in
        try Vault.salvage(
          in: access.location.storage(access.options), credential: credential, to: target.storage(access.options),
          options: access.options)
      }
    } catch {
      guard error.code == .credentialRejected else { throw access.explained(error, salvages: false) }
      throw ToolError(error, hint: Self.rejected(access))
    }
    Output.recordChange(by: Self.self)
    try vault.json ? Output.write(report.json) : Output.write(report.text)
    guard report.isWhole else {
      throw ToolError.incomplete(isCurrent: report.groups.allSatisfy(\.isCurrent))
    }
  }

  /// What a user can do if no slot opens. In a damaged file, the slot of the right credential may be missing.
  private static func rejected(_ access: VaultAccess) -> String? {
    do throws(VaultError) { _ = try access.info() } catch {
      guard let unreadable = UnreadableVault(access.location, error) else { return nil }
      return "use the credential of a different slot; otherwise: \(unreadable.hint(salvages: false))"
    }
    return nil
  }
}

extension SalvageReport {
  /// Whether nothing is known to be lost.
  fileprivate var isWhole: Bool { lostGroups.isEmpty && groups.allSatisfy(\.isVerified) && hasList && tornTail == nil }

  /// Whether the list of groups and slots was read. Always true for a group holder, which never has the list.
  private var hasList: Bool { hasManifest || !isOwner }

  fileprivate var text: String {
    var rows = groups.sorted { $0.name < $1.name }.map { group in
      [displayed(group.name.text), counted(group.recordCount, "record", "records"), group.words]
    }
    rows += lostGroups.sorted().map { [displayed($0), "lost", "nothing could be recovered"] }
    let slots = "\(counted(slotCount, "slot opens", "slots open")) the new vault\n"
    let manifest =
      hasList
      ? (isOwner
        ? "" : "A group credential cannot tell whether this is the newest state, or whether it opened more groups.\n")
      : "The list of groups and slots is not readable: groups may be missing, slot labels are missing, and each group\n"
        + "may be in an older state.\n"
    let journal = tornTail.map { "In the damaged file \($0.words).\n" } ?? ""
    return Table(rows: rows).text + slots + manifest + journal
  }

  fileprivate var json: JSON {
    var members: [(String, JSON)] = [
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
      ("manifest", .bool(hasManifest)), ("slots", .unsigned(UInt64(slotCount))), ("tornTail", .bool(tornTail != nil)),
    ]
    if let limit = tornTail?.entryLimit { members.append(("tornEntries", .unsigned(UInt64(limit)))) }
    return .object(members)
  }
}

extension SalvageReport.Group {
  /// How much the recovered group can be trusted.
  fileprivate var words: String {
    guard !isVerified else { return "verified: no damage found" }
    var losses: [String] = []
    if lostEntryCount > 0 { losses.append(counted(lostEntryCount, "journal entry", "journal entries")) }
    if lostValueCount > 0 { losses.append(counted(lostValueCount, "value", "values")) }
    let known = losses.isEmpty ? "" : "; known losses: \(losses.joined(separator: " and "))"
    return "UNVERIFIED: records may be missing or have older values\(known)"
  }
}
