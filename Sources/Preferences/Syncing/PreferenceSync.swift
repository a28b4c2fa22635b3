internal import DurableFiles
public import FoundationEssentials
import Synchronization

/// Keeps keys of two stores equal while the object is alive. The last written value wins, and a removal counts as a
/// write.
///
/// **Times.** Each store contains the time of a key's last write, see ``timeKey(for:)``. Two machines that sync with
/// the same store compare these times. A write made while no sync exists is found by `add(_:)`. Such a write has no
/// time: a value without a time loses against a value with a time. If two values have the same time, the local value
/// wins.
///
/// **Defaults.** A key that is not set locally, or was never written locally and has its default, is only pulled: a
/// fresh installation does not replace good values with its defaults.
///
/// **Removals.** While a sync exists, `removeAll()` of one store removes the synced keys from the other store. While no
/// sync exists, `removeAll()` also removes the times. The store is then like the store of a fresh installation, and the
/// next sync pulls all values back.
///
/// **Which stores.** A sync compares the values that the stores return. Do not sync with a cache: an evicted value
/// counts as a removal. If a store does not keep a written value, the sync tries again, up to 20 times. Then it reports
/// `PreferencesError.Code.unavailable` and ignores the key until `sync()`. If other code has changed a value before
/// each of 1,000 writes, the sync reports `PreferencesError.Code.unavailable`, too.
///
/// **Secrets.** Secret keys are read from and written to sealed layers only. A key is also secret if one of the stores
/// treats it as secret, because the store is sealed or one of its layers claims the name.
///
/// A sync runs on the thread that made a change, with no lock held. If several threads write, one of them syncs the
/// changes of all threads. A failure is reported to `PreferenceFailures`; the key is tried again when it changes, and
/// by `sync()`. A layer above the written store, such as the environment, still hides the written value.
public final class PreferenceSync: Sendable {
  private struct State {
    var keys: [String: SyncedKey] = [:]
    var stale: Set<String> = []
    var failures: [String: any Error] = [:]
    var isWorking = false
    var waiting: [CheckedContinuation<Void, Never>] = []
  }

  /// The store whose value wins if both values have the same time.
  public let local: any PreferencesStore
  /// The other store.
  public let remote: any PreferencesStore
  private let now: @Sendable () -> Date
  private let state = Mutex(State())

  /// - Parameter now: returns the current time. A write always gets a later time than the replaced value, even if the
  ///   clock is behind.
  public init(
    _ local: any PreferencesStore, with remote: any PreferencesStore, now: @escaping @Sendable () -> Date = { Date() }
  ) {
    self.local = local
    self.remote = remote
    self.now = now
  }

  /// The key under which the time of a key's last write is stored: an integer, in microseconds since 1970. The mark is
  /// at the end, so that a store that is mounted at a prefix has both. A file has it at its top level, and not in the
  /// dictionary of the key, which a program may read whole. Do not change it: settings that are inferred from a store
  /// do not include it.
  public static func timeKey(for key: String) -> String { key + "@written" }

  // MARK: Keys

  /// The names that are synced, in ascending order.
  public var keys: [String] { state.withLock { $0.keys.keys.sorted() } }

  /// Syncs these keys from now on. Their current values are synced when the method returns, unless another thread is
  /// already syncing; then that thread syncs them.
  ///
  /// - Throws: `PreferencesError.Code.invalidKey`, and `PreferencesError.Code.noStore` if one of the stores accepts no
  ///   values of a key's secrecy. Then no key is added.
  public func add<each Value: Sendable>(_ keys: repeat PreferenceKey<each Value>) throws(PreferencesError) {
    sync(observed(try synced(repeat each keys)))
  }

  /// The asynchronous form of `add(_:)`; reads and writes the stores on a helper thread.
  public func add<each Value: Sendable>(_ keys: repeat PreferenceKey<each Value>) async throws(PreferencesError) {
    let added = try synced(repeat each keys)
    await HelperPool.waiting.run { sync(observed(added)) }
  }

  private func synced<each Value: Sendable>(
    _ keys: repeat PreferenceKey<each Value>
  ) throws(PreferencesError) -> [SyncedKey] {
    var synced: [SyncedKey] = []
    for key in repeat each keys { synced.append(try SyncedKey(key, local, remote)) }
    return synced
  }

