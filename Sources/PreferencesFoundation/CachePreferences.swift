import Foundation
public import Preferences
import Synchronization

/// Preferences in an `NSCache`, for values that can be computed or fetched again and may be evicted.
///
/// Within the limits a value stays until it is replaced or removed. Beyond them a write evicts values; observers are
/// notified, and the values are then absent. `NSCache` chooses which values. On Linux it evicts the cheapest first and,
/// of equal costs, the newest, not the least recently used. So a full cache whose values all have the same cost keeps
/// the old ones, and a new value may already be evicted when `set` returns. Give later values a higher cost to evict
/// earlier ones.
///
/// Shared by reference. Every call is atomic and may come from any thread.
public final class CachePreferences: PreferencesStore {
  public let name: String
  private let cost: @Sendable (PreferenceValue) -> Int
  // A cache is not Sendable on Linux. This cache and its delegate are created here and are used only inside the mutex.
  private let state: Mutex<State>
  private let changes = ChangeBroadcast()

  /// Creates an empty cache.
  ///
  /// - Parameters:
  ///   - countLimit: the maximum number of values; 0 for no limit.
  ///   - costLimit: the maximum total cost; 0 for no limit.
  ///   - cost: returns the cost of a value, in a unit that you choose, from 0 to 2^40. Other results are clamped to
  ///     this range.
  public init(
    name: String = "cache", countLimit: Int = 0, costLimit: Int = 0,
    cost: @escaping @Sendable (PreferenceValue) -> Int = { _ in 0 }
  ) {
    self.name = name
    self.cost = cost
    state = Mutex(State(countLimit: countLimit, costLimit: costLimit))
  }

  public func value(for query: PreferenceQuery) -> PreferenceValue? { state.withLock { $0.value(query.name.text) } }

  /// The names of the current values, in ascending order.
  public func names(of secrecy: Secrecy) -> [PreferenceName] { PreferenceName.valid(keys()) }

  /// The names of the current values, in ascending order.
  public func keys() -> [String] { state.withLock { $0.keys }.sorted() }

  /// Applies the edits in one step: no reader sees a part of them, and no other write happens between a comparison and
  /// its edit.
  ///
  /// - Returns: ``WriteOutcome/visible`` also if a value exceeded the limits and was evicted.
  @discardableResult
  public func apply(_ edits: PreferenceEdits) throws -> WriteOutcome {
    let new = try edits.edits.map { edit in
      let value = try edit.content?.value()
      return (key: edit.name.text, value: value, cost: value.map(boundedCost) ?? 0)
    }
    let changed = try state.withLock { state -> Set<String>? in
      for edit in edits.edits {
        guard case .ifStored(let expected) = edit.condition else { continue }
        let stored = state.value(edit.name.text).map(PreferenceContent.value)
        guard try stored.isSame(as: expected) else { return nil }
      }
      var changed = edits.clears ? state.remove(state.keys) : []
      for (key, value, cost) in new {
        changed.formUnion(value.map { state.set(key, to: $0, cost: cost) } ?? state.remove([key]))
      }
      return changed
    }
    guard let changed else { return .conflict }
    if !changed.isEmpty { changes.send(PreferenceChange(keys: changed)) }
    return .visible
  }

  public func observe(_ notify: @escaping @Sendable (PreferenceChange) -> Void) -> PreferenceObservation {
    changes.observe(notify)
  }

  /// Limited because a cache adds the costs, and an overflow ends the process.
  private func boundedCost(_ value: PreferenceValue) -> Int { min(max(cost(value), 0), 1 << 40) }
}

extension CachePreferences: CustomStringConvertible, CustomReflectable {}

extension CachePreferences {
  /// Compares names as Swift strings: `NSString` has different hashes for canonically equal names.
  private final class Key: NSObject {
    let name: String
    init(_ name: String) { self.name = name }
    override var hash: Int { name.hashValue }
    override func isEqual(_ object: Any?) -> Bool { (object as? Key)?.name == name }
  }

  private final class Entry: NSObject {
    let key: String
    let value: PreferenceValue
    init(_ key: String, _ value: PreferenceValue) {
      self.key = key
      self.value = value
    }
  }

  /// Receives the evictions of a cache.
  private final class Evictions: NSObject, NSCacheDelegate {
    var keys: Set<String> = []
    func cache(_ cache: NSCache<AnyObject, AnyObject>, willEvictObject object: Any) {
      if let entry = object as? Entry { keys.insert(entry.key) }
    }
  }

  private struct State: ~Copyable {
    private let cache = NSCache<Key, Entry>()
    // A cache has no list of its keys.
    private(set) var keys: Set<String> = []
    private let evictions = Evictions()

    init(countLimit: Int, costLimit: Int) {
      cache.countLimit = countLimit
      cache.totalCostLimit = costLimit
      cache.delegate = evictions
    }

    // On Linux the entries of a cache have strong references to each other.
    deinit { cache.removeAllObjects() }

    func value(_ key: String) -> PreferenceValue? { cache.object(forKey: Key(key))?.value }

    /// - Returns: The keys whose values have changed.
    mutating func set(_ key: String, to value: PreferenceValue, cost: Int) -> Set<String> {
      // The cache would evict all other values and then the new value.
      if cache.totalCostLimit > 0, cost > cache.totalCostLimit { return remove([key]) }
      cache.setObject(Entry(key, value), forKey: Key(key), cost: cost)
      keys.insert(key)
      defer { evictions.keys = [] }
      keys.subtract(evictions.keys)
      return evictions.keys.union([key])
    }

    /// - Returns: The keys that had a value.
    mutating func remove(_ removed: Set<String>) -> Set<String> {
      for key in removed { cache.removeObject(forKey: Key(key)) }
      defer { keys.subtract(removed) }
      return keys.intersection(removed)
    }
  }
}
