internal import ArgumentParser
internal import VaultCore

/// `secretprefs rotate`.
struct Rotate: WritingCommand {
  static let configuration = CommandConfiguration(
    commandName: "rotate",
    abstract: "Replaces encryption keys and seals everything again with the new ones.",
    usage: "secretprefs rotate [<options>] (--group <name> | --vault-keys)",
    discussion: """
      With --group, one access group gets a new key and keeps its slots. With --vault-keys, the vault and all groups \
      get new keys: give the credentials of the other owner slots to keep, and --drop-others to remove the rest; \
      group slots are kept. Holders by public key get new slots and need the new pin, which is printed. An \
      identity that runs this command gets it in its file. Older copies of the file still open with the old keys.

      EXAMPLE:
        secretprefs rotate --group billing
        secretprefs rotate --vault-keys --keep-key-file ~/backup.key
      """)

  @OptionGroup var vault: VaultOptions
  @OptionGroup var unlock: UnlockOptions

  @Option(help: ArgumentHelp("Replace the key of this access group.", valueName: "name"), completion: .groups)
  var group: String?

  @Flag(help: "Replace the keys of the vault and of all groups.")
  var vaultKeys = false

  @Flag(help: "Drop earlier values and removed keys instead of sealing them again.")
  var dropHistory = false

  @Flag(help: "Keep the group slots of holders by public key as they are, so that they need no new pin.")
  var keepHolders = false

  @OptionGroup var keep: KeepOptions

  private static let keptHolders =
    "who had an owner's credential can open the group slots of holders by public key that were kept; their identities "
    + "go on with the former pin, and need the present one for all slots once they get another slot"

  func perform(_ messages: Messages) throws {
    guard (group == nil) == vaultKeys else {
      throw Self.usageError("either --group or --vault-keys is required")
    }
    guard vaultKeys || (keep.isEmpty && !keepHolders) else {
      throw ToolError.usage("--group keeps all slots", hint: "omit the --keep options and --drop-others")
    }
    var access = try unlock.complete(try vault.access())
    access.progress = ProgressLine("rotating", messages)
    try keep.check(besides: access)
    let name = try group.map { (text) throws(VaultError) in try Vault.Name(text) }
    let (vault, credential) = try access.openKeepingCredential(messages)
    let rotated: (String, JSON) = name.map { ("group", .string($0.text)) } ?? ("vault", .string(access.location.name))
    let handover = PinHandover(
      try access.trustingFile(credential), RotationAnswer(isJSON: self.vault.json, members: [rotated]))
    let report: RotationReport
    if dropHistory {
      let groups = try name.map({ [try vault.grantedGroup($0.text)] }) ?? vault.groups()
      try RotationMark.refuse(try ListedRecord.all(service: nil, in: groups, of: vault))
    }
    if let name {
      report = try vault.rotate(try vault.grantedGroup(name.text), droppingHistory: dropHistory)
    } else {
      report = try vault.rotateVault(
        keeping: try keep.credentials(for: vault, unlockedWith: credential), droppingOthers: keep.dropOthers,
        droppingHistory: dropHistory, keepingHolders: keepHolders
      ) { (report) throws(VaultError) in try handover.hand(report) }
    }
    report.warnOfDroppedSlots(messages)
    handover.warn(report, messages)
    if keepHolders { messages.warn(Self.keptHolders) }
    vault.recordChange(by: Self.self, messages)
    try handover.complete(report, messages)
  }
}
