internal import ArgumentParser
internal import Secrets
internal import VaultCore
internal import VaultSealing

/// `secretprefs init`.
struct Init: ToolCommand {
  static let configuration = CommandConfiguration(
    commandName: "init",
    abstract: "Makes a vault.",
    usage: "secretprefs init [<options>]",
    discussion: """
      Without options the passphrase is asked for twice on the terminal. With --key-file a new raw key is \
      written to that file, which opens the vault instead; whoever has it can read everything, and without it \
      nothing can be read. --passphrase adds a passphrase to a vault with a key file. An \
      existing file is never overwritten. If an interrupted run left the vault without its mark, the same \
      command makes the mark.

      EXAMPLE:
        secretprefs init
        secretprefs init --key-file ~/.config/shop.key --passphrase
        secretprefs init --key-file ~/.config/shop.key --mark /var/lib/marks/shop
        secretprefs init --passphrase-fd 3 3< passphrase.txt
      """)

  @OptionGroup var vault: VaultOptions

  @Option(help: ArgumentHelp("The access group that the vault starts with.", valueName: "name"))
  var group = AccessGroup.defaultName

  @Option(help: ArgumentHelp("Make a new raw key in this new file.", valueName: "file"))
  var keyFile: String?

  @Flag(help: "Ask for a passphrase, besides making a key file.")
  var passphrase = false

  @Option(help: ArgumentHelp("Read the passphrase from this descriptor.", valueName: "number"))
  var passphraseFd: Int32?

  @Flag(help: "Never ask on the terminal.")
  var noPrompt = false

  @Flag(help: "Take a passphrase that is short, repeats itself or follows a row.")
  var acceptWeak = false

  @Flag(help: "Make guessing the passphrase cheap: for tests and trials alone.")
  var throwawayCost = false

  @Option(
    help: ArgumentHelp(
      "Make the vault's rollback mark in this new file.",
      discussion: "Else $SECRETPREFS_MARK. See \"secretprefs help mark\".", valueName: "file"))
  var mark: String?

  func perform(_ messages: Messages) throws {
    var access = try vault.access()
    if let mark { try access.setMark(mark) }
    _ = try Vault.Name(group)
    if try finish(access, messages) {
      Output.noteChange()
      return try answer(access)
    }
    try access.location.refuseIfOccupied("the vault")
    if let markPath = access.markPath { try VaultLocation(argument: markPath).refuseIfOccupied("the mark") }
    var slots: [NewSlot] = []
    if let slot = try passphraseSlot() { slots.append(slot) }
    let file = try keyFile.map { try NewKeyFile(at: $0) }
    if let file { slots.append(NewSlot(.key(file.key), label: "key file")) }
    try create(access, slots, file)
    Output.noteChange()
    try answer(access)
  }

  /// Makes the mark that an earlier run of the same command did not come to make: the vault opens with what is named
  /// here, and nothing was ever written to it.
  ///
  /// - Returns: whether that is all there was to do.
  private func finish(_ access: VaultAccess, _ messages: Messages) throws -> Bool {
    guard let markPath = access.markPath, keyFile != nil || passphraseFd != nil, try access.location.isOccupied,
      try !VaultLocation(argument: markPath).isOccupied
    else { return false }
    var access = access
    access.markPath = nil
    access.keyFile = keyFile
    access.passphraseDescriptor =
      try keyFile == nil
      ? passphraseFd.map { (number) throws(ToolError) in try PassphraseDescriptor.check(number) } : nil
    let made: Vault
    // Then it is somebody else's vault, and there already.
    do { made = try access.open(messages) } catch is VaultError { return false }
    let status = try made.status()
    guard status.isOwner, status.generation == 1, status.entryCount == 0, status.groups.map(\.name.text) == [group],
      status.groups.allSatisfy({ $0.recordCount == 0 })
    else { return false }
    try made.createMark(at: markPath)
    return true
  }

  private func answer(_ access: VaultAccess) throws {
    guard vault.json else { return }
    var answer: [(String, JSON)] = [("vault", .string(access.location.path))]
    if let keyFile { answer.append(("keyFile", .string(keyFile))) }
    try Output.write(.object(answer))
  }

  private func create(_ access: VaultAccess, _ slots: [NewSlot], _ file: NewKeyFile?) throws(VaultError) {
    do throws(VaultError) {
      _ = try Vault.create(
        at: access.location.path, slots: slots, groups: [NewGroup(group)], options: access.options)
    } catch {
      // A key that opens nothing would only be mistaken for one that does. But it stays where the vault came to be
      // and only its durability is in doubt.
      if error.code != .durabilityUnknown { file?.remove() }
      throw error
    }
  }

  private func passphraseSlot() throws -> NewSlot? {
    guard keyFile == nil || passphrase || passphraseFd != nil else { return nil }
    return NewSlot(
      try newPassphrase(), label: "passphrase", cost: throwawayCost ? .throwaway : nil)
  }

  private func newPassphrase() throws -> Vault.Credential {
    guard passphraseFd != nil || !noPrompt else {
      throw VaultError(.noCredential, "a vault needs a passphrase or a key file")
    }
    let descriptor = try passphraseFd.map { (number) throws(ToolError) in try PassphraseDescriptor.check(number) }
    return try NewPassphrase(descriptor: descriptor, acceptsWeak: acceptWeak).read()
  }
}
