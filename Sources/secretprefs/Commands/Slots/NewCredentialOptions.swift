internal import ArgumentParser
internal import VaultCore
internal import VaultSealing

/// The new credential of a slot: a raw key in a new file, or a passphrase.
struct NewCredentialOptions: ParsableArguments {
  @Option(help: ArgumentHelp("Create this file with a new raw key.", valueName: "file"), completion: .file())
  var newKeyFile: String?

  @OptionGroup var passphrase: NewPassphraseOptions

  /// Call this before the vault is opened.
  func check(besides access: VaultAccess) throws(ToolError) {
    guard newKeyFile == nil || passphrase.newPassphraseFd == nil else {
      throw ToolError.usage(
        "--new-key-file and --new-passphrase-fd cannot be used together", hint: "a slot has one credential")
    }
    if newKeyFile != nil { try passphrase.refuseFlags() }
    try passphrase.check(besides: access)
  }

  /// Creates the credential and passes it to `store`. If that fails, the new key file is removed, and a passphrase that
  /// was typed can be tried again.
  /// - Returns: the id of the slot.
  func store(
    label: String, _ access: VaultAccess, _ messages: Messages,
    _ store: (NewSlot) throws(VaultError) -> Vault.Identifier
  ) throws -> Vault.Identifier {
    let file = try newKeyFile.map { try NewKeyFile(at: $0, besides: access) }
    let slot = try file.map { NewSlot(.key($0.key), label: label) } ?? passphrase.slot(label, access)
    return try TypedInput.save(messages, isTyped: file == nil && passphrase.isTyped) {
      do throws(VaultError) { return try store(slot) } catch {
        file?.remove(after: error)
        guard [.limitExceeded, .kdfRefused].contains(error.code) else { throw error }
        throw ToolError(error, hint: "remove a slot that is not needed, or add a key file instead of a passphrase")
      }
    }
  }

  /// What `--json` prints of a stored slot.
  func answer(_ id: Vault.Identifier) -> [(String, JSON)] {
    [("id", .string(id.description))] + (newKeyFile.map { [("keyFile", .string($0))] } ?? [])
  }
}
