internal import Synchronization
internal import VaultCore

/// Passes calls on to another storage, and loses the answers of some writes.
final class ForgetfulStorage: VaultStorage {
  private struct Losses {
    /// Whether an append whose answer is lost is made; `nil` to answer it.
    var append: Bool?
    /// The same for a replacement.
    var replacement: Bool?
  }

  let base: any VaultStorage
  private let losses = Mutex(Losses())

  init(_ base: any VaultStorage) { self.base = base }

  func loseAnswers(append: Bool?, replacement: Bool?) {
    losses.withLock { $0 = Losses(append: append, replacement: replacement) }
  }

  func answer() { losses.withLock { $0 = Losses() } }

  var name: String { base.name }
  func load(limit: Int) throws(VaultError) -> StoredVault { try base.load(limit: limit) }
  func changes(since position: StoragePosition, limit: Int) throws(VaultError) -> StorageChanges {
    try base.changes(since: position, limit: limit)
  }
  func refresh() throws(VaultError) { try base.refresh() }
  func synchronize(_ version: any StorageVersion) throws(VaultError) { try base.synchronize(version) }
  func lock(until deadline: LockDeadline) throws(VaultError) -> any LockedStorage {
    Locked(try base.lock(until: deadline), self)
  }
  func create(_ bytes: [UInt8]) throws(VaultError) -> (storage: any LockedStorage, version: any StorageVersion) {
    try base.create(bytes)
  }

  private final class Locked: LockedStorage {
    private let base: any LockedStorage
    private let storage: ForgetfulStorage

    init(_ base: any LockedStorage, _ storage: ForgetfulStorage) {
      self.base = base
      self.storage = storage
    }

    private var lost: VaultError { VaultError(.durabilityUnknown, "the answer was lost") }

    func changes(since position: StoragePosition, limit: Int) throws(VaultError) -> StorageChanges {
      try base.changes(since: position, limit: limit)
    }

    func append(_ entry: [UInt8], at position: StoragePosition) throws(VaultError) {
      let isMade = storage.losses.withLock { $0.append }
      if isMade ?? true { try base.append(entry, at: position) }
      if isMade != nil { throw lost }
    }

    func replace(with bytes: [UInt8], behind position: StoragePosition?) throws(VaultError) -> any StorageVersion {
      let isMade = storage.losses.withLock { $0.replacement }
      guard let isMade else { return try base.replace(with: bytes, behind: position) }
      if isMade { _ = try base.replace(with: bytes, behind: position) }
      throw lost
    }

    func remove() -> Bool { base.remove() }
    func release() { base.release() }
  }
}
