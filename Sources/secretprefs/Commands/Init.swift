internal import ArgumentParser
internal import DurableFiles
internal import Secrets
internal import VaultCore
internal import VaultSealing

/// `secretprefs init`.
struct Init: WritingCommand {
  static let configuration = CommandConfiguration(
    commandName: "init",
    abstract: "Creates a vault.",
    usage: "secretprefs init [<options>]",
    discussion: """
      Without options the command prompts twice for a passphrase. With --key-file it writes a new raw key to that \
      file, which unlocks the vault instead: anyone who has the file can read everything, and if it is lost, the \
      values are lost. --passphrase adds a passphrase to a vault with a key file. Existing files are never \
      overwritten. If an interrupted run created the vault but not its mark, running the same command again \
      creates the mark.

      With --shared, the members of a Unix group can read and write the vault, each with a passphrase, key file or \
      identity of its own. Its directory belongs to the group, which may write to it: "chgrp" and "chmod 2770". A new \
      vault there gets the group and mode 660; every member uses --shared, or sets SECRETPREFS_SHARED to 1. Each \
      member can delete the file, and replace it with an older copy, which only a mark detects.

      EXAMPLE:
        secretprefs init
        secretprefs init --key-file ~/.config/shop.key --passphrase
        secretprefs init --key-file ~/.config/shop.key --mark /var/lib/marks/shop
        secretprefs init --passphrase-fd 3 3< passphrase.txt
      """)

  @OptionGroup var vault: VaultOptions

  @Option(help: ArgumentHelp("The name of the first access group.", valueName: "name"))
  var group = AccessGroup.defaultName

  @Option(help: ArgumentHelp("Create this file with a new raw key.", valueName: "file"), completion: .file())
  var keyFile: String?

  @Flag(help: "Prompt for a passphrase in addition to creating a key file.")
  var passphrase = false

  @Option(help: ArgumentHelp("Read the passphrase from this descriptor.", valueName: "number"))
  var passphraseFd: Int32?

  @Flag(help: "Never prompt on the terminal.")
  var noPrompt = false

  @Flag(help: "Accept a passphrase that is short, repetitive or a keyboard or letter sequence.")
  var acceptWeak = false

  @Flag(help: "Use an insecurely cheap key derivation for the passphrase. For tests only.")
  var throwawayCost = false

  @Option(
    help: ArgumentHelp(
      "Create the vault's rollback mark in this file.",
      discussion: "Default: $SECRETPREFS_MARK. See \"secretprefs help mark\".", valueName: "file"), completion: .file())
  var mark: String?

  func perform(_ messages: Messages) throws {
    if !hasPassphrase { try NewPassphraseOptions.refuse(acceptWeak: acceptWeak, throwawayCost: throwawayCost) }
    var access = try vault.access()
    if let mark { access.markPath = mark }
    _ = try Vault.Name(group)
    if try finish(access, messages) {
      Output.recordChange(by: Self.self)
      return try answer(access)
    }
    try access.location.refuseIfOccupied("the vault")
    if let markPath = access.markPath { try VaultLocation(argument: markPath).refuseIfOccupied("the mark") }
    try check(access)
    var slots: [NewSlot] = []
    if let slot = try passphraseSlot(access) { slots.append(slot) }
    let file = try keyFile.map { try NewKeyFile(at: $0, besides: access) }
    if let file { slots.append(NewSlot(.key(file.key), label: "key file")) }
    // A key file is removed if the vault is not created.
    try TypedInput.save(messages, isTyped: file == nil && passphraseFd == nil) { try create(access, slots, file) }
    Output.recordChange(by: Self.self)
    try answer(access)
  }

  /// Refuses paths of one file, and those that belong to another vault or mark.
  private func check(_ access: VaultAccess) throws(ToolError) {
    if let path = access.location.path {
      try OutputFile(path, as: "the vault", kind: .vault).check(reading: [], besides: [])
    }
    guard let mark = access.markPath else { return }
    try OutputFile(mark, as: "the mark", kind: .mark)
      .check(reading: [keyFile].compactMap(\.self), besides: access.location.owners)
  }

  /// Creates the mark if an interrupted run of the same command created only the vault: it opens with the given
  /// credential and was never written to.
  ///
  /// - Returns: Whether the command is complete.
  private func finish(_ access: VaultAccess, _ messages: Messages) throws -> Bool {
    guard let markPath = access.markPath, keyFile != nil || passphraseFd != nil, try access.location.isOccupied,
      try !VaultLocation(argument: markPath).isOccupied
    else { return false }
    var access = access
    access.markPath = nil
    access.keyFile = keyFile
    access.passphraseDescriptor = try keyFile == nil ? passphraseDescriptor() : nil
    let made: Vault
    // An error means that this is a different vault. The caller then reports that the path is occupied.
    do { made = try access.open(messages) } catch is VaultError { return false }
    let status = try made.status()
    guard status.isOwner, status.generation == 1, status.entryCount == 0, status.groups.map(\.name.text) == [group],
      status.groups.allSatisfy({ $0.recordCount + $0.removedCount == 0 })
    else { return false }
    try made.createMark(at: markPath)
    return true
  }

  private func answer(_ access: VaultAccess) throws {
    guard vault.json else { return }
    var answer: [(String, JSON)] = [("vault", .string(access.location.name))]
    if let keyFile { answer.append(("keyFile", .string(keyFile))) }
    try Output.write(.object(answer))
  }

  private func create(_ access: VaultAccess, _ slots: [NewSlot], _ file: NewKeyFile?) throws(VaultError) {
    do throws(VaultError) {
      _ = try Vault.create(
        in: access.location.storage(access.options), slots: slots, groups: [NewGroup(group)], options: access.options)
    } catch {
      file?.remove(after: error)
      throw error
    }
  }

  /// Whether the vault gets a passphrase.
  private var hasPassphrase: Bool { keyFile == nil || passphrase || passphraseFd != nil }

  private func passphraseSlot(_ access: VaultAccess) throws -> NewSlot? {
    guard hasPassphrase else { return nil }
    return NewSlot(
      try newPassphrase(access), label: "passphrase", cost: throwawayCost ? .throwaway : nil)
  }

  private func newPassphrase(_ access: VaultAccess) throws -> Vault.Credential {
    guard passphraseFd != nil || !noPrompt else {
      let lacking = keyFile == nil ? "no passphrase or key file" : "no passphrase"
      throw ToolError(VaultError(.noCredential, "\(lacking) is given for the new vault"), hint: credentials)
    }
    let loss = keyFile == nil ? "without its passphrase, its values are lost" : "its key file opens it as well"
    do {
      return try NewPassphrase(
        descriptor: try passphraseDescriptor(), acceptsWeak: acceptWeak,
        purpose: "The new vault is \(displayed(access.location.name)); \(loss).\n"
      ).read()
    } catch let error as VaultError where error.code == .noCredential {
      throw ToolError(error, hint: credentials)
    }
  }

  private var credentials: String {
    (keyFile == nil ? "--key-file creates a key file for it; " : "") + "--passphrase-fd reads its passphrase"
  }

  private func passphraseDescriptor() throws(ToolError) -> Int32? {
    try passphraseFd.map { (number) throws(ToolError) in try PassphraseDescriptor.check(number) }
  }
}
