internal import ArgumentParser
internal import VaultCore
internal import VaultSealing

/// `secretprefs slots add`.
struct AddSlot: WritingCommand {
  static let configuration = CommandConfiguration(
    commandName: "add",
    abstract: "Adds an unlock slot.",
    usage: "secretprefs slots add [<options>]",
    discussion: """
      Prompts twice for a new passphrase, or writes a new raw key to a new file. The slot opens the whole vault or one \
      access group. Other slots do not change. Prints the id of the new slot.

      EXAMPLE:
        secretprefs slots add --label laptop
        secretprefs slots add --for-group billing --new-key-file billing.key
        secretprefs slots add --passphrase-fd 3 --new-passphrase-fd 4 3<old 4<new
      """)

  @OptionGroup var vault: VaultOptions
  @OptionGroup var unlock: UnlockOptions

  @Option(help: ArgumentHelp("Create this file with a new raw key.", valueName: "file"), completion: .file())
  var newKeyFile: String?

  @OptionGroup var passphrase: NewPassphraseOptions

  @Option(
    help: ArgumentHelp("Open only this access group, not the whole vault.", valueName: "name"), completion: .groups)
  var forGroup: String?

  @Option(help: ArgumentHelp("A label for the slot, which is sealed in the vault.", valueName: "text"))
  var label = ""

  func perform(_ messages: Messages) throws {
    let access = try unlock.complete(try vault.access())
    guard newKeyFile == nil || passphrase.newPassphraseFd == nil else {
      throw ToolError.usage(
        "--new-key-file and --new-passphrase-fd cannot be used together", hint: "add one slot at a time")
    }
    guard label.utf8.count <= 1024 else { throw ToolError.usage("a label must have at most 1024 bytes") }
    try passphrase.check(besides: access)
    let vault = try access.open(messages)
    _ = try vault.slots()  // fails for a group holder, before the user types a passphrase twice
    let group = try forGroup.map { (name) in try vault.grantedGroup(name) }
    let file = try newKeyFile.map { try NewKeyFile(at: $0, besides: access) }
    let slot = try file.map { NewSlot(.key($0.key), label: label) } ?? passphrase.slot(label, access)
    let id = try TypedInput.save(messages, isTyped: file == nil && passphrase.isTyped) {
      try add(slot, group, file, to: vault)
    }
    vault.recordChange(by: Self.self, messages)
    guard self.vault.json else { return try Output.write("\(id)\n") }
    var answer: [(String, JSON)] = [("id", .string(id.description))]
    if let newKeyFile { answer.append(("keyFile", .string(newKeyFile))) }
    try Output.write(.object(answer))
  }

  private func add(
    _ slot: NewSlot, _ group: AccessGroup?, _ file: NewKeyFile?, to vault: Vault
  ) throws -> Vault.Identifier {
    do throws(VaultError) { return try vault.addSlot(slot, granting: group) } catch {
      file?.remove(after: error)
      guard [.limitExceeded, .kdfRefused].contains(error.code) else { throw error }
      throw ToolError(error, hint: "remove a slot that is not needed, or add a key file instead of a passphrase")
    }
  }
}
