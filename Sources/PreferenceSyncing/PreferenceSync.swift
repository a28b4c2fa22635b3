public import Preferences

public import FoundationEssentials
import Synchronization

/// Keeps keys of two stores the same, as long as it lives: of two values the one written last wins, and a removal counts
/// as a write.
///
/// **Times.** When a key was written is kept beside it in each store, see ``timeKey(for:)``, and is what two machines that
/// sync with one store compare. A write made while nobody looks is noticed by ``add(_:)``. It has no time of its own:
/// a value without a time loses against one with a time, and of two values with the same time the local one wins.
///
/// **Defaults.** A key that is not set here, or was never written here and holds its default, is only ever pulled: a
/// fresh installation does not put its defaults over good values.
///
/// **Removals.** While a sync exists, `removeAll()` of one store removes the synced keys from the other
/// store. Without a sync it removes the times, too, so that the store is like that of a fresh installation, and the next
/// sync pulls all values back.
///
/// **Which stores.** What a store returns is what counts. Do not sync with a cache: a value that it evicts is a removal.
/// If a store does not keep what is written, the sync tries again, up to 20 times. It then reports
/// `PreferencesError.Code.unavailable` and leaves the key alone until ``sync()``.
///
/// **Secrets.** Keys that are secret are read from, and written to, sealed layers alone. So are those that are secret in one
/// of the stores, because it is sealed or a layer of it claims the name.
///
/// Work is done on the thread that made a change, with no lock held; where several threads write, one of them works for
/// all. A failure goes to `PreferenceFailures`; the key is tried again
/// when it changes, and by ``sync()``. A layer above the store that is written, such as the environment, is not
/// overruled.
public final class PreferenceSync: Sendable {
  private struct State {
    var keys: [String: SyncedKey] = [:]
    var stale: Set<String> = []
    var failures: [String: any Error] = [:]
    var isWorking = false
    var waiting: [CheckedContinuation<Void, Never>] = []
  }

  /// The store that wins where both wrote at the same time.
  public let local: any PreferencesStore
  /// The other one.
  public let remote: any PreferencesStore
  private let now: @Sendable () -> Date
  private let state = Mutex(State())

  /// - Parameter now: the clock; a write is always later than what it replaces, whatever the clock says.
  public init(
    _ local: any PreferencesStore, with remote: any PreferencesStore, now: @escaping @Sendable () -> Date = { Date() }
  ) {
    (self.local, self.remote, self.now) = (local, remote, now)
  }

  /// The key under which the time of a key's last write is kept: an integer, microseconds since 1970.
  public static func timeKey(for key: String) -> String { "@written:" + key }

  // MARK: Keys

  /// The names that are synced, in ascending order.
  public var keys: [String] { state.withLock { $0.keys.keys.sorted() } }

  /// Syncs these keys from now on; what they hold is synced before this returns, unless another thread does.
  ///
  /// - Throws: `PreferencesError.Code.invalidKey`, and `PreferencesError.Code.noStore` when one of the stores takes no
  ///   key of that secrecy; then none is added.
  public func add<each Value: Sendable>(_ keys: repeat PreferenceKey<each Value>) throws(PreferencesError) {
    var added: [SyncedKey] = []
    for key in repeat each keys { added.append(try SyncedKey(key, local, remote)) }
    for key in added {
      let observations = [local, remote].map { store in
        store.observe { [weak self] change in
          // The time, too: who looks between a write and its time has given it another.
          if change.concerns(key.name) || change.concerns(Self.timeKey(for: key.name)) { self?.sync([key.name]) }
        }
      }
      let old = state.withLock { state in
        defer { state.keys[key.name] = key.observed(by: observations) }
        return state.keys[key.name]
      }
      withExtendedLifetime(old) {}
    }
    sync(added.map(\.name))
  }

  /// No longer syncs these keys; what they hold stays where it is.
  public func remove<each Value: Sendable>(_ keys: repeat PreferenceKey<each Value>) {
    for key in repeat each keys { remove(key.name) }
  }

  /// No longer syncs anything.
  public func removeAll() { for key in keys { remove(key) } }

  private func remove(_ key: String) {
    let old = state.withLock { state in
      state.stale.remove(key)
      state.failures[key] = nil
      return state.keys.removeValue(forKey: key)
    }
    old?.observations.forEach { $0.invalidate() }
  }

