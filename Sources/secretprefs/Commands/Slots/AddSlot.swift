internal import ArgumentParser
internal import VaultCore
internal import VaultSealing

/// `secretprefs slots add`.
struct AddSlot: ToolCommand {
  static let configuration = CommandConfiguration(
    commandName: "add",
    abstract: "Adds a way to unlock.",
    usage: "secretprefs slots add [<options>]",
    discussion: """
      The new passphrase is asked for twice on the terminal; or a new raw key is written to a new file. It opens \
      the whole vault, or one access group. Other slots go on. The answer is the new slot's id.

      EXAMPLE:
        secretprefs slots add --label laptop
        secretprefs slots add --for-group billing --new-key-file billing.key
        secretprefs slots add --passphrase-fd 3 --new-passphrase-fd 4 3<old 4<new
      """)

  @OptionGroup var vault: VaultOptions
  @OptionGroup var unlock: UnlockOptions

  @Option(help: ArgumentHelp("Make a new raw key in this new file.", valueName: "file"))
  var newKeyFile: String?

  @OptionGroup var passphrase: NewPassphraseOptions

  @Option(help: ArgumentHelp("Open this access group alone, not the vault.", valueName: "name"))
  var forGroup: String?

  @Option(help: ArgumentHelp("What to remember the slot by; sealed in the vault.", valueName: "text"))
  var label = ""

  func perform(_ messages: Messages) throws {
    let access = try unlock.complete(try vault.access())
    guard newKeyFile == nil || passphrase.newPassphraseFd == nil else {
      throw ToolError.usage("--new-key-file and --new-passphrase-fd are two ways to unlock", hint: "add one at a time")
    }
    guard label.utf8.count <= 1024 else { throw ToolError.usage("a label has at most 1024 bytes") }
    try passphrase.check(besides: access)
    let vault = try access.open(messages)
    _ = try vault.slots()  // refuses a group holder before a passphrase is typed twice
    let group = try forGroup.map { (name) in try vault.grantedGroup(name) }
    let file = try newKeyFile.map { try NewKeyFile(at: $0) }
    let slot = try file.map { NewSlot(.key($0.key), label: label) } ?? passphrase.slot(label, access)
    let id = try add(slot, group, file, to: vault)
    vault.noteChange(messages)
    guard self.vault.json else { return try Output.write("\(id)\n") }
    var answer: [(String, JSON)] = [("id", .string(id.description))]
    if let newKeyFile { answer.append(("keyFile", .string(newKeyFile))) }
    try Output.write(.object(answer))
  }

  private func add(
    _ slot: NewSlot, _ group: AccessGroup?, _ file: NewKeyFile?, to vault: Vault
  ) throws -> Vault.Identifier {
    do throws(VaultError) { return try vault.addSlot(slot, granting: group) } catch {
      // A key that opens nothing would only be mistaken for one that does. But it stays where it may open the vault
      // and only its durability is in doubt.
      if error.code != .durabilityUnknown { file?.remove() }
      guard [.limitExceeded, .kdfRefused].contains(error.code) else { throw error }
      throw ToolError(error, hint: "remove a slot that is not needed, or add a key file")
    }
  }
}
