internal import DurableFiles
internal import Preferences
internal import Synchronization
internal import VaultCore

/// Tells the observers of a vault's secrets what may have changed: writes through this vault object when they return, on
/// the thread that made them; those of others, other processes included, when they reach the file.
///
/// An own write changes the file, too. So what the file says waits while own writes are under way, is told only when
/// others have written, and leaves out what was written under `withoutObservation`.
final class VaultNews: VaultObserverHub {
  /// A value that observers are not to hear of.
  private enum Silence {
    case underWay
    /// Until the record has another revision; nil for a record that is not there.
    case written(revision: UInt64?)
  }

  /// Who observes one service in one access group.
  private struct Audience {
    let service: Vault.Name
    let group: AccessGroup
    let broadcast = ChangeBroadcast()
    var observerCount = 0
    var silences: [String: Silence] = [:]
  }

  private struct State {
    var audiences: [Audience] = []
    var watch: FileWatch<PreferencesError>?
    var writesUnderWay = 0
    var isFileChanged = false
    /// Whose writes have been told; nil when nobody could tell.
    var writesOfOthers: Int?

    func index(_ service: Vault.Name, _ group: AccessGroup) -> Int? {
      audiences.firstIndex { $0.service == service && $0.group.id == group.id }
    }
  }

  // Weak: the vault holds this. Only read, and never changed after it was set.
  private struct Owner: @unchecked Sendable { weak var vault: Vault? }

  private let owner: Owner
  private let state = Mutex(State())

  init(_ vault: Vault) { owner = Owner(vault: vault) }

  // MARK: Observing

  /// - Parameter fail: is told when the file cannot be watched; own writes are told all the same.
  func observe(
    service: Vault.Name, in group: AccessGroup, _ notify: @escaping @Sendable (PreferenceChange) -> Void,
    fail: (PreferencesError) -> Void
  ) -> PreferenceObservation {
    var failure: PreferencesError?
    let others = writesOfOthers()
    let broadcast = state.withLock { state in
      if state.watch == nil, let path = owner.vault?.path {
        do throws(PreferencesError) {
          state.watch = try FileWatch(path, .eachWrite) { [weak self] in self?.fileChanged() }
          state.writesOfOthers = others
        } catch { failure = error }
      }
      var audience = Audience(service: service, group: group)
      if let index = state.index(service, group) { audience = state.audiences.remove(at: index) }
      audience.observerCount += 1
      state.audiences.append(audience)
      return audience.broadcast
    }
    if let failure { fail(failure) }
    let observation = broadcast.observe(notify)
    return PreferenceObservation { [weak self] in
      observation.invalidate()
      self?.endObserving(service, group)
    }
  }

  private func endObserving(_ service: Vault.Name, _ group: AccessGroup) {
    let watch = state.withLock { state -> FileWatch<PreferencesError>? in
      guard let index = state.index(service, group) else { return nil }
      state.audiences[index].observerCount -= 1
      if state.audiences[index].observerCount == 0 { state.audiences.remove(at: index) }
      guard state.audiences.isEmpty else { return nil }
      defer { state.watch = nil }
      return state.watch
    }
    watch?.stop()
  }

  // MARK: Own writes

  func vaultChanged() { tellAll() }

  func willWrite(_ records: WrittenRecords) {
    let isSilent = ObservationSuppression.isInForce
    state.withLock { state in
      state.writesUnderWay += 1
      for (service, keys) in records.keys {
        guard let index = state.index(service, records.group) else { continue }
        for key in keys { state.audiences[index].silences[key] = isSilent ? .underWay : nil }
      }
    }
  }

  func didWrite(_ records: WrittenRecords) {
    let isSilent = ObservationSuppression.isInForce
    var revisions: [Vault.Name: [String: UInt64]] = [:]
    if isSilent {
      for (service, keys) in records.keys { revisions[service] = self.revisions(of: keys, service, records.group) }
    }
    let (broadcasts, isFileChanged) = state.withLock { state in
      state.writesUnderWay -= 1
      var broadcasts: [(ChangeBroadcast, Set<String>)] = []
      for (service, keys) in records.keys {
        guard let index = state.index(service, records.group) else { continue }
        if isSilent {
          for key in keys { state.audiences[index].silences[key] = .written(revision: revisions[service]?[key]) }
        } else {
          broadcasts.append((state.audiences[index].broadcast, keys))
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
    let isNews = state.withLock { state in
      defer { state.writesOfOthers = others }
      // What keeps the vault from being read is for the observers to find out.
      return others == nil || others != state.writesOfOthers
    }
    if isNews { tellAll() }
  }

  private func writesOfOthers() -> Int? {
    do throws(VaultError) { return try owner.vault?.writesOfOthers() } catch { return nil }
  }

  private func tellAll() {
    // What others wrote is told whatever the task does that comes by.
    ObservationSuppression.lifted {
      for audience in state.withLock({ $0.audiences }) {
        audience.broadcast.send(.anything(except: stillSilent(audience)))
      }
    }
  }

  /// The keys of which nobody is to hear because nobody else has written them since.
  private func stillSilent(_ audience: Audience) -> Set<String> {
    let revisions = revisions(of: Set(audience.silences.keys), audience.service, audience.group)
    return Set(
      audience.silences.keys.filter { key in
        switch audience.silences[key] {
        case .underWay: true
        case .written(let revision): revision == revisions[key]
        case nil: false
        }
      })
  }

  /// The records' revisions; none for those that are not there, or while nobody can tell.
  private func revisions(of keys: Set<String>, _ service: Vault.Name, _ group: AccessGroup) -> [String: UInt64] {
    guard let vault = owner.vault else { return [:] }
    var revisions: [String: UInt64] = [:]
    do throws(VaultError) {
      for key in keys { revisions[key] = try vault.record(service: service, key: key, in: group)?.revision }
    } catch { return [:] }
    return revisions
  }
}
