internal import VaultSealing

/// A slot that a credential opened.
struct OpenedSlot: Sendable {
  let id: Vault.Identifier
  /// Opens the slot again after the file was replaced.
  let kek: SealingKey
  /// The group that the slot grants; `nil` for the whole vault.
  let group: Vault.Identifier?
  /// The vault key, or the key of the group.
  var granted: SealingKey
  /// Whose identity opened it; `nil` for a passphrase or a raw key.
  var holder: VaultIdentity.PublicKey?
}
