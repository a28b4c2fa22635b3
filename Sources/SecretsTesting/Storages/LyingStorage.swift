internal import Synchronization
internal import VaultCore

/// What a storage returns instead of the bytes that were written.
enum StorageLie: Sendable, Hashable, CaseIterable {
  /// The newest entry is left out.
  case withheld
  /// The newest two entries are exchanged.
  case reordered
  /// The newest entry is there twice.
  case doubled
  /// A byte of an entry is changed.
  case changedEntry
  /// The first of several entries is left out.
  case gap
  /// A byte of the snapshot is changed.
  case changedSnapshot
  /// The snapshot is cut off.
  case cut
  /// Nothing but the beginning of a header.
  case empty
}

/// Passes calls on to another storage, and returns other bytes than that once it lies.
final class LyingStorage: VaultStorage {
  private struct State {
    var lie: StorageLie?
    /// The entries behind the snapshot, in order. Their last byte may be zero, as are those behind them.
    var entries: [Range<Int>] = []
    /// What was stored at one time, and is returned instead.
    var old: [UInt8]?
  }

  private let base: any VaultStorage
  private let state = Mutex(State())

  init(_ base: any VaultStorage) { self.base = base }

  func lie(_ lie: StorageLie?) { state.withLock { $0.lie = lie } }
  /// Returns the present state from now on, whatever is written.
  func withholdWhatFollows() throws(VaultError) {
    let bytes = try base.load(limit: .max).bytes.bytes
    state.withLock { $0.old = bytes }
  }

  var name: String { base.name }

  func load(limit: Int) throws(VaultError) -> StoredVault {
    let stored = try base.load(limit: limit)
    return StoredVault(version: stored.version, bytes: StoredBytes(changed(stored.bytes.bytes)))
  }

  func changes(since position: StoragePosition, limit: Int) throws(VaultError) -> StorageChanges {
    let (isLying, isOld) = state.withLock { ($0.lie != nil, $0.old != nil) }
    if isOld { return .none }
    let found = try base.changes(since: position, limit: limit)
    guard isLying, case .added = found else { return found }
    let bytes = changed(try base.load(limit: limit).bytes.bytes)
    return .added(StoredBytes(Array(bytes.dropFirst(position.offset))))
  }

  func refresh() throws(VaultError) { try base.refresh() }

  private func changed(_ bytes: [UInt8]) -> [UInt8] {
    state.withLock { state in
      if let old = state.old { return old }
      guard let lie = state.lie, state.entries.count > 1 else { return bytes }
      var bytes = bytes
      let first = state.entries[0]
      let previous = state.entries[state.entries.count - 2]
      let last = state.entries[state.entries.count - 1]
      switch lie {
      case .withheld: bytes.removeSubrange(last.lowerBound...)
      case .reordered: bytes.replaceSubrange(previous.lowerBound..., with: bytes[last] + bytes[previous])
      case .doubled: bytes.replaceSubrange(last.upperBound..., with: Array(bytes[last]))
      case .changedEntry: bytes[previous.lowerBound + previous.count / 2] ^= 1
      case .gap: bytes.removeSubrange(first)
      case .changedSnapshot: bytes[first.lowerBound / 2] ^= 1
      case .cut: bytes.removeSubrange((first.lowerBound / 2)...)
      case .empty: bytes.removeSubrange(40...)
      }
      return bytes
    }
  }

  func lock(until deadline: LockDeadline) throws(VaultError) -> any LockedStorage {
    Locked(try base.lock(until: deadline), self)
  }

  func create(_ bytes: [UInt8]) throws(VaultError) -> (storage: any LockedStorage, version: any StorageVersion) {
    try base.create(bytes)
  }

  /// Honest: it counts the entries.
  private final class Locked: LockedStorage {
    private let base: any LockedStorage
    private let storage: LyingStorage

    init(_ base: any LockedStorage, _ storage: LyingStorage) {
      self.base = base
      self.storage = storage
    }

    func changes(since position: StoragePosition, limit: Int) throws(VaultError) -> StorageChanges {
      try base.changes(since: position, limit: limit)
    }

    func append(_ entry: [UInt8], at position: StoragePosition) throws(VaultError) {
      try base.append(entry, at: position)
      storage.state.withLock { $0.entries.append(position.offset..<position.offset + entry.count) }
    }

    func replace(with bytes: [UInt8], behind position: StoragePosition?) throws(VaultError) -> any StorageVersion {
      let version = try base.replace(with: bytes, behind: position)
      storage.state.withLock { $0.entries = [] }
      return version
    }

    func remove() -> Bool { base.remove() }
    func release() { base.release() }
  }
}
