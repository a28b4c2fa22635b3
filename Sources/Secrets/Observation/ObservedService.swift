internal import Preferences
internal import VaultCore

/// The observers of one service in one access group, and the changes that are kept from them.
struct ObservedService {
  let service: Vault.Name
  let group: AccessGroup
  let broadcast = ChangeBroadcast()
  var observerCount = 0
  /// How many writes of this vault object are changing a key now. Its observers are notified when a write has ended.
  private var underWay: [String: Int] = [:]
  /// The keys under way that others may have changed in the meantime.
  private var postponed: Set<String> = []
  private(set) var suppressed = SuppressedChanges()

  init(_ service: Vault.Name, in group: AccessGroup) {
    self.service = service
    self.group = group
  }

  // MARK: Own writes

  mutating func begin(_ keys: Set<String>) { for key in keys { underWay[key, default: 0] += 1 } }

  /// Ends a write of `keys`.
  ///
  /// - Returns: The keys whose observers are notified, and those that others may have changed during the write.
  mutating func end(
    _ keys: Set<String>, removed: Set<String>, _ outcome: Result<CommittedWrite, VaultError>, isSuppressed: Bool
  ) -> (written: Set<String>, postponed: Set<String>) {
    var changed: Set<String> = []
    for key in keys {
      underWay[key] = underWay[key].flatMap { $0 > 1 ? $0 - 1 : nil }
      if underWay[key] == nil, postponed.remove(key) != nil { changed.insert(key) }
    }
    switch outcome {
    case .success(let write) where isSuppressed:
      for key in keys { suppressed.add(key, revision: write.revision, isRemoval: removed.contains(key)) }
      return ([], changed)
    case .success: break
    // A write that was refused has changed nothing, and what was suppressed before is so still.
    case .failure(let error):
      guard error.code == .durabilityUnknown, !isSuppressed else { return ([], changed) }
    }
    for key in keys { suppressed.remove(key) }
    return (keys, changed.subtracting(keys))
  }

  // MARK: Others' writes

  /// Which of the changed keys are of concern now, apart from those that are under way, and which of them were
  /// suppressed, unless the records have changed since.
  mutating func candidates(
    _ changed: ChangesOfOthers.Extent
  ) -> (change: PreferenceChange, suppressed: Set<String>)? {
    switch changed {
    case .none: return nil
    case .any:
      postponed.formUnion(underWay.keys)
      return (.anything(except: Set(underWay.keys)), suppressed.keys.subtracting(underWay.keys))
    case .some(let services):
      let spelled = services.filter { $0.key == service || service.isSpelled($0.key) }.values
      let keys = spelled.reduce(into: Set<String>()) { $0.formUnion($1) }
      let now = keys.subtracting(underWay.keys)
      postponed.formUnion(keys.subtracting(now))
      return now.isEmpty ? nil : (PreferenceChange(keys: now), now.filter(suppressed.contains))
    }
  }

  /// Of suppressed keys those that are as the suppressed writes left them. The others are not suppressed any longer.
  mutating func stillSuppressed(_ keys: Set<String>, _ revisions: [String: UInt64]) -> Set<String> {
    let kept = keys.filter { suppressed.isPresent($0, revisions[$0]) }
    for key in keys.subtracting(kept) where underWay[key] == nil { suppressed.remove(key) }
    return kept
  }
}
