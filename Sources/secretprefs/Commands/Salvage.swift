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
      contain older values, and its metadata, times and revisions may be changed: its records have the attribute \
      "salvaged". If the manifest is not readable, all groups \
      may be in an older state. With a credential for access groups the new vault contains only these. With --mark \
      the damaged vault is compared with the mark if it opens, and the mark does not change. The exit code is 1 if \
      data was lost or may have been lost, or if the vault is older than the mark.

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
    let mark = try access.markPath.map { try RollbackMark.read(at: $0) }
    access.markPath = nil
    let target = VaultLocation(argument: to)
    try target.refuseIfOccupied("the new vault")
    try access.checkOutput(to, as: "--to", kind: .vault)
    let found: Found
    do throws(VaultError) {
      found = try access.withCredential(messages, inspectsFile: false) { (credential) throws(VaultError) in
        let report = try Vault.salvage(
          in: access.location.storage(access.options), credential: credential, to: target.storage(access.options),
          options: access.options)
        return Found(report: report, mark: mark.map { MarkAnswer($0, access, credential) })
      }
    } catch {
      guard error.code == .credentialRejected else { throw access.explained(error, salvages: false) }
      throw ToolError(error, hint: Self.rejected(access))
    }
    Output.recordChange(by: Self.self)
    try vault.json ? Output.write(found.json) : Output.write(found.text)
    if let doubt = found.doubt { throw ToolError.incomplete(doubt) }
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

/// What the mark says of the damaged vault.
private enum MarkAnswer {
  case agrees
  /// The vault is older than the mark, or a different one.
  case refuses(String)
  /// The vault does not open, and cannot be compared.
  case unknown

  init(_ mark: RollbackMark, _ access: VaultAccess, _ credential: Vault.Credential) {
    do throws(VaultError) {
      let options = access.options
      let vault = try Vault.open(in: access.location.storage(options), credential: credential, options: options)
      guard try vault.currentMark().vaultID == mark.vaultID else {
        self = .refuses("the mark belongs to a different vault")
        return
      }
      self = try MarkComparison(mark, vault).refusal.map { .refuses($0.message) } ?? .agrees
    } catch { self = .unknown }
  }

  var name: String {
    switch self {
    case .agrees: "agrees"
    case .refuses: "refuses"
    case .unknown: "unknown"
    }
  }
}

private struct Found {
  let report: SalvageReport
  /// `nil` without a mark.
  let mark: MarkAnswer?

  /// Why the recovered data may not be all data.
  var doubt: String? {
    if case .refuses(let message)? = mark { return message }
    guard !report.isWhole else { return nil }
    guard report.groups.allSatisfy(\.isCurrent) else {
      return "without the manifest, the recovered data may not be the newest state"
    }
    return "data was lost, or may have been lost"
  }

  var text: String {
    switch mark {
    case .refuses?:
      report.text + "The mark refuses the vault: what was recovered is of an older state, or of a different vault.\n"
    case .unknown?:
      report.text + "The vault does not open, and was not compared with the mark: it may be an older copy.\n"
    case .agrees?, nil: report.text
    }
  }

  var json: JSON { report.json(mark) }
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

  fileprivate func json(_ mark: MarkAnswer?) -> JSON {
    let isRefused = if case .refuses? = mark { true } else { false }
    var members: [(String, JSON)] = [
      ("whole", .bool(isWhole && !isRefused)),
      (
        "groups",
        .array(
          groups.sorted { $0.name < $1.name }.map { group in
            .object([
              ("name", .string(group.name.text)), ("records", .unsigned(UInt64(group.recordCount))),
              ("verified", .bool(group.isVerified)), ("current", .bool(group.isCurrent && !isRefused)),
              ("lostEntries", .unsigned(UInt64(group.lostEntryCount))),
              ("lostValues", .unsigned(UInt64(group.lostValueCount))),
            ])
          })
      ),
      ("lostGroups", .array(lostGroups.sorted().map { .string($0) })), ("owner", .bool(isOwner)),
      ("manifest", .bool(hasManifest)), ("slots", .unsigned(UInt64(slotCount))), ("tornTail", .bool(tornTail != nil)),
    ]
    if let mark { members.append(("mark", .string(mark.name))) }
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
