internal import DurableFiles
internal import Preferences
internal import Synchronization
internal import VaultCore

/// Notifies the observers of a vault's secrets of possible changes. Writes through this vault object are reported when
/// they return, on the thread that made them. Writes of other handles and processes are reported when they reach the
/// file.
///
/// Own writes change the file, too. A change of the file is therefore deferred while own writes are in progress.
/// Observers are notified of it only if a different handle or process has written, and not for keys that were written
/// under `withoutObservation`.
final class SecretObserverHub: VaultObserverHub {
  /// The state of a value whose change is kept from observers.
  private enum Suppression {
    case underWay
    /// Kept from observers until the record has a different revision; `nil` if the record does not exist.
    case written(revision: UInt64?)
  }

  /// The observers of one service in one access group.
  private struct Subscription {
    let service: Vault.Name
    let group: AccessGroup
    let broadcast = ChangeBroadcast()
    var observerCount = 0
    var suppressed: [String: Suppression] = [:]
  }

  private struct State {
    var subscriptions: [Subscription] = []
    var watch: FileWatch<VaultError>?
    var writesUnderWay = 0
    var isFileChanged = false
    /// The last result of `writesOfOthers()`; `nil` if it could not be read.
    var writesOfOthers: Int?

    func index(_ service: Vault.Name, _ group: AccessGroup) -> Int? {
      subscriptions.firstIndex { $0.service == service && $0.group.id == group.id }
    }

    /// - Parameter service: as it is spelled in the file, which may not be the normal form.
    func index(written service: Vault.Name, _ group: AccessGroup) -> Int? {
      index(service, group) ?? subscriptions.firstIndex { $0.service.isSpelled(service) && $0.group.id == group.id }
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
    let others = writesOfOthers()
    let broadcast = state.withLock { state in
      if state.watch == nil, let path = owner.vault?.path {
        do throws(VaultError) {
          state.watch = try FileWatch(path, .eachWrite) { [weak self] in self?.fileChanged() }
          state.writesOfOthers = others
        } catch { failure = error }
      }
      var subscription = Subscription(service: service, group: group)
      if let index = state.index(service, group) { subscription = state.subscriptions.remove(at: index) }
      subscription.observerCount += 1
      state.subscriptions.append(subscription)
      return subscription.broadcast
    }
    if let failure { fail(failure) }
    let observation = broadcast.observe(notify)
    return PreferenceObservation { [weak self] in
      observation.invalidate()
      self?.endObserving(service, group)
    }
  }

  private func endObserving(_ service: Vault.Name, _ group: AccessGroup) {
    let watch = state.withLock { state -> FileWatch<VaultError>? in
      guard let index = state.index(service, group) else { return nil }
      state.subscriptions[index].observerCount -= 1
      if state.subscriptions[index].observerCount == 0 { state.subscriptions.remove(at: index) }
      guard state.subscriptions.isEmpty else { return nil }
      defer { state.watch = nil }
      return state.watch
    }
    watch?.stop()
  }

  // MARK: Own writes

  func vaultChanged() { notifyAll() }

  func willWrite(_ records: WrittenRecords) {
    let isSuppressed = ChangeBroadcast.isSuppressed
    state.withLock { state in
      state.writesUnderWay += 1
      for (service, keys) in records.keys {
        guard let index = state.index(written: service, records.group) else { continue }
        for key in keys { state.subscriptions[index].suppressed[key] = isSuppressed ? .underWay : nil }
      }
    }
  }

  func didWrite(_ records: WrittenRecords) {
    let isSuppressed = ChangeBroadcast.isSuppressed
    var revisions: [Vault.Name: [String: UInt64]] = [:]
    if isSuppressed {
      for (service, keys) in records.keys { revisions[service] = self.revisions(of: keys, service, records.group) }
    }
    let (broadcasts, isFileChanged) = state.withLock { state in
      state.writesUnderWay -= 1
      var broadcasts: [(ChangeBroadcast, Set<String>)] = []
      for (service, keys) in records.keys {
        guard let index = state.index(written: service, records.group) else { continue }
        if isSuppressed {
          for key in keys { state.subscriptions[index].suppressed[key] = .written(revision: revisions[service]?[key]) }
        } else {
          broadcasts.append((state.subscriptions[index].broadcast, keys))
        }
      }
      defer { state.isFileChanged = false }
      return (broadcasts, state.isFileChanged)
    }
    for (broadcast, keys) in broadcasts { broadcast.send(PreferenceChange(keys: keys)) }
    if isFileChanged { fileChanged() }
  }

  // MARK: The file

  private func fileChanged() {
    let isPutOff = state.withLock { state in
      state.isFileChanged = state.writesUnderWay > 0
      return state.isFileChanged
    }
    guard !isPutOff else { return }
    let others = writesOfOthers()
    let isChanged = state.withLock { state in
      defer { state.writesOfOthers = others }
      // If the vault cannot be read, observers are notified and get the error when they read.
      return others == nil || others != state.writesOfOthers
    }
    if isChanged { notifyAll() }
  }

  private func writesOfOthers() -> Int? {
    do throws(VaultError) { return try owner.vault?.writesOfOthers() } catch { return nil }
  }

  private func notifyAll() {
    // Observers are notified of these changes even if the current task is inside `withoutObservation`.
    ChangeBroadcast.unsuppressed {
      for subscription in state.withLock({ $0.subscriptions }) {
        subscription.broadcast.send(.anything(except: stillSuppressed(subscription)))
      }
    }
  }

  /// The keys that are still kept from observers, because no other writer has changed them since.
  private func stillSuppressed(_ subscription: Subscription) -> Set<String> {
    let revisions = revisions(of: Set(subscription.suppressed.keys), subscription.service, subscription.group)
    return Set(
      subscription.suppressed.keys.filter { key in
        switch subscription.suppressed[key] {
        case .underWay: true
        case .written(let revision): revision == revisions[key]
        case nil: false
        }
      })
  }

  /// The revisions of the records that exist; empty if a record cannot be read. Does not count as a use of the vault.
  private func revisions(of keys: Set<String>, _ service: Vault.Name, _ group: AccessGroup) -> [String: UInt64] {
    guard let vault = owner.vault else { return [:] }
    var revisions: [String: UInt64] = [:]
    do throws(VaultError) {
      for key in keys { revisions[key] = try vault.revision(service: service, key: key, in: group) }
    } catch { return [:] }
    return revisions
  }
}
