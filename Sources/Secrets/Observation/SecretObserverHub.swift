internal import DurableFiles
internal import Preferences
internal import Synchronization
internal import VaultCore

/// Notifies the observers of a vault's secrets of possible changes. Writes through this vault object are reported when
/// they return, on the thread that made them, or for an asynchronous write on a helper thread. Writes of other handles
/// and processes are reported when they reach the file, with the keys of the records that they changed.
///
/// Own writes change the file, too. The vault knows its own entries, so they are not reported as those of others. What
/// others change in a record that an own write is changing is reported when that write has ended. Keys that were
/// written under `withoutObservation` are not reported until a different writer changes them.
final class SecretObserverHub: VaultObserverHub {
  private struct State {
    var services: [ObservedService] = []
    var watch: StorageObservation?

    func index(_ service: Vault.Name, _ group: AccessGroup) -> Int? {
      services.firstIndex { $0.service == service && $0.group.id == group.id }
    }

    /// - Parameter service: as it is spelled in the file, which may not be the normal form.
    func index(written service: Vault.Name, _ group: AccessGroup) -> Int? {
      index(service, group) ?? services.firstIndex { $0.service.isSpelled(service) && $0.group.id == group.id }
    }
  }

  // Weak, because the vault retains this object. Set once, then only read.
  private struct Owner: @unchecked Sendable { weak var vault: Vault? }

  private let owner: Owner
  private let state = Mutex(State())

  init(_ vault: Vault) { owner = Owner(vault: vault) }

  // Observations may outlive the vault.
  deinit { state.withLock { $0.watch }?.stop() }

  // MARK: Observing

  /// - Parameter fail: receives the error if the file cannot be watched. Observers are still notified of own writes.
  func observe(
    service: Vault.Name, in group: AccessGroup, _ notify: @escaping @Sendable (PreferenceChange) -> Void,
    fail: (VaultError) -> Void
  ) -> PreferenceObservation {
    var failure: VaultError?
    let broadcast = state.withLock { state in
      if state.watch == nil, let vault = owner.vault {
        vault.recordChangesOfOthers(true)
        // What others have changed before is in the first read of the observer.
        do throws(VaultError) { _ = try vault.takeChangesOfOthers() } catch {}  // the observer gets the error
        do throws(VaultError) {
          state.watch = try vault.observeStorage { [weak self] in self?.vaultChanged() }
        } catch { failure = error }
      }
      var observed = ObservedService(service, in: group)
      if let index = state.index(service, group) { observed = state.services.remove(at: index) }
      observed.observerCount += 1
      state.services.append(observed)
      return observed.broadcast
    }
    if let failure { fail(failure) }
    let observation = broadcast.observe(notify)
    return PreferenceObservation { [weak self] in
      observation.invalidate()
      self?.endObserving(service, group)
    }
  }

  private func endObserving(_ service: Vault.Name, _ group: AccessGroup) {
    let watch = state.withLock { state -> StorageObservation? in
      guard let index = state.index(service, group) else { return nil }
      state.services[index].observerCount -= 1
      if state.services[index].observerCount == 0 { state.services.remove(at: index) }
      guard state.services.isEmpty else { return nil }
      owner.vault?.recordChangesOfOthers(false)
      defer { state.watch = nil }
      return state.watch
    }
    watch?.stop()
  }

  // MARK: Own writes

  func willWrite(_ records: WrittenRecords) {
    state.withLock { state in
      for (service, keys) in records.keys {
        if let index = state.index(written: service, records.group) { state.services[index].begin(keys) }
      }
    }
  }

  func didWrite(_ records: WrittenRecords, _ outcome: Result<CommittedWrite, VaultError>) -> (@Sendable () -> Void)? {
    let isSuppressed = ChangeBroadcast.isSuppressed
    var written: [(broadcast: ChangeBroadcast, keys: Set<String>)] = []
    var postponed: [(Vault.Name, Set<String>)] = []
    state.withLock { state in
      for (service, keys) in records.keys {
        guard let index = state.index(written: service, records.group) else { continue }
        let ended = state.services[index].end(
          keys, removed: records.removedKeys(of: service), outcome, isSuppressed: isSuppressed)
        if !ended.written.isEmpty { written.append((state.services[index].broadcast, ended.written)) }
        if !ended.postponed.isEmpty { postponed.append((service, ended.postponed)) }
      }
    }
    if written.isEmpty, postponed.isEmpty { return nil }
    return { [self, written, postponed] in
      for (broadcast, keys) in written { broadcast.send(PreferenceChange(keys: keys)) }
      if postponed.isEmpty { return }
      let keys = Dictionary(uniqueKeysWithValues: postponed)
      notify { $0.group.id == records.group.id ? .some(keys) : .none }
    }
  }

  // MARK: Others' writes

  func vaultChanged() {
    // Without an owner, there is nothing left to observe.
    guard let vault = owner.vault else { return }
    do throws(VaultError) {
      let changes = try vault.takeChangesOfOthers()
      notify { changes[$0.group] }
    } catch {
      // Observers get the error when they read.
      notify { _ in .any }
    }
  }

  private func notify(_ changed: (ObservedService) -> ChangesOfOthers.Extent) {
    let changes = state.withLock { state in
      state.services.indices.compactMap { index in
        state.services[index].candidates(changed(state.services[index])).map { (state.services[index], $0) }
      }
    }
    // Observers are notified of these changes even if the current task is inside `withoutObservation`.
    ChangeBroadcast.unsuppressed {
      for (observed, (change, suppressed)) in changes {
        let kept = stillSuppressed(suppressed, of: observed)
        if let change = change.without(kept) { observed.broadcast.send(change) }
      }
    }
  }

  private func stillSuppressed(_ keys: Set<String>, of observed: ObservedService) -> Set<String> {
    guard !keys.isEmpty, let vault = owner.vault else { return [] }
    var revisions: [String: UInt64] = [:]
    // Of a record that cannot be read, observers are notified.
    do throws(VaultError) {
      revisions = try vault.revisions(service: observed.service, keys: keys, in: observed.group)
    } catch { return [] }
    return state.withLock { state in
      guard let index = state.index(observed.service, observed.group) else { return [] }
      return state.services[index].stillSuppressed(keys, revisions)
    }
  }
}
