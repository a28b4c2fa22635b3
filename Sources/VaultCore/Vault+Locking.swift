internal import Synchronization
internal import VaultSealing

extension Vault {
  /// Whether the keys are gone, by ``lock()`` or a limit of the options.
  public var isLocked: Bool { handle.isLocked }

  /// Forgets the keys.
  ///
  /// Vault key, group keys, the key of the slot and the class keys of ``Vault/Accessibility/whenUnlocked`` values are wiped,
  /// and so are the names and sealed values that were loaded. What is ``Vault/Accessibility/afterFirstUnlock`` stays readable
  /// as it was loaded. Everything else answers ``VaultError/Code/locked`` until ``unlock(with:)``; a call that is under
  /// way in another thread either ends as it began, and its keys go with it, or answers that, too, with nothing written.
  public func lock() { handle.lock() }

  /// Opens the same vault again with a credential, which may be another than before.
  ///
  /// Loads the file anew. Also of use while unlocked, when the slot that opened this handle was replaced. Blocks
  /// for as long as a passphrase takes to stretch.
  /// - Throws: as ``open(at:credential:options:)``; ``VaultError/Code/tampered`` when another vault stands at the path.
  ///   What was unlocked or kept before stays then.
  public func unlock(with credential: Vault.Credential) throws(VaultError) {
    try handle.forkGuard.check()
    let sealer = try Sealer(random: options.random)
    let vaultID = handle.vaultID
    let state = try MarkKeeper.checking(handle.mark) { () throws(VaultError) in
      try VaultState.load(path: handle.path, options: options, sealer: sealer) {
        (snapshot, sealer) throws(VaultError) in
        // One credential may open several vaults, and nobody asked for another one.
        guard snapshot.vaultID == vaultID else { throw VaultError(.tampered, "another vault stands at the path") }
        return try Unlocked(snapshot, with: credential, sealer: sealer)
      }
    }
    handle.raiseMark(loading: state)
    handle.unlock(state)
    handle.companion.withLock { $0 }?.vaultChanged()
  }
}