  /// Observes keys from now on.
  /// - Returns: their names.
  private func observed(_ added: [SyncedKey]) -> [String] {
    for key in added {
      let observations = [local, remote].map { store in
        store.observe { [weak self] change in
          // Also when the time changes: a sync that ran between a write and the write of its time has set a different
          // time.
          if change.concerns(key.name) || change.concerns(Self.timeKey(for: key.name)) { self?.sync([key.name]) }
        }
      }
      let old = state.withLock { state in
        defer { state.keys[key.name] = key.observed(by: observations) }
        return state.keys[key.name]
      }
      withExtendedLifetime(old) {}
    }
    return added.map(\.name)
  }

  /// Stops syncing these keys. Their values stay in both stores.
  public func remove<each Value: Sendable>(_ keys: repeat PreferenceKey<each Value>) {
    for key in repeat each keys { remove(key.name) }
  }

  /// Stops syncing all keys. Their values stay in both stores.
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

  /// Syncs all keys again. Call it after a failure, and after writes that notify no observer.
  public func sync() {
    state.withLock { state in
      for name in state.keys.keys { state.keys[name]?.failedWrites = SyncedKey.FailedWrites() }
    }
    sync(keys)
  }

  /// The asynchronous form of `sync()`; reads and writes the stores on a helper thread.
  public func sync() async { await HelperPool.waiting.run { sync() } }

  /// Returns when no key is left to sync, with all writes that have returned before.
  ///
  /// - Throws: the error of a key that could not be synced. If several failed, the error of the first by name.
  public func waitForCompletion() async throws {
    // A thread may be about to notify of a write that has returned: see `ChangeBroadcast`.
    await HelperPool.waiting.run {
      sync(state.withLock { state in state.keys.keys.filter { state.failures[$0] == nil } })
    }
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
    // The count of lost writes is kept across loops: a store notifies of its last write after this loop has ended,
    // which starts the next loop.
    while let key = next() {
      guard key.failedWrites.lost < SyncedKey.FailedWrites.mostLost else { continue }
      do throws(SyncFailure) {
        let (synced, loser, isStale) = try reconcile(key)
        state.withLock { state in
          if isStale { state.stale.insert(key.name) }
          state.keys[key.name]?.seen = synced.seen
          state.keys[key.name]?.failedWrites = synced.failedWrites
          state.failures[key.name] = nil
        }
        if let loser, synced.failedWrites.lost == SyncedKey.FailedWrites.mostLost {
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
      defer {
        state.isWorking = false
        state.waiting = []
      }
      return (nil, state.waiting)
    }
    for continuation in waiting { continuation.resume() }
    return key
  }

  /// Writes the latest value to both stores. Returns the key with the new state of both, a store that has not kept the
  /// value, and whether other code has written in between, so that the key must be synced again.
  private func reconcile(
    _ key: SyncedKey
  ) throws(SyncFailure) -> (SyncedKey, loser: (any PreferencesStore)?, isStale: Bool) {
    var key = key
    let here = try key.read(local)
    let there = try key.read(remote)
    var (ours, theirs) = (here, there)
    if let seen = key.seen {
      // A value that changed without its time was written by code that stores no times.
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
      return (key, nil, false)
    }
    let latest = ours.isNewer(than: theirs) ? ours : theirs
    let ourWrite = try key.write(latest, over: here, local)
    guard let ourWrite, let theirWrite = try key.write(latest, over: there, remote) else {
      key.failedWrites.conflicts += 1
      guard key.failedWrites.conflicts < SyncedKey.FailedWrites.mostConflicts else {
        throw SyncFailure(
          store: ourWrite == nil ? local : remote,
          cause: PreferencesError(.unavailable, "it changes before every write of the sync").about(key: key.name))
      }
      // In the first sync, what was read is what the other write is compared with: that write is later.
      key.seen = key.seen ?? SyncedKey.Seen(local: here.seen, remote: there.seen)
      return (key, nil, true)
    }
    key.failedWrites.conflicts = 0
    key.seen = SyncedKey.Seen(local: ourWrite.seen, remote: theirWrite.seen)
    let loser = !theirWrite.isKept ? remote : !ourWrite.isKept ? local : nil
    key.failedWrites.lost = loser == nil ? max(0, key.failedWrites.lost - 1) : key.failedWrites.lost + 1
    return (key, loser, false)
  }

  private func timeAfter(_ a: SyncedKey.Content, _ b: SyncedKey.Content) -> Int64 {
    let last = max(a.time ?? .min, b.time ?? .min)
    let present = Int64(exactly: (now().timeIntervalSince1970 * 1e6).rounded()) ?? .min
    return max(present, last == .max ? .max : last + 1)
  }
}
