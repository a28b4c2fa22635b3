internal import ArgumentParser
internal import VaultCore

/// `secretprefs rotate`.
struct Rotate: ToolCommand {
  static let configuration = CommandConfiguration(
    commandName: "rotate",
    abstract: "Replaces keys, and seals everything under them anew.",
    usage: "secretprefs rotate [<options>] (--group <name> | --vault-keys)",
    discussion: """
      With --group one access group gets a new key; its slots go on. With --vault-keys the vault and all groups \
      get new keys: other owner slots go on if their credentials are given, and --drop-others lets the rest go; \
      slots of groups go on. Copies of the file from before are not changed by it.

      EXAMPLE:
        secretprefs rotate --group billing
        secretprefs rotate --vault-keys --keep-key-file ~/backup.key
      """)

  @OptionGroup var vault: VaultOptions
  @OptionGroup var unlock: UnlockOptions

  @Option(help: ArgumentHelp("The access group that gets a new key.", valueName: "name"))
  var group: String?

  @Flag(help: "Give the vault and all groups new keys.")
  var vaultKeys = false

  @Flag(help: "Leave kept earlier values out instead of sealing them anew.")
  var dropHistory = false

  @OptionGroup var keep: KeepOptions

  func perform(_ messages: Messages) throws {
    guard (group == nil) == vaultKeys else {
      throw Self.misused("either --group or --vault-keys is needed")
    }
    guard vaultKeys || keep.isEmpty else {
      throw ToolError.usage("the slots of a group go on by themselves", hint: "leave the --keep options out")
    }
    var access = try unlock.complete(try vault.access())
    access.progress = ProgressLine("rotating", messages)
    try keep.check(besides: access)
    let name = try group.map { (text) throws(VaultError) in try Vault.Name(text) }
    let vault = try access.open(messages)
    let report: RotationReport
    if let name {
      report = try vault.rotate(try vault.grantedGroup(name.text), droppingHistory: dropHistory)
    } else {
      report = try vault.rotateVault(
        keeping: try keep.credentials(for: access, slots: try vault.slots()), droppingOthers: keep.dropOthers,
        droppingHistory: dropHistory)
    }
    report.tell(messages)
    vault.noteChange(messages)
    guard self.vault.json else { return }
    let rotated: (String, JSON) = name.map { ("group", .string($0.text)) } ?? ("vault", .string(access.location.path))
    try Output.write(.object([rotated, ("dropped", report.json)]))
  }
}
