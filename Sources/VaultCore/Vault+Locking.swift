internal import DurableFiles
internal import Synchronization
internal import VaultSealing

extension Vault {
  /// Whether the keys were wiped by ``lock()`` or a limit of the options.
  public var isLocked: Bool { handle.isLocked }

  /// Wipes the keys.
  ///
  /// This wipes the vault key, the group keys, the key of the slot, the class keys of
  /// ``Vault/Accessibility/whenUnlocked`` values, and the names and sealed values that were loaded. Values of
  /// ``Vault/Accessibility/afterFirstUnlock`` stay readable as they were loaded. Every other call throws
  /// ``VaultError/Code/locked`` until ``unlock(with:)``.
  ///
  /// A call in progress on another thread either completes, and its keys are wiped when it returns, or throws
  /// ``VaultError/Code/locked`` with nothing written.
  public func lock() { handle.lock() }

  /// Opens the same vault again with a credential, which may differ from the previous one.
  ///
  /// Loads the file again. Also useful while the vault is unlocked, if the slot that opened this handle was replaced.
  /// Blocks while a passphrase is stretched.
  /// - Throws: the codes of ``open(at:credential:options:)``; ``VaultError/Code/tampered`` if a different vault is at
  ///   the path. The handle does not change then.
  public func unlock(with credential: Vault.Credential) throws(VaultError) { unlock(try load(with: credential)) }

  /// The asynchronous form of `unlock(with:)`. Cancelling the task does not stop it.
  public func unlock(with credential: Vault.Credential) async throws(VaultError) {
    let state = try await loaded(with: credential)
    // Outside the deriving pool, because waiting for the lock of the mark or calling observers must not delay the
    // opening of other vaults.
    await waiting.run { unlock(state) }
  }

  /// Opens an unlocked vault again with the credential that `find` returns, as `unlock(with:)`. If it is locked, or the
  /// program locks or unlocks it meanwhile, this handle does not change. Restarts no limit.
  ///
  /// - Returns: whether the vault is unlocked with this credential.
  /// - Throws: the error of `find`; as `unlock(with:)`.
  package func unlockAgain(
    _ find: @Sendable () async throws(VaultError) -> Vault.Credential
  ) async throws(VaultError) -> Bool {
    let unlockings = try handle.unlockings
    let state = try await loaded(with: try await find())
    return await waiting.run {
      handle.raiseMark(loading: state)
      guard handle.unlock(state, since: unlockings) else { return false }
      notifyObservers()
      return true
    }
  }

  private func loaded(with credential: Vault.Credential) async throws(VaultError) -> VaultState {
    try await HelperPool.using([credential], for: path).run { () throws(VaultError) in try load(with: credential) }
  }

  /// Loads the file again. Takes no lock.
  private func load(with credential: Vault.Credential) throws(VaultError) -> VaultState {
    try handle.forkGuard.check()
    let sealer = try Sealer(random: options.random)
    let vaultID = handle.vaultID
    return try VaultState.load(handle.storage, options: options, sealer: sealer, mark: handle.mark) {
      (snapshot, sealer) throws(VaultError) in
      // One credential may open several vaults. This handle is for one of them.
      guard snapshot.vaultID == vaultID else { throw VaultError(.tampered, "a different vault is at the path") }
      return try Unlocked(snapshot, with: credential, sealer: sealer)
    }
  }

  private func unlock(_ state: VaultState) {
    handle.raiseMark(loading: state)
    handle.unlock(state)
    notifyObservers()
  }

  private func notifyObservers() { handle.observerHub.withLock { $0 }?.vaultChanged() }
}