  // MARK: Syncing

  /// Syncs all keys again: after a failure, and after writes without a notification.
  public func sync() {
    state.withLock { state in
      for name in state.keys.keys { state.keys[name]?.lostWrites = 0 }
    }
    sync(keys)
  }

  /// Returns when nothing is left to do.
  ///
  /// - Throws: why a key could not be synced; of several the first in the order of their names.
  public func waitForCompletion() async throws {
    await withCheckedContinuation { continuation in
      let isDone = state.withLock { state in
        if state.isWorking { state.waiting.append(continuation) }
        return !state.isWorking
      }
      if isDone { continuation.resume() }
    }
    if let first = state.withLock({ $0.failures.min { $0.key < $1.key } }) { throw first.value }
  }

  private func sync(_ keys: [String]) {
    let begins = state.withLock { state in
      state.stale.formUnion(keys)
      defer { state.isWorking = true }
      return !state.isWorking
    }
    guard begins else { return }
    // Counted for as long as the key is synced: a store announces its last write when this loop has ended, and begins the
    // next one.
    while let key = next() {
      guard key.lostWrites < SyncedKey.mostLostWrites else { continue }
      do throws(SyncFailure) {
        let (synced, loser) = try reconcile(key)
        state.withLock { state in
          state.keys[key.name]?.seen = synced.seen
          state.keys[key.name]?.lostWrites = synced.lostWrites
          state.failures[key.name] = nil
        }
        if let loser, synced.lostWrites == SyncedKey.mostLostWrites {
          throw SyncFailure(
            store: loser,
            cause: PreferencesError(.unavailable, "it does not keep what is written").about(key: key.name))
        }
      } catch {
        state.withLock { $0.failures[key.name] = $0.keys[key.name].map { _ in error.cause } }
        PreferenceFailures.report(error.cause, key: key.name, reader: error.store.name)
      }
    }
  }

  private func next() -> SyncedKey? {
    let (key, waiting) = state.withLock { state -> (SyncedKey?, [CheckedContinuation<Void, Never>]) in
      while let name = state.stale.popFirst() {
        if let key = state.keys[name] { return (key, []) }
      }
      defer { (state.isWorking, state.waiting) = (false, []) }
      return (nil, state.waiting)
    }
    for continuation in waiting { continuation.resume() }
    return key
  }

  /// Makes both stores hold what was written last, and returns what they hold then, and a store that has not kept it.
  private func reconcile(
    _ key: SyncedKey
  ) throws(SyncFailure) -> (SyncedKey, loser: (any PreferencesStore)?) {
    var key = key
    let here = try key.read(local)
    let there = try key.read(remote)
    var (ours, theirs) = (here, there)
    if let seen = key.seen {
      // A value that changed without its time was written by somebody who keeps none.
      if here.isRewritten(since: seen.local) {
        ours.time = timeAfter(here, there)
      } else if there.isRewritten(since: seen.remote) {
        theirs.time = timeAfter(here, there)
      }
    } else if here.time == there.time, !here.holdsSame(as: there) {
      if !key.isUnset(here) {
        ours.time = timeAfter(here, there)
      } else if there.content != nil {
        theirs.time = timeAfter(here, there)
      }
    }
    guard ours.isNewer(than: theirs) || theirs.isNewer(than: ours) else {
      key.seen = SyncedKey.Seen(local: here.seen, remote: there.seen)
      return (key, nil)
    }
    let latest = ours.isNewer(than: theirs) ? ours : theirs
    let ourWrite = try key.write(latest, over: here, local)
    let theirWrite = try key.write(latest, over: there, remote)
    key.seen = SyncedKey.Seen(local: ourWrite.seen, remote: theirWrite.seen)
    let loser = !theirWrite.isKept ? remote : !ourWrite.isKept ? local : nil
    key.lostWrites = loser == nil ? max(0, key.lostWrites - 1) : key.lostWrites + 1
    return (key, loser)
  }

  private func timeAfter(_ a: SyncedKey.Content, _ b: SyncedKey.Content) -> Int64 {
    let last = max(a.time ?? .min, b.time ?? .min)
    let present = Int64(exactly: (now().timeIntervalSince1970 * 1e6).rounded()) ?? .min
    return max(present, last == .max ? .max : last + 1)
  }
}
