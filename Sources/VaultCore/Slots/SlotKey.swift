package import VaultSealing

/// The key of one slot of one vault, which opens the vault without the passphrase or key that it was derived from.
package struct SlotKey: Sendable {
  package let vault: Vault.Identifier
  package let slot: Vault.Identifier
  let kek: SealingKey

  init(vault: Vault.Identifier, slot: Vault.Identifier, kek: SealingKey) {
    self.vault = vault
    self.slot = slot
    self.kek = kek
  }

  /// The length of the form that ``write(to:)`` writes, in bytes.
  package static let count = 2 * Vault.Identifier.count + SealingKey.count

  /// Copies a key from `bytes`, which the caller wipes.
  package init(_ bytes: RawSpan) throws(VaultError) {
    vault = Vault.Identifier(bytes)
    slot = Vault.Identifier(bytes, at: Vault.Identifier.count)
    kek = try SealingKey(copying: bytes.extracting(2 * Vault.Identifier.count..<Self.count))
  }

  /// Writes the key to guarded memory.
  package func write(to bytes: UnsafeMutableRawBufferPointer) {
    unsafe bytes.copyBytes(from: vault.bytes + slot.bytes)
    kek.withSpan { key in
      let rest = unsafe UnsafeMutableRawBufferPointer(rebasing: bytes[(2 * Vault.Identifier.count)...])
      unsafe key.withUnsafeBytes { unsafe rest.copyBytes(from: $0) }
    }
  }
}

extension Vault {
  /// The key of the slot that unlocked this handle.
  package func slotKey() throws(VaultError) -> SlotKey {
    let vaultID = handle.vaultID
    return try handle.withLoadedState { (_, state) throws(VaultError) in
      SlotKey(vault: vaultID, slot: state.unlocked.slot, kek: state.unlocked.kek)
    }
  }
}
